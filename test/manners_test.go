package test

import (
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/kubectl-workspace/kubectl-workspace/test/env"
)

// What people get wrong, and what they read then: one line that says what, where, and
// what to do.
func TestManners(t *testing.T) {
	e := env.Get(t)
	applyKind(t, e)
	ns := e.Namespace(t)
	createWorkspace(t, e, ns, "alice-notebook")

	kubeconfig := func(server, token string) string {
		file := filepath.Join(t.TempDir(), "config")
		text := `{apiVersion: v1, kind: Config, current-context: c, contexts: [{name: c, context: {cluster: c, user: u}}],
			clusters: [{name: c, cluster: {server: "` + server + `", insecure-skip-tls-verify: true}}], users: [{name: u, user: {token: "` + token + `"}}]}`
		if err := os.WriteFile(file, []byte(strings.ReplaceAll(text, "\t", " ")), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	closed := httptest.NewServer(nil)
	closed.Close()

	for name, c := range map[string]struct {
		args   []string
		stderr string // a regexp for all of stderr
	}{
		"unknown command":           {[]string{"descrbe"}, `error: unknown command "descrbe" for "kubectl workspace"; did you mean "describe"\?\nSee 'kubectl workspace --help' for usage.\n`},
		"unknown subcommand":        {[]string{"secrets", "ad"}, `error: unknown command "ad" for "kubectl workspace secrets"; did you mean "add"\?\nSee 'kubectl workspace secrets --help' for usage.\n`},
		"unknown flag":              {[]string{"list", "--foo"}, `error: unknown flag: --foo\nSee 'kubectl workspace list --help' for usage.\n`},
		"bad value of a flag":       {[]string{"list", "--color", "blue"}, `error: invalid argument "blue" for "--color" flag: must be auto, always or never\nSee 'kubectl workspace list --help' for usage.\n`},
		"missing argument":          {[]string{"wait"}, `error: wait needs the name of one Workspace\nSee 'kubectl workspace wait --help' for usage.\n`},
		"one argument too many":     {[]string{"version", "x"}, `error: "x" is one argument too many\nSee 'kubectl workspace version --help' for usage.\n`},
		"bad selector":              {[]string{"list", "-l", "a=b=c"}, `error: -l "a=b=c" is not a label selector: .*\nSee 'kubectl workspace list --help' for usage.\n`},
		"another kind of object":    {[]string{"describe", "pod/x"}, `error: "pod/x" is not a Workspace; give its name, or workspace/NAME\nSee .*\n`},
		"no such Workspace":         {[]string{"describe", "bob", "-n", ns}, `error: workspace "bob" not found in namespace "` + ns + `" \(kubectl workspace list -n ` + ns + ` shows those that exist\)\n`},
		"no such namespace":         {[]string{"describe", "bob", "-n", "nowhere"}, `error: namespace "nowhere" does not exist\n`},
		"no such context":           {[]string{"list", "--context", "nope"}, `error: .*context "nope" does not exist.*\n`},
		"closed port":               {[]string{"list", "--kubeconfig", kubeconfig(closed.URL, "")}, `error: cluster http://127\.0\.0\.1:\d+ \(context "c"\) refused the connection: is the address right, and is the server running\?\n`},
		"wrong credentials":         {[]string{"list", "--kubeconfig", kubeconfig(e.Server, "expired")}, `error: cluster .* does not accept your credentials: they are wrong or have expired; log in again\n`},
		"kubeconfig absent":         {[]string{"list", "--kubeconfig", "/does/not/exist"}, `error: .*/does/not/exist.*\n`},
		"snapshot absent":           {[]string{"list", "--snapshot", "/does/not/exist"}, `error: cannot read the snapshot: .*/does/not/exist.*\n`},
		"a write to a snapshot":     {[]string{"secrets", "add", "alice-notebook", "s", "--snapshot", "../testdata/demo"}, `error: a snapshot cannot be changed: add --dry-run=client\n`},
		"mode in decimal":           {[]string{"secrets", "add", "alice-notebook", "s=/s:420", "-n", ns}, `error: .*0644.*\n(See .*\n)?`},
		"a path that is not a path": {[]string{"secrets", "add", "alice-notebook", "s=relative", "-n", ns}, `error: .*"relative".*\n(See .*\n)?`},
		"remove what is not there":  {[]string{"secrets", "remove", "alice-notebook", "s", "-n", ns}, `error: .*"s".*\n`},
	} {
		t.Run(name, func(t *testing.T) {
			r := kubectl(t, e, env.Admin, append([]string{"workspace"}, c.args...)...)
			if r.code != 1 || r.stdout != "" || !regexp.MustCompile(`^`+c.stderr+`$`).MatchString(r.stderr) {
				t.Errorf("exit code %d\nstdout %q\nstderr %q\nwant   %s", r.code, r.stdout, r.stderr, c.stderr)
			}
		})
	}

	t.Run("no kubeconfig at all", func(t *testing.T) {
		t.Setenv("KUBECONFIG", "")
		t.Setenv("HOME", t.TempDir())
		dir, err := binary()
		if err != nil {
			t.Fatal(err)
		}
		r := plain(t, filepath.Join(dir, "kubectl-workspace"), "list")
		if want := "error: no kubeconfig found: set KUBECONFIG or --kubeconfig, or read a file with --snapshot\n"; r.code != 1 || r.stderr != want {
			t.Errorf("exit code %d, %q", r.code, r.stderr)
		}
	})

	t.Run("help at every level", func(t *testing.T) {
		for _, args := range [][]string{{}, {"describe"}, {"list"}, {"wait"}, {"snapshot"}, {"secrets"}, {"secrets", "add"}, {"secrets", "list"}, {"secrets", "remove"}, {"version"}, {"options"}} {
			r := kubectl(t, e, env.Admin, append(append([]string{"workspace"}, args...), "--help")...)
			if r.code != 0 || r.stderr != "" || r.stdout == "" || strings.Contains(r.stdout, "kubectl-workspace ") {
				t.Errorf("%v --help: exit code %d, stderr %q, stdout:\n%s", args, r.code, r.stderr, r.stdout)
			}
		}
	})
}
