package cli

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"k8s.io/cli-runtime/pkg/genericiooptions"
)

func TestSecretsLocal(t *testing.T) {
	const file = "testdata/secrets/manifests/alice.yaml"
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	home := "      home: alice-home   # made by hand\n"
	added := "      secrets:\n      - secretName: minio\n        mountPath: /secrets/minio\n        defaultMode: 420\n"
	whole := strings.Replace(string(text), home, home+added, 1)
	for name, c := range map[string]struct{ args, stdin, out, err string }{
		"a file":                    {args: "add -f " + file + " --local minio", out: whole, err: mountedLocally},
		"stdin":                     {args: "add -f - --local minio -q", stdin: string(text), out: whole},
		"a directory":               {args: "add -f testdata/secrets/manifests --local minio -q", out: whole},
		"by name":                   {args: "add -f " + file + " --local ws/alice-notebook minio -q", out: whole},
		"a dry run is what it is":   {args: "add -f " + file + " --local minio --dry-run=client", out: whole, err: strings.Replace(mountedLocally, "\n", " (dry run)\n", 1)},
		"two files":                 {args: "add -f " + file + " -f - --local minio -q", stdin: string(text), out: whole + "---\n" + whole},
		"remove":                    {args: "remove -f - --local minio -q", stdin: whole, out: string(text)},
		"remove with no such mount": {args: "remove -f " + file + " --local minio --ignore-not-found", out: string(text), err: "workspace.kubeflow.org/alice-notebook unchanged\n"},
		"as JSON path":              {args: "add -f " + file + " --local minio -o jsonpath={.spec.podTemplate.volumes.secrets[0].mountPath}", out: "/secrets/minio"},
		"a diff": {
			args: "add -f " + file + " --local minio --diff -q",
			out: "--- " + file + "\n+++ " + file + "\n@@ -7,6 +7,10 @@\n   podTemplate:\n     volumes:\n " + home +
				"+      secrets:\n+      - secretName: minio\n+        mountPath: /secrets/minio\n+        defaultMode: 420\n ---\n apiVersion: v1\n kind: ConfigMap\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			var out, errOut bytes.Buffer
			// A kubeconfig that cannot be read: nothing may look at it.
			args := append([]string{"secrets"}, append(strings.Fields(c.args), "--kubeconfig", "/nowhere")...)
			code := Run(t.Context(), args, genericiooptions.IOStreams{In: strings.NewReader(c.stdin), Out: &out, ErrOut: &errOut}, Build{})
			if code != 0 || out.String() != c.out || errOut.String() != c.err {
				t.Errorf("exit code %d, stdout:\n%s\nstderr:\n%s\nwant:\n%s\n%s", code, out.String(), errOut.String(), c.out, c.err)
			}
		})
	}
}

const mountedLocally = "workspace.kubeflow.org/alice-notebook secret \"minio\" mounted at /secrets/minio\n"

func TestSecretsListTemplates(t *testing.T) {
	for args, want := range map[string]string{
		"-o custom-columns=SECRET:.secretName,PATH:.mountPath,BY:{.heldBy}": "SECRET        PATH                   BY\n" +
			"minio-creds   /secrets/minio-creds   <none>\ngit-token     /creds/git             <none>\ngit-token     /data/sets             the data volume \"datasets\"\n",
		"-o custom-columns=SECRET:secretName --no-headers":       "minio-creds\ngit-token\ngit-token\n",
		"-o jsonpath={.items[*].mountPath}":                      "/secrets/minio-creds /creds/git /data/sets",
		"-o go-template={{range.items}}{{.defaultMode}},{{end}}": "420,0,256,",
		"-o jsonpath={.kind}":                                    "SecretMountList",
	} {
		t.Run(args, func(t *testing.T) {
			code, out, errOut := runSecrets(t, append([]string{"list", "alice-notebook", "--snapshot", "testdata/secrets/snapshot.yaml"}, strings.Fields(args)...)...)
			if code != 0 || out != want || errOut != "" {
				t.Errorf("exit code %d, stdout %q, stderr %q, want %q", code, out, errOut, want)
			}
		})
	}
}
