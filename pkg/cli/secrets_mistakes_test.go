package cli

import (
	"net/http"
	"strings"
	"testing"
)

// What people type by mistake, and the exact answer: what is wrong, where, and what to
// type instead. Nothing is written for any of them.
func TestSecretsMistakes(t *testing.T) {
	const folder = "testdata/secrets/manifests"
	for line, want := range map[string]string{
		"add":                                                           "the name of a Workspace is missing; 'kubectl workspace list' shows what there is",
		"add alice-notebook":                                            "the name of a Secret is missing: give SECRET or SECRET=PATH, such as minio-creds=/secrets/minio-creds",
		"add pod/alice s":                                               `"pod/alice" is not a Workspace; give its name, or workspace/NAME`,
		"add Alice s":                                                   `"Alice" is not the name of a Workspace: names are made of lower-case letters, digits, '-' and '.', and begin and end with a letter or digit`,
		"add alice_notebook s":                                          `"alice_notebook" is not the name of a Workspace: names are made of lower-case letters, digits, '-' and '.', and begin and end with a letter or digit`,
		"add ws/ s":                                                     `"ws/" has no name after the '/'`,
		"add alice-notebook Minio":                                      `"Minio" is not the name of a Secret; did you mean "minio"?`,
		"add alice-notebook minio_creds":                                `"minio_creds" is not the name of a Secret; did you mean "minio-creds"?`,
		"add alice-notebook secret/minio":                               `"secret/minio" is not the name of a Secret; did you mean "minio"?`,
		"add alice-notebook /creds":                                     `"/creds" is a path, not the name of a Secret; write SECRET=PATH, such as "minio-creds=/creds"`,
		"add alice-notebook =/creds":                                    `"=/creds" has no name before the '='; write SECRET=PATH, such as minio-creds=/secrets/minio-creds`,
		"add alice-notebook minio:0400":                                 `"minio:0400" is not the name of a Secret; a mode comes after a path, as in "minio=/secrets/minio:0400", or use --default-mode`,
		"add alice-notebook minio=":                                     `"minio=": the mount path is empty; give an absolute path such as /secrets/minio-creds`,
		"add alice-notebook minio=creds":                                `"minio=creds": mount path "creds" is not absolute; did you mean "/creds"?`,
		"add alice-notebook minio=./creds":                              `"minio=./creds": mount path "./creds" is not absolute; did you mean "/creds"?`,
		"add alice-notebook minio=~/creds":                              `"minio=~/creds": mount path "~/creds" is not absolute, and '~' means nothing there; write out the home directory of the container, as in "/home/jovyan/creds"`,
		"add alice-notebook minio=/":                                    `"minio=/": mount path "/" is the root of the container; give a directory such as /secrets/minio-creds`,
		"add alice-notebook minio=/a/..":                                `"minio=/a/..": mount path "/a/.." is the root of the container; give a directory such as /secrets/minio-creds`,
		"add alice-notebook minio=/a:b:0400":                            `"minio=/a:b:0400": a mount path cannot contain a colon; the one colon goes before the mode, as in minio=/secrets/minio:0400`,
		"add alice-notebook minio=/a:":                                  `"minio=/a:": mode "" is not an octal number; write it as chmod does, such as 0644 or 0400`,
		"add alice-notebook minio=/a:420":                               `"minio=/a:420": mode 420 is the decimal form of 0644; modes are octal here: did you mean 0644? To get what chmod 420 does, write 0420.`,
		"add alice-notebook minio=/a:0888":                              `"minio=/a:0888": mode "0888" is not octal: its digits go from 0 to 7, as in 0644`,
		"add alice-notebook minio=/a:-1":                                `"minio=/a:-1": mode "-1" is not an octal number; write it as chmod does, such as 0644 or 0400`,
		"add alice-notebook minio=/a:u+r":                               `"minio=/a:u+r": mode "u+r" is not an octal number; write it as chmod does, such as 0644 or 0400`,
		"add alice-notebook minio=/a:rw-r--r--":                         `"minio=/a:rw-r--r--": mode "rw-r--r--" is not an octal number; write it as chmod does, such as 0644 or 0400`,
		"add alice-notebook minio=/a:1777":                              `"minio=/a:1777": mode 1777 is out of range: 0 to 0777, as the files of a Secret have no set-uid, set-gid and sticky bits`,
		"add alice-notebook minio=/a:0x1a4":                             `"minio=/a:0x1a4": mode "0x1a4" is not an octal number; write it as chmod does, such as 0644 or 0400`,
		`add alice-notebook minio=C:\creds`:                             `"minio=C:\\creds": the mount path is one inside the container, such as /secrets/minio-creds, not one of Windows (Git Bash rewrites paths; MSYS_NO_PATHCONV=1 stops it)`,
		"add alice-notebook minio --mount-path=":                        "--mount-path: the mount path is empty; give an absolute path such as /secrets/minio-creds",
		"add alice-notebook minio --mount-path=creds":                   `--mount-path: mount path "creds" is not absolute; did you mean "/creds"?`,
		"add alice-notebook minio --mount-path=/a:b":                    `--mount-path: mount path "/a:b" contains a colon, which Kubernetes does not allow`,
		"add alice-notebook minio --default-mode=420":                   "--default-mode: mode 420 is the decimal form of 0644; modes are octal here: did you mean 0644? To get what chmod 420 does, write 0420.",
		"add alice-notebook minio --default-mode=0888":                  `--default-mode: mode "0888" is not octal: its digits go from 0 to 7, as in 0644`,
		"add alice-notebook minio --default-mode=-1":                    `--default-mode: mode "-1" is not an octal number; write it as chmod does, such as 0644 or 0400`,
		"add alice-notebook minio --default-mode=u+r":                   `--default-mode: mode "u+r" is not an octal number; write it as chmod does, such as 0644 or 0400`,
		"add alice-notebook minio --default-mode=":                      `--default-mode: mode "" is not an octal number; write it as chmod does, such as 0644 or 0400`,
		"add alice-notebook a b --mount-path=/x":                        "--mount-path goes with one SECRET; give several as SECRET=PATH",
		"add alice-notebook a=/y --mount-path=/x":                       `"a=/y" has a path; leave out --mount-path`,
		"add alice-notebook a=/x b=/x":                                  `mount path /x is given twice, for Secret "a" and for Secret "b"`,
		"add alice-notebook a a":                                        `Secret "a" is given twice for mount path /secrets/a`,
		"add alice-notebook minio --dry-run=maybe":                      `invalid argument "maybe" for "--dry-run" flag: must be none, client or server`,
		"add alice-notebook minio --dry-run=client -o wide":             `unable to match a printer suitable for the output format "wide", allowed formats are: go-template,go-template-file,json,jsonpath,jsonpath-as-json,jsonpath-file,kyaml,name,template,templatefile,yaml`,
		"add alice-notebook minio --diff -o yaml":                       "--diff and -o both say what to print: give one of them",
		"add alice-notebook minio --wait=ready":                         `invalid argument "ready" for "--wait" flag: must be running`,
		"add alice-notebook minio --timeout=5m":                         "--timeout goes with --wait or --restart",
		"add alice-notebook minio --wait --timeout=0":                   "--timeout 0s is not a time to wait; give a duration such as 5m",
		"add alice-notebook minio --wait --timeout=soon":                `invalid argument "soon" for "--timeout" flag: must be a duration, such as 30s or 5m`,
		"add alice-notebook minio --wait --dry-run=client":              "a dry run changes nothing that could be followed: leave out --wait and --restart",
		"add alice-notebook minio --restart --dry-run=server":           "a dry run changes nothing that could be followed: leave out --wait and --restart",
		"add alice-notebook minio --snapshot=SNAPSHOT":                  "a snapshot cannot be changed: add --dry-run=client",
		"add alice-notebook minio -f MANIFESTS/alice.yaml":              "-f goes with --local, which prints the changed manifests; pipe them into 'kubectl apply -f -'",
		"add --local minio":                                             "--local changes manifests: say which with -f FILE",
		"add -f MANIFESTS/alice.yaml --local":                           "the name of a Secret is missing: give SECRET or SECRET=PATH, such as minio-creds=/secrets/minio-creds",
		"add -f MANIFESTS/alice.yaml --local --dry-run=server minio":    "--local contacts no server, so there is no --dry-run=server; did you mean --dry-run=client?",
		"add -f MANIFESTS/alice.yaml --local --wait minio":              "--local contacts no server: leave out --wait and --restart",
		"add -f MANIFESTS/alice.yaml --local --all minio":               "-f names every Workspace of its manifests: leave out --all",
		"add -f MANIFESTS/nope.yaml --local minio":                      "-f MANIFESTS/nope.yaml: no such file or directory",
		"add -f MANIFESTS/empty --local minio":                          "-f MANIFESTS/empty: there is no .yaml, .yml or .json file in this directory",
		"add -f MANIFESTS/broken.txt --local minio":                     "MANIFESTS/broken.txt: line 2: found a tab character that violates indentation",
		"add -f https://example.com/w.yaml --local minio":               "-f https://example.com/w.yaml: with --local nothing is contacted; download the manifest and name the file",
		"add -f MANIFESTS/alice.yaml --local ws/bob minio":              `no manifest of workspace "bob" in MANIFESTS/alice.yaml`,
		"add -f MANIFESTS/alice.yaml --local -l team=x minio":           "there is no Workspace with the labels team=x in MANIFESTS/alice.yaml",
		"add -f MANIFESTS/alice.yaml --local --snapshot=SNAPSHOT minio": "--local and --snapshot exclude each other: a manifest is changed and printed, a snapshot is only read",
		"add -l  minio":                                                 "-l is empty: give labels such as team=research",
		"add -l team=a=b minio":                                         `-l "team=a=b" is not a label selector: found '=', expected: ',' or 'end of string'`,
		"add -l team=x --all minio":                                     "-l and --all exclude each other: --all is every Workspace of the namespace",
		"add -l team=x ws/alice-notebook minio":                         `"ws/alice-notebook": name a Workspace, or choose several with -l, not both`,
		"add --all":                                                     "the name of a Secret is missing: give SECRET or SECRET=PATH, such as minio-creds=/secrets/minio-creds",
		"add alice-notebook minio --colour=never":                       "unknown flag: --colour",
		"add nope minio":                                                `workspace "nope" not found in namespace "team-a" (kubectl workspace list -n team-a shows those that exist)`,
		"add alice-notebook minio=/git":                                 `cannot mount Secret "minio" at /git: Secret "git" is mounted there; choose another path, or use --overwrite to replace it`,
		"add alice-notebook git=/git:0400":                              `Secret "git" is mounted at /git already, with mode 0000 and not 0400; use --overwrite to change that`,
		"add alice-notebook minio=/home/jovyan":                         `cannot mount Secret "minio" at /home/jovyan: the home volume "alice-home" is mounted there; choose another path`,
		"remove":                                                        "the name of a Workspace is missing; 'kubectl workspace list' shows what there is",
		"remove alice-notebook":                                         "say what to remove: SECRET, --mount-path=PATH or --all",
		"remove alice-notebook Minio":                                   `"Minio" is not the name of a Secret; did you mean "minio"?`,
		"remove alice-notebook minio=/x":                                `"minio=/x": give the path of a mount with --mount-path, as in minio --mount-path=/x`,
		"remove alice-notebook --mount-path=x":                          `--mount-path: mount path "x" is not absolute; did you mean "/x"?`,
		"remove alice-notebook --mount-path=":                           "--mount-path: the mount path is empty; give an absolute path such as /secrets/minio-creds",
		"remove alice-notebook --all --mount-path=/x":                   "--mount-path is one mount and --all is every one: give one of them",
		"remove alice-notebook minio":                                   `Secret "minio" is not mounted; the Workspace mounts git at /git`,
		"remove alice-notebook --mount-path=/nope":                      "no Secret is mounted at /nope; the Workspace mounts git at /git",
		"remove alice-notebook minio --mount-path=/git":                 `at /git Secret "git" is mounted, not "minio"`,
		"remove alice-notebook --all":                                   "--all takes away every Secret of the Workspace: add --yes to confirm",
		"remove nope git":                                               `workspace "nope" not found in namespace "team-a" (kubectl workspace list -n team-a shows those that exist)`,
		"remove -l  git":                                                "-l is empty: give labels such as team=research",
		"list alice-notebook -A":                                        `-A is about all Workspaces: leave out "alice-notebook"`,
		"list alice-notebook -l a=b":                                    "give names or -l, not both",
		"list -l a==b==c":                                               `-l "a==b==c" is not a label selector: found '==', expected: ',' or 'end of string'`,
		"list nope":                                                     `workspace "nope" not found in namespace "team-a" (kubectl workspace list -n team-a shows those that exist)`,
		"list Alice":                                                    `"Alice" is not the name of a Workspace: names are made of lower-case letters, digits, '-' and '.', and begin and end with a letter or digit`,
		"list -o table":                                                 `invalid argument "table" for "-o, --output" flag: must be wide, json, yaml, name, custom-columns=..., jsonpath=..., jsonpath-as-json=... or go-template=...`,
		"list -o custom-columns":                                        "-o custom-columns: say which columns, as in custom-columns=SECRET:.secretName,PATH:.mountPath",
		"list -o custom-columns=x":                                      `-o custom-columns: "x" is not HEADER:PATH, such as SECRET:.secretName`,
		"list -o jsonpath":                                              "-o jsonpath: the template is missing, as in jsonpath='{.items[*].secretName}'",
		"list -o jsonpath={.items":                                      "-o jsonpath={.items: error parsing jsonpath {.items, unclosed action",
		"list --keys --snapshot=SNAPSHOT":                               "a snapshot has no keys of Secrets: leave out --keys",
		"ad alice-notebook minio":                                       `unknown command "ad" for "kubectl workspace secrets"; did you mean "add"?`,
		"unmount alice-notebook minio":                                  `unknown command "unmount" for "kubectl workspace secrets"; did you mean "remove"?`,
		"mount alice-notebook minio":                                    `unknown command "mount" for "kubectl workspace secrets"; did you mean "add"?`,
		"add alice-notebook X_":                                         `"X_" is not the name of a Secret: names are made of lower-case letters, digits, '-' and '.', and begin and end with a letter or digit`,
		"add alice-notebook minio --selector=":                          "-l is empty: give labels such as team=research",
		"remove alice-notebook git --ignore-not-found=perhaps":          `invalid argument "perhaps" for "--ignore-not-found" flag: must be true or false`,
		"remove --local -f MANIFESTS/alice.yaml minio":                  `MANIFESTS/alice.yaml: workspace "alice-notebook": Secret "minio" is not mounted; the Workspace mounts no Secrets`,
		"add alice-notebook minio --field-manager= --dry-run=never":     `invalid argument "never" for "--dry-run" flag: must be none, client or server`,
	} {
		t.Run(line, func(t *testing.T) {
			t.Parallel()
			s := newAPIServer(t)
			args := strings.Split(strings.NewReplacer("SNAPSHOT", "testdata/secrets/snapshot.yaml", "MANIFESTS", folder).Replace(line), " ")
			code, out, errOut := s.run(t, args...)
			got, usage, hasUsage := strings.Cut(strings.ReplaceAll(errOut, folder, "MANIFESTS"), "\nSee 'kubectl workspace secrets")
			if strings.TrimSuffix(got, "\n") != "error: "+want || hasUsage && !strings.HasSuffix(usage, "--help' for usage.\n") {
				t.Errorf("stderr:\n%s\nwant:\nerror: %s", errOut, want)
			}
			if code != 1 || out != "" {
				t.Errorf("exit code %d, stdout %q", code, out)
			}
			if s.counts[http.MethodPatch] > 0 {
				t.Error("something was written")
			}
		})
	}
}

// What the server does not allow, told with the verb and the object.
func TestSecretsForbidden(t *testing.T) {
	for name, c := range map[string]struct{ line, method, part, err string }{
		"get":                       {"add alice-notebook minio-creds", "GET", "/workspaces/", `cannot read workspace "alice-notebook" in namespace "team-a": not for you`},
		"patch":                     {"add alice-notebook minio-creds -q", "PATCH", "/workspaces/", `cannot change workspace "alice-notebook" in namespace "team-a": not for you`},
		"patch in a server dry run": {"remove alice-notebook git --dry-run=server", "PATCH", "/workspaces/", `cannot change workspace "alice-notebook" in namespace "team-a": not for you`},
		"list, by label":            {"add -l a=b minio-creds", "GET", "/workspaces", `cannot list the Workspaces of namespace "team-a": not for you`},
		"list, all":                 {"add --all minio-creds", "GET", "/workspaces", `cannot list the Workspaces of namespace "team-a": not for you`},
		"list":                      {"list", "GET", "/workspaces", `cannot list the Workspaces of namespace "team-a": not for you`},
	} {
		t.Run(name, func(t *testing.T) {
			s := newAPIServer(t)
			s.fail = func(w http.ResponseWriter, r *http.Request, _ int) bool {
				if r.Method != c.method || !strings.Contains(r.URL.Path, c.part) {
					return false
				}
				status(w, http.StatusForbidden, "Forbidden", "not for you")
				return true
			}
			code, out, errOut := s.run(t, strings.Fields(c.line)...)
			if code != 1 || out != "" || errOut != "error: "+c.err+"\n" {
				t.Errorf("exit code %d, stdout %q, stderr %q, want %q", code, out, errOut, c.err)
			}
		})
	}
}
