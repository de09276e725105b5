package test

import (
	"encoding/json"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/kubectl-workspace/kubectl-workspace/test/env"
)

// patience is how long a scenario waits for the cluster. The kubelet tries a failed
// mount again after up to two minutes.
const patience = 4 * time.Minute

// TestScripts plays the scenarios of testdata/script. Beside testscript's own commands
// they use:
//
//	as PERSONA             be this user from here on
//	kubectl ARGS…          run kubectl, with the plugin on PATH
//	controller WORKSPACE   play the Workspace controller for a new Workspace
//	until REGEXP ARGS…     run kubectl ARGS until its output matches
//	paste                  run the first command that the JSON on stdout suggests
func TestScripts(t *testing.T) {
	e := env.Get(t)
	applyKind(t, e)
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(s *testscript.Env) error {
			// testscript runs its scripts in subtests of its own making.
			tt := s.T().(testing.TB)
			s.Setenv("NS", e.Namespace(tt, env.NamespaceUser, env.WorkspacesOnly))
			s.Setenv("PATH", pathWith(tt, e))
			s.Setenv("KUBECONFIG", e.Kubeconfig(env.Admin))
			s.Setenv("KUBERC", "off")
			s.Values["t"] = tt
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"as": func(ts *testscript.TestScript, _ bool, args []string) {
				file, ok := e.Kubeconfigs[args[0]]
				if !ok {
					ts.Fatalf("there is no persona %q", args[0])
				}
				ts.Setenv("KUBECONFIG", file)
			},
			"kubectl": func(ts *testscript.TestScript, neg bool, args []string) {
				err := ts.Exec("kubectl", args...)
				if (err != nil) != neg {
					ts.Fatalf("kubectl: %v", err)
				}
				checkContract(ts.Value("t").(testing.TB), ts.ReadFile("stdout"))
			},
			"controller": func(ts *testscript.TestScript, _ bool, args []string) {
				playController(ts.Value("t").(testing.TB), e, ts.Getenv("NS"), args[0])
			},
			"until": func(ts *testscript.TestScript, _ bool, args []string) {
				want := regexp.MustCompile(args[0])
				env.Eventually(ts.Value("t").(testing.TB), patience, func() error {
					_ = ts.Exec("kubectl", args[1:]...) // it may fail at first
					out := ts.ReadFile("stdout")
					checkContract(ts.Value("t").(testing.TB), out)
					if !want.MatchString(out) {
						return &notYet{args[0], out}
					}
					return nil
				})
			},
			"paste": func(ts *testscript.TestScript, _ bool, _ []string) {
				var d struct {
					Causes []struct{ Fixes []struct{ Command string } }
				}
				if err := json.Unmarshal([]byte(ts.ReadFile("stdout")), &d); err != nil {
					ts.Fatalf("stdout is not a Diagnosis: %v", err)
				}
				line := d.Causes[0].Fixes[0].Command
				ts.Logf("$ %s", line)
				cmd := exec.Command("sh", "-c", line)
				cmd.Stdin = strings.NewReader("token=of-a-test\n")
				cmd.Env = append(os.Environ(), "PATH="+ts.Getenv("PATH"), "KUBECONFIG="+ts.Getenv("KUBECONFIG"), "KUBERC=off")
				if out, err := cmd.CombinedOutput(); err != nil {
					ts.Fatalf("the suggested command fails: %v\n%s", err, out)
				}
			},
		},
	})
}

type notYet struct{ want, out string }

func (e *notYet) Error() string { return "no match for " + e.want + " in:\n" + e.out }
