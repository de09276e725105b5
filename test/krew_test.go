package test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"text/template"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-workspace/kubectl-workspace/test/env"
)

// distVariable names the environment variable with the folder of what goreleaser made.
const distVariable = "KUBECTL_WORKSPACE_TEST_DIST"

// krewPlugin is a manifest of a krew index.
type krewPlugin struct {
	Metadata struct{ Name string }
	Spec     struct {
		Version, Homepage, ShortDescription, Description, Caveats string

		Platforms []krewPlatform
	}
}

type krewPlatform struct {
	Bin, URI, SHA256 string
	Selector         struct{ MatchLabels map[string]string }
}

func readKrewPlugin(t *testing.T, content []byte) krewPlugin {
	t.Helper()
	var p krewPlugin
	if err := yaml.Unmarshal(content, &p); err != nil {
		t.Fatal(err)
	}
	return p
}

// A user's life with krew: install from the archive of the release, use, uninstall. The
// real krew does it, and the real kubectl runs the plugin.
func TestKrew(t *testing.T) {
	dist := os.Getenv(distVariable)
	if dist == "" {
		t.Skipf("plays what goreleaser made; make krew-test sets %s", distVariable)
	}
	e := env.Get(t)
	applyKind(t, e)
	ns := e.Namespace(t)
	createWorkspace(t, e, ns, "alice-notebook", map[string]any{"secretName": "minio-creds", "mountPath": "/secrets/minio-creds"})
	krew, validate := krewTool(t, "krew"), krewTool(t, "validate-krew-manifest")

	for _, name := range []string{"workspace", "kubeflow-workspace"} {
		t.Run(name, func(t *testing.T) {
			manifest := filepath.Join(dist, "krew", name+".yaml")
			content, err := os.ReadFile(manifest)
			if err != nil {
				t.Fatal(err)
			}
			plugin := readKrewPlugin(t, content)
			if r := plain(t, validate, "-manifest", manifest, "-skip-install"); r.code != 0 {
				t.Fatalf("krew finds fault with %s: %s", manifest, r.stderr)
			}
			archive := filepath.Join(dist, path.Base(hostPlatform(t, plugin).URI))

			root := t.TempDir()
			bin := filepath.Join(root, "bin")
			environment := append(os.Environ(), "PATH="+strings.Join([]string{bin, e.BinDir, "/usr/bin", "/bin"}, string(os.PathListSeparator)),
				"KUBECONFIG="+e.Kubeconfig(env.Admin), "HOME="+root, "KUBERC=off", "KREW_ROOT="+root, "KREW_NO_UPGRADE_CHECK=1")
			run := func(want int, program string, args ...string) string {
				t.Helper()
				r := start(t, environment, program, args...)
				if r.code != want {
					t.Fatalf("%s %q: exit code %d, want %d\n%s%s", filepath.Base(program), args, r.code, want, r.stdout, r.stderr)
				}
				t.Logf("$ %s %s\n%s", filepath.Base(program), strings.Join(args, " "), r.stdout)
				return r.stdout + r.stderr
			}
			kubectl := filepath.Join(e.BinDir, "kubectl")

			run(0, krew, "index", "add", "ours", krewIndex(t, name, content))
			if info := run(0, krew, "info", "ours/"+name); !strings.Contains(info, plugin.Spec.Version) {
				t.Errorf("krew info:\n%s", info)
			}
			// krew would download the archive from where it is published.
			run(0, krew, "install", "--manifest="+manifest, "--archive="+archive)
			if got := strings.TrimSpace(run(0, kubectl, name, "version")); got != plugin.Spec.Version {
				t.Errorf("version %q, but the manifest says %q", got, plugin.Spec.Version)
			}
			if help := run(0, kubectl, name, "--help"); !strings.Contains(help, "kubectl "+name+" options") {
				t.Errorf("the help does not call it kubectl %s:\n%s", name, help)
			}
			if list := run(0, kubectl, name, "secrets", "list", "-n", ns); !strings.Contains(list, "/secrets/minio-creds") {
				t.Errorf("secrets list:\n%s", list)
			}
			// What the manifest advises sets up TAB: kubectl asks the plugin.
			if want := "kubectl " + name + " completion install"; !strings.Contains(plugin.Spec.Caveats, want) {
				t.Errorf("no %q in the caveats: %s", want, plugin.Spec.Caveats)
			}
			run(0, kubectl, name, "completion", "install")
			if words := run(0, kubectl, "__complete", name, "secrets", "l"); !strings.HasPrefix(words, "list\t") {
				t.Errorf("TAB offers %q", words)
			}
			run(0, krew, "uninstall", name)
			run(1, kubectl, name, "version")
		})
	}
}

// The template for the public index says the same as the manifest that was played.
func TestKrewTemplate(t *testing.T) {
	dist := os.Getenv(distVariable)
	if dist == "" {
		t.Skipf("compares with what goreleaser made; make krew-test sets %s", distVariable)
	}
	content, err := os.ReadFile(filepath.Join(dist, "krew", "kubeflow-workspace.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	want := readKrewPlugin(t, content)
	sums := map[string]string{}
	for _, p := range want.Spec.Platforms {
		sums[p.URI] = p.SHA256
	}

	values := struct{ TagName string }{want.Spec.Version}
	// The functions of krew-release-bot, which downloads where this looks up.
	fill := func(text string, functions template.FuncMap) ([]byte, error) {
		parsed, err := template.New("").Funcs(functions).Parse(text)
		if err != nil {
			return nil, err
		}
		var b bytes.Buffer
		err = parsed.Execute(&b, values)
		return b.Bytes(), err
	}
	text, err := os.ReadFile("../.krew.yaml")
	if err != nil {
		t.Fatal(err)
	}
	filled, err := fill(string(text), template.FuncMap{"addURIAndSha": func(url, _ string) (string, error) {
		uri, err := fill(url, nil)
		if err != nil {
			return "", err
		}
		if sums[string(uri)] == "" {
			return "", fmt.Errorf("the release has no %s", uri)
		}
		return fmt.Sprintf("uri: %s\n    sha256: %s", uri, sums[string(uri)]), nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	byURI := func(p krewPlugin) map[string]krewPlatform {
		platforms := map[string]krewPlatform{}
		for _, platform := range p.Spec.Platforms {
			platforms[platform.URI] = platform
		}
		return platforms
	}
	got := readKrewPlugin(t, filled)
	if d := cmp.Diff(byURI(want), byURI(got)); d != "" {
		t.Errorf("platforms (-goreleaser +.krew.yaml):\n%s", d)
	}
	got.Spec.Platforms, want.Spec.Platforms = nil, nil
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("-goreleaser +.krew.yaml:\n%s", d)
	}
}

// krewTool builds a program of krew's pinned module and returns its file.
func krewTool(t *testing.T, name string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), name)
	cmd := exec.CommandContext(t.Context(), "go", "build", "-o", file, "sigs.k8s.io/krew/cmd/"+name)
	cmd.Dir = "../hack/tools/krew"
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("build %s: %v\n%s", name, err, out)
	}
	return file
}

// krewIndex makes the git repository of an index that holds one plugin.
func krewIndex(t *testing.T, plugin string, manifest []byte) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "plugins"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "plugins", plugin+".yaml"), manifest, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"init", "--quiet"}, {"add", "."},
		{"-c", "user.name=test", "-c", "user.email=test@example.com", "commit", "--quiet", "--message=" + plugin},
	} {
		if r := plain(t, "git", append([]string{"-C", dir}, args...)...); r.code != 0 {
			t.Fatalf("git %q: %s", args, r.stderr)
		}
	}
	return dir
}

func hostPlatform(t *testing.T, p krewPlugin) krewPlatform {
	t.Helper()
	for _, platform := range p.Spec.Platforms {
		if l := platform.Selector.MatchLabels; l["os"] == runtime.GOOS && l["arch"] == runtime.GOARCH {
			return platform
		}
	}
	t.Fatalf("%s has nothing for %s/%s", p.Metadata.Name, runtime.GOOS, runtime.GOARCH)
	return krewPlatform{}
}
