package controller

import (
	"fmt"

	"github.com/kubectl-workspace/kubectl-workspace/pkg/api/v1beta1"
)

// resolveImage finds the imageConfig that a Workspace names and where its redirects lead. The
// Pod is built from the one that is named, even if it is redirected.
func resolveImage(kind *v1beta1.WorkspaceKind, id string) (*v1beta1.ImageConfigValue, v1beta1.OptionStatus, error) {
	values := kind.Spec.PodTemplate.Options.ImageConfig.Values
	redirects := make(map[string]*v1beta1.OptionRedirect, len(values))
	var current *v1beta1.ImageConfigValue
	for i := range values {
		redirects[values[i].ID] = values[i].Redirect
		if values[i].ID == id {
			current = &values[i]
		}
	}
	status, err := followRedirects("imageConfig", id, redirects)
	return current, status, err
}

// resolvePod is resolveImage for podConfigs.
func resolvePod(kind *v1beta1.WorkspaceKind, id string) (*v1beta1.PodConfigValue, v1beta1.OptionStatus, error) {
	values := kind.Spec.PodTemplate.Options.PodConfig.Values
	redirects := make(map[string]*v1beta1.OptionRedirect, len(values))
	var current *v1beta1.PodConfigValue
	for i := range values {
		redirects[values[i].ID] = values[i].Redirect
		if values[i].ID == id {
			current = &values[i]
		}
	}
	status, err := followRedirects("podConfig", id, redirects)
	return current, status, err
}

// followRedirects walks from an option to the end of its redirects. redirects has an entry for
// every option, nil where there is none. The texts of the errors end up in the status of the
// Workspace.
func followRedirects(what, id string, redirects map[string]*v1beta1.OptionRedirect) (v1beta1.OptionStatus, error) {
	redirect, ok := redirects[id]
	if !ok {
		return v1beta1.OptionStatus{}, fmt.Errorf("%s with id %q not found", what, id)
	}
	status := v1beta1.OptionStatus{Desired: id}
	seen := map[string]bool{id: true}
	for redirect != nil {
		from, to := status.Desired, redirect.To
		if seen[to] {
			return v1beta1.OptionStatus{}, fmt.Errorf("%s with id %q has a circular redirect", what, from)
		}
		if redirect, ok = redirects[to]; !ok {
			return v1beta1.OptionStatus{}, fmt.Errorf("%s with id %q not found, was redirected from %q", what, to, from)
		}
		seen[to] = true
		status.RedirectChain = append(status.RedirectChain, v1beta1.RedirectStep{Source: from, Target: to})
		status.Desired = to
	}
	return status, nil
}
