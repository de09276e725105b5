package test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/rest"

	"github.com/kubectl-workspace/kubectl-workspace/pkg/plan"
	"github.com/kubectl-workspace/kubectl-workspace/test/env"
)

// sameInBothDryRuns checks that a dry run in memory and one on the API server plan the same, that
// neither leaves anything to a second pass, and that neither changes anything. Only what the API
// server would refuse, nothing in memory can know.
func (b *parityBench) sameInBothDryRuns(t testing.TB, refused bool) error {
	t.Helper()
	before := b.everything(t)
	if err := b.samePlans(t, func(p *plan.Plan) any { return p }); err != nil && !refused {
		return err
	}
	if after := b.everything(t); after != before {
		return fmt.Errorf("something was changed (-before +after):\n%s", cmp.Diff(before, after))
	}
	return nil
}

// samePlans compares a part of the plans of both dry runs.
func (b *parityBench) samePlans(t testing.TB, part func(*plan.Plan) any) error {
	t.Helper()
	plans := map[plan.Mode]any{}
	for _, mode := range []plan.Mode{plan.Client, plan.Server} {
		first, second := b.twice(t, mode)
		if second.Changed() {
			return fmt.Errorf("the second pass of mode %s plans: %s", mode, asJSON(t, second))
		}
		plans[mode] = comparable(t, first, part)
	}
	if diff := cmp.Diff(plans[plan.Client], plans[plan.Server]); diff != "" {
		return fmt.Errorf("the plans differ (-client +server):\n%s", diff)
	}
	return nil
}

// changes is the part of a plan that does not depend on what the Pod does at the moment.
func changes(p *plan.Plan) any {
	out := map[string][]plan.Change{}
	for _, o := range p.Workspaces {
		out[o.Name] = o.Changes
	}
	return out
}

// twice reconciles the namespace of the test in a mode, and then once more over the result.
func (b *parityBench) twice(t testing.TB, mode plan.Mode) (first, second *plan.Plan) {
	t.Helper()
	config := rest.CopyConfig(b.RESTConfig(t, env.Admin))
	config.Wrap(mode.Transport)
	httpClient, err := rest.HTTPClientFor(config)
	if err != nil {
		t.Fatal(err)
	}
	api, err := plan.NewAPI(config, httpClient, "test")
	if err != nil {
		t.Fatal(err)
	}
	c, err := plan.NewCluster(mode, api, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.LoadWorkspaces(t.Context(), b.ns); err != nil {
		t.Fatal(err)
	}
	if err := c.LoadOwned(t.Context(), plan.Scope{Namespaces: []string{b.ns}, Istio: b.config.Istio != nil}); err != nil {
		t.Fatal(err)
	}
	if all, err := c.LoadAllWorkspaces(t.Context()); err != nil || !all {
		t.Fatal(err)
	}
	kinds := slices.DeleteFunc(c.KindNames(), func(name string) bool { return !strings.HasSuffix(name, b.ns) })
	run := func() *plan.Plan {
		return (&plan.Runner{Cluster: c, Config: b.config, Now: time.Now}).Run(t.Context(), c.Workspaces(b.ns, nil), kinds)
	}
	return run(), run()
}

// comparable is a part of a Plan without what no two runs have in common: generated names and times.
func comparable(t testing.TB, p *plan.Plan, part func(*plan.Plan) any) (out any) {
	t.Helper()
	copied := *p
	copied.Mode = ""
	text := asJSON(t, part(&copied))
	for _, o := range p.Workspaces {
		for _, c := range o.Changes {
			if generated := c.Kind == "StatefulSet" || c.Kind == "Service" || c.Kind == "VirtualService"; generated && c.Verb == plan.VerbCreate {
				text = strings.ReplaceAll(text, c.Name, c.Name[:len(c.Name)-5]+"XXXXX")
			}
		}
	}
	if err := json.Unmarshal([]byte(text), &out); err != nil {
		t.Fatal(err)
	}
	withoutTimes(out)
	return out
}

// withoutTimes makes every time that a plan sets the same.
func withoutTimes(v any) {
	switch v := v.(type) {
	case map[string]any:
		if path, _ := v["path"].(string); strings.HasSuffix(path, "Time") && v["after"] != float64(0) && v["after"] != nil {
			v["after"] = float64(1)
		}
		for _, value := range v {
			withoutTimes(value)
		}
	case []any:
		for _, item := range v {
			withoutTimes(item)
		}
	}
}
