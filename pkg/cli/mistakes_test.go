package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What people mistype elsewhere than in the secrets commands, and the answer: what is wrong,
// where, and what to type instead.
func TestMistakes(t *testing.T) {
	s := newAPIServer(t)
	garbage := filepath.Join(t.TempDir(), "garbage")
	if err := os.WriteFile(garbage, []byte("just words\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	list := filepath.Join(t.TempDir(), "list")
	if err := os.WriteFile(list, []byte("clusters: 5\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for line, want := range map[string]string{
		"list alice":                           "list takes no names; 'kubectl workspace describe alice' explains one Workspace",
		"list -o table":                        `invalid argument "table" for "-o, --output" flag: must be wide, json, yaml or name`,
		"list -w -o json":                      "--watch shows a table: leave out -o json",
		"list -A=perhaps":                      `invalid argument "perhaps" for "-A, --all-namespaces" flag: must be true or false`,
		"list -n UPPER":                        `-n "UPPER" is not the name of a namespace: names are made of lower-case letters, digits and '-', and begin and end with a letter or digit`,
		"list --request-timeout=soon":          `--request-timeout "soon" is not a time to wait; give a duration such as 30s or 5m`,
		"list --kubeconfig=" + garbage:         `cannot load the kubeconfig: error loading config file "` + garbage + `": it is not a kubeconfig`,
		"list --kubeconfig=" + list:            `cannot load the kubeconfig: error loading config file "` + list + `": it is not a kubeconfig`,
		"list --snapshot=" + garbage:           garbage + ", document 1: not a Kubernetes object but a string",
		"list --snapshot=":                     "--snapshot is empty: name a file or a directory, or '-' for stdin",
		"describe -o wide":                     `invalid argument "wide" for "-o, --output" flag: must be json or yaml`,
		"describe -w -o json":                  "--watch is for people to read: leave out -o json",
		"wait alice-notebook --timeout=soon":   `invalid argument "soon" for "--timeout" flag: must be a duration, such as 30s or 5m`,
		"version -o wide":                      `invalid argument "wide" for "-o, --output" flag: must be json or yaml`,
		"options x":                            `"x" is one argument too many`,
		"help descrbe":                         `unknown command "descrbe" for "kubectl workspace"; did you mean "describe"?`,
		"help secrets ad":                      `unknown command "ad" for "kubectl workspace secrets"; did you mean "add"?`,
		"secrets list --no-headers=perhaps -A": `invalid argument "perhaps" for "--no-headers" flag: must be true or false`,
	} {
		t.Run(line, func(t *testing.T) {
			args := strings.Fields(line)
			if !strings.Contains(line, "--kubeconfig") {
				args = append(args, "--kubeconfig", s.kubeconfig(t))
			}
			code, out, errOut := execute(t, args...)
			first, _, _ := strings.Cut(errOut, "\n")
			if code != 1 || out != "" || first != "error: "+want {
				t.Errorf("exit code %d, stdout %q, stderr:\n%s\nwant:\nerror: %s", code, out, errOut, want)
			}
		})
	}
	if len(s.requests) > 0 {
		t.Errorf("requests were sent: %q", s.requests)
	}
	for line, want := range map[string]string{"help describe": "Explain why", "help secrets add": "Mount Secrets", "help": "Work with Kubeflow"} {
		if code, out, errOut := execute(t, strings.Fields(line)...); code != 0 || errOut != "" || !strings.HasPrefix(out, want) {
			t.Errorf("%s: exit code %d, stdout %q, stderr %q", line, code, out, errOut)
		}
	}
}
