package secretmount

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"
)

// object reads YAML the way a Workspace comes from the server.
func object(t testing.TB, text string) map[string]any {
	t.Helper()
	raw, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	var o map[string]any
	if err := utiljson.Unmarshal(raw, &o); err != nil {
		t.Fatal(err)
	}
	return o
}

// workspace returns a Workspace with the given list, in flow style, or with none.
func workspace(t testing.TB, secrets string) map[string]any {
	text := `
apiVersion: kubeflow.org/v1beta1
kind: Workspace
metadata: {name: alice-notebook, namespace: team-a, uid: u-1, resourceVersion: "7", annotations: {note: "<a & b>"}}
spec:
  kind: jupyterlab
  future: {ratio: 0.25, big: 9007199254740993}
  podTemplate:
    volumes:
      home: alice-home
      future: [1, {x: null}]
      data:
      - {pvcName: datasets, mountPath: /data/sets, readOnly: true}
`
	if secrets != "" {
		text += "      secrets: " + secrets + "\n"
	}
	return object(t, text)
}

const kindText = `
spec:
  podTemplate:
    volumeMounts: {home: /home/jovyan}
    extraVolumeMounts:
    - {name: shm, mountPath: /dev/shm}
`

func mounts(t testing.TB, args ...string) []Mount {
	t.Helper()
	var ms []Mount
	for _, a := range args {
		m, err := Parse(a)
		if err != nil {
			t.Fatal(err)
		}
		ms = append(ms, m)
	}
	return ms
}

// summary tells the outcomes, and what the list is afterwards.
func summary(t testing.TB, before map[string]any, e Edit) string {
	t.Helper()
	after, err := e.Apply(before)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, r := range e.Results {
		fmt.Fprintf(&b, "%s %s %s\n", r.Outcome, r.SecretName, r.MountPath)
	}
	list, err := valueAt(after, secretsField)
	if err != nil {
		t.Fatal(err)
	}
	text, _ := json.Marshal(list)
	return b.String() + string(text)
}

func TestAdd(t *testing.T) {
	tests := map[string]struct {
		secrets   string
		add       []string
		overwrite bool
		want      string
		warnings  []string
		err       string
	}{
		"first": {
			add:  []string{"a"},
			want: "added a /secrets/a\n" + `[{"defaultMode":420,"mountPath":"/secrets/a","secretName":"a"}]`,
		},
		"list is null": {
			secrets: "null", add: []string{"a"},
			want: "added a /secrets/a\n" + `[{"defaultMode":420,"mountPath":"/secrets/a","secretName":"a"}]`,
		},
		"list is empty": {
			secrets: "[]", add: []string{"a"},
			want: "added a /secrets/a\n" + `[{"defaultMode":420,"mountPath":"/secrets/a","secretName":"a"}]`,
		},
		"two, beside one with unknown fields and mode 0": {
			secrets: "[{secretName: z, mountPath: /z, defaultMode: 0, future: {x: 1.5}}]", add: []string{"a", "a=/b:0"},
			want: "added a /secrets/a\nadded a /b\n" + `[{"defaultMode":0,"future":{"x":1.5},"mountPath":"/z","secretName":"z"},` +
				`{"defaultMode":420,"mountPath":"/secrets/a","secretName":"a"},{"defaultMode":0,"mountPath":"/b","secretName":"a"}]`,
		},
		"there already": {
			secrets: "[{secretName: a, mountPath: /secrets/a, defaultMode: 420}]", add: []string{"a"},
			want: "unchanged a /secrets/a\n" + `[{"defaultMode":420,"mountPath":"/secrets/a","secretName":"a"}]`,
		},
		"there already, mode left to the default": {
			secrets: "[{secretName: a, mountPath: /secrets/a}]", add: []string{"a=/secrets/a:0644"},
			want: "unchanged a /secrets/a\n" + `[{"mountPath":"/secrets/a","secretName":"a"}]`,
		},
		"there already with a slash at the end": {
			secrets: "[{secretName: a, mountPath: /secrets/a/}]", add: []string{"a"},
			want: "unchanged a /secrets/a\n" + `[{"mountPath":"/secrets/a/","secretName":"a"}]`,
		},
		"other mode": {
			secrets: "[{secretName: a, mountPath: /secrets/a, defaultMode: 0}]", add: []string{"a"},
			err: `Secret "a" is mounted at /secrets/a already, with mode 0000 and not 0644; use --overwrite`,
		},
		"other Secret": {
			secrets: "[{secretName: b, mountPath: /secrets/a/}]", add: []string{"a"},
			err: `cannot mount Secret "a" at /secrets/a/: Secret "b" is mounted there; choose another path, or use --overwrite`,
		},
		"overwrite keeps unknown fields": {
			secrets: "[{secretName: x, mountPath: /x}, {secretName: b, mountPath: /secrets/a/, future: 1}]", add: []string{"a=/secrets/a:0"}, overwrite: true,
			want: "replaced a /secrets/a\n" + `[{"mountPath":"/x","secretName":"x"},{"defaultMode":0,"future":1,"mountPath":"/secrets/a","secretName":"a"}]`,
		},
		"overwrite nothing": {
			add: []string{"a"}, overwrite: true,
			want: "added a /secrets/a\n" + `[{"defaultMode":420,"mountPath":"/secrets/a","secretName":"a"}]`,
		},
		"home path":                {add: []string{"a=/home/jovyan"}, overwrite: true, err: `the home volume "alice-home" is mounted there`},
		"data path":                {add: []string{"a=/data/sets"}, overwrite: true, err: `the data volume "datasets" is mounted there`},
		"path of the kind":         {add: []string{"a=/dev/shm"}, err: `the volume "shm" of the WorkspaceKind is mounted there`},
		"several problems at once": {add: []string{"a=/dev/shm", "b=/data/sets"}, err: "there; choose another path\ncannot mount Secret \"b\""},
		"same path twice":          {add: []string{"a=/x", "b=/x/"}, err: `mount path /x is given twice, for Secret "a" and for Secret "b"`},
		"nested": {
			secrets: "[{secretName: z, mountPath: /z/y}]", add: []string{"a=/home/jovyan/a", "b=/data", "c=/z", "d=/z/y/x", "e=/data/sets2"},
			want: "added a /home/jovyan/a\nadded b /data\nadded c /z\nadded d /z/y/x\nadded e /data/sets2\n",
			warnings: []string{
				`mount path /home/jovyan/a lies inside /home/jovyan, where the home volume "alice-home" is mounted`,
				`mount path /data lies around /data/sets, where the data volume "datasets" is mounted`,
				`mount path /data lies around /data/sets2, where Secret "e" is mounted`,
				`mount path /z lies around /z/y/x, where Secret "d" is mounted`,
				`mount path /z lies around /z/y, where Secret "z" is mounted`,
				`mount path /z/y/x lies inside /z, where Secret "c" is mounted`,
				`mount path /z/y/x lies inside /z/y, where Secret "z" is mounted`,
				`mount path /data/sets2 lies inside /data, where Secret "b" is mounted`,
			},
		},
		"unwise": {
			secrets: "[{secretName: z, mountPath: '/z:y'}, {secretName: Z_, mountPath: /z}]", add: []string{"a=/etc", "b=/proc/1/b", "c=/etc/c"},
			want: "added a /etc\nadded b /proc/1/b\nadded c /etc/c\n",
			warnings: []string{
				"mount path /etc hides what the image has there; did you mean /etc/a?",
				`mount path /etc lies around /etc/c, where Secret "c" is mounted`,
				"mount path /proc/1/b is in /proc, which belongs to the kernel: the container may not start; use a directory such as /secrets/b",
				`mount path /etc/c lies inside /etc, where Secret "a" is mounted`,
				`Secret "z" is mounted at "/z:y" already, and Kubernetes refuses a Pod with a colon in a mount path: the Workspace does not start until that mount is removed`,
				`"Z_" is mounted at /z already and is not the name of a Secret: the Workspace does not start until that mount is removed`,
			},
		},
		"list is a map":      {secrets: "{a: b}", add: []string{"a"}, err: "spec.podTemplate.volumes.secrets is not a list"},
		"entry is a string":  {secrets: "[a]", add: []string{"a"}, err: "secrets[0] is not an object"},
		"entry without path": {secrets: "[{secretName: a}]", add: []string{"a"}, err: "secrets[0].mountPath is missing"},
		"path is a number":   {secrets: "[{secretName: a, mountPath: 1}]", add: []string{"a"}, err: "secrets[0].mountPath is not a string"},
		"mode is a string":   {secrets: "[{secretName: a, mountPath: /a, defaultMode: '0644'}]", add: []string{"a"}, err: "defaultMode is not a number"},
		"mode is too large":  {secrets: "[{secretName: a, mountPath: /a, defaultMode: 644}]", add: []string{"a"}, err: "defaultMode is 644; 0 to 511"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			before := workspace(t, tc.secrets)
			e, err := Add(before, object(t, kindText), mounts(t, tc.add...), tc.overwrite)
			if tc.err != "" {
				if err == nil || !strings.Contains(err.Error(), tc.err) {
					t.Fatalf("error %v, want one that says %q", err, tc.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := summary(t, before, e); !strings.HasPrefix(got, tc.want) {
				t.Errorf("got  %s\nwant %s", got, tc.want)
			}
			if diff := cmp.Diff(tc.warnings, e.Warnings); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestAddWithoutWhatSurrounds(t *testing.T) {
	for name, text := range map[string]string{
		"no volumes":       "{metadata: {uid: u}, spec: {podTemplate: {options: {}}}}",
		"volumes are null": "{metadata: {uid: u}, spec: {podTemplate: {volumes: null}}}",
		"no kind and uid":  "{spec: {podTemplate: {volumes: {home: x}}}}",
	} {
		t.Run(name, func(t *testing.T) {
			before := object(t, text)
			e, err := Add(before, nil, mounts(t, "a"), false)
			if err != nil {
				t.Fatal(err)
			}
			if got := summary(t, before, e); !strings.Contains(got, `"secretName":"a"`) {
				t.Error(got)
			}
		})
	}
	if _, err := Add(object(t, "{spec: {}}"), nil, mounts(t, "a"), false); err == nil {
		t.Error("a Workspace without spec.podTemplate is accepted")
	}
}

// The home path does not matter without a home volume.
func TestAddAtHomePathWithoutHome(t *testing.T) {
	w := object(t, "{spec: {podTemplate: {volumes: {}}}}")
	if _, err := Add(w, object(t, kindText), mounts(t, "a=/home/jovyan"), false); err != nil {
		t.Error(err)
	}
}

func TestRemove(t *testing.T) {
	const list = "[{secretName: a, mountPath: /1, defaultMode: 0, future: x}, {secretName: b, mountPath: /2}, {secretName: a, mountPath: /3/}, {secretName: c, mountPath: /4}]"
	tests := map[string]struct {
		Selection
		secrets string
		want    string
		err     string
	}{
		"by Secret": {
			Selection: Selection{Secrets: []string{"b"}},
			want: "removed b /2\n" + `[{"defaultMode":0,"future":"x","mountPath":"/1","secretName":"a"},{"mountPath":"/3/","secretName":"a"},` +
				`{"mountPath":"/4","secretName":"c"}]`,
		},
		"by path, in another spelling": {
			Selection: Selection{Paths: []string{"/3", "/2/"}},
			want:      "removed a /3/\nremoved b /2\n" + `[{"defaultMode":0,"future":"x","mountPath":"/1","secretName":"a"},{"mountPath":"/4","secretName":"c"}]`,
		},
		"by Secret and path": {
			Selection: Selection{Secrets: []string{"a"}, Paths: []string{"/3/"}},
			want:      "removed a /3/\n[" + `{"defaultMode":0,"future":"x","mountPath":"/1","secretName":"a"},{"mountPath":"/2","secretName":"b"},{"mountPath":"/4","secretName":"c"}]`,
		},
		"all of a Secret": {
			Selection: Selection{Secrets: []string{"a"}, All: true},
			want:      "removed a /1\nremoved a /3/\n" + `[{"mountPath":"/2","secretName":"b"},{"mountPath":"/4","secretName":"c"}]`,
		},
		"all":           {Selection: Selection{All: true}, want: "removed a /1\nremoved b /2\nremoved a /3/\nremoved c /4\nnull"},
		"the last":      {Selection: Selection{Secrets: []string{"z"}}, secrets: "[{secretName: z, mountPath: /z}]", want: "removed z /z\nnull"},
		"several paths": {Selection: Selection{Secrets: []string{"a"}}, err: `Secret "a" is mounted at 2 paths: /1, /3/; say which with --mount-path, or use --all`},
		"not mounted":   {Selection: Selection{Secrets: []string{"z"}}, err: `Secret "z" is not mounted; the Workspace mounts a at /1, b at /2, a at /3/, c at /4`},
		"empty path":    {Selection: Selection{Paths: []string{"/z"}}, err: `no Secret is mounted at /z; the Workspace mounts a at /1`},
		"nothing there": {Selection: Selection{Secrets: []string{"z"}}, secrets: "[]", err: "the Workspace mounts no Secrets"},
		"all of none":   {Selection: Selection{All: true}, secrets: "[]", err: "there is nothing to remove"},
		"wrong path":    {Selection: Selection{Secrets: []string{"a"}, Paths: []string{"/2"}}, err: `at /2 Secret "b" is mounted, not "a"`},
		"one at a path, one not": {
			Selection: Selection{Secrets: []string{"a", "b"}, Paths: []string{"/1"}}, err: `Secret "b" is not mounted at /1`,
		},
		"ignore what is not there": {
			Selection: Selection{Secrets: []string{"z", "b", "c", "b"}, IgnoreNotFound: true},
			want:      "removed b /2\nremoved c /4\n" + `[{"defaultMode":0,"future":"x","mountPath":"/1","secretName":"a"},{"mountPath":"/3/","secretName":"a"}]`,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if tc.secrets == "" {
				tc.secrets = list
			}
			before := workspace(t, tc.secrets)
			e, err := Remove(before, tc.Selection)
			if tc.err != "" {
				if err == nil || !strings.Contains(err.Error(), tc.err) {
					t.Fatalf("error %v, want one that says %q", err, tc.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := summary(t, before, e); got != tc.want {
				t.Errorf("got  %s\nwant %s", got, tc.want)
			}
		})
	}
}

// TestPatchRefuses changes a Workspace between plan and patch: the patch must not
// apply to what it was not planned for.
func TestPatchRefuses(t *testing.T) {
	one, two := "[{secretName: a, mountPath: /a}]", "[{secretName: a, mountPath: /a}, {secretName: b, mountPath: /b}]"
	add := func(w map[string]any) (Edit, error) { return Add(w, nil, mounts(t, "n"), false) }
	replace := func(w map[string]any) (Edit, error) { return Add(w, nil, mounts(t, "n=/b"), true) }
	remove := func(w map[string]any) (Edit, error) { return Remove(w, Selection{Paths: []string{"/b"}}) }
	all := func(w map[string]any) (Edit, error) { return Remove(w, Selection{All: true}) }
	tests := map[string]struct {
		plan          func(map[string]any) (Edit, error)
		before, after string
		applies       bool
	}{
		"add to a list that has grown":         {add, one, two, true},
		"add to a list that has shrunk":        {add, two, one, true},
		"add to a list that is gone":           {add, one, "", false},
		"first add after somebody else's":      {add, "", one, false},
		"replace what moved":                   {replace, two, "[{secretName: b, mountPath: /b}]", false},
		"replace what has changed":             {replace, two, "[{secretName: a, mountPath: /a}, {secretName: b, mountPath: /b, defaultMode: 0}]", false},
		"remove what moved":                    {remove, two, "[{secretName: b, mountPath: /b}, {secretName: a, mountPath: /a}]", false},
		"remove while others are appended":     {remove, two, "[{secretName: a, mountPath: /a}, {secretName: b, mountPath: /b}, {secretName: c, mountPath: /c}]", true},
		"remove all while others are appended": {all, one, two, false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			e, err := tc.plan(workspace(t, tc.before))
			if err != nil {
				t.Fatal(err)
			}
			after := workspace(t, tc.after)
			if _, err := e.Apply(after); (err == nil) != tc.applies {
				t.Errorf("applies: %v, want %v (%v)", err == nil, tc.applies, err)
			}
			after["metadata"].(map[string]any)["uid"] = "u-2"
			if _, err := e.Apply(after); err == nil {
				t.Error("applies to another Workspace of the same name")
			}
		})
	}
}

// TestProperties checks on random Workspaces what must hold for all of them.
func TestProperties(t *testing.T) {
	kind := object(t, kindText)
	for seed := range uint64(500) {
		r := rand.New(rand.NewPCG(seed, 1))
		before := randomWorkspace(t, r)
		original := encode(t, before)
		names := []string{"new=/new/1:0", "new=/new/2", "other=/new<&>/3:0777"}[:1+r.IntN(3)]
		wanted := mounts(t, names...)

		added, err := Add(before, kind, wanted, false)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		after := apply(t, added, before)
		if encode(t, before) != original {
			t.Fatalf("seed %d: planning or applying changes the input", seed)
		}
		list, err := List(after)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if had, _ := List(before); len(list) != len(had)+len(wanted) || !equalMounts(list[:len(had)], had) {
			t.Fatalf("seed %d: %v became %v", seed, had, list)
		}

		again, err := Add(after, kind, wanted, r.IntN(2) == 0)
		if err != nil || again.Changed() {
			t.Fatalf("seed %d: adding again: %+v, %v", seed, again.Results, err)
		}
		if patch, _ := again.Patch(); patch != nil {
			t.Fatalf("seed %d: adding again sends %s", seed, patch)
		}

		var s Selection
		for _, m := range wanted {
			s.Paths = append(s.Paths, m.MountPath)
		}
		r.Shuffle(len(s.Paths), func(i, j int) { s.Paths[i], s.Paths[j] = s.Paths[j], s.Paths[i] })
		removed, err := Remove(after, s)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if got := encode(t, apply(t, removed, after)); got != original {
			t.Fatalf("seed %d: adding and removing is not the identity:\n%s\n%s", seed, original, got)
		}
	}
}

func randomWorkspace(t testing.TB, r *rand.Rand) map[string]any {
	w := workspace(t, "")
	volumes := w["spec"].(map[string]any)["podTemplate"].(map[string]any)["volumes"].(map[string]any)
	var list []any
	for i := range r.IntN(5) {
		e := map[string]any{"secretName": fmt.Sprintf("s-%d", r.IntN(3)), "mountPath": fmt.Sprintf("/old & <%d>%s", i, []string{"", "/"}[r.IntN(2)])}
		if r.IntN(2) == 0 {
			e["defaultMode"] = int64(r.IntN(maxMode+1)) * int64(r.IntN(2))
		}
		if r.IntN(2) == 0 {
			e["future"] = map[string]any{"items": []any{int64(1), 2.5, "\u2028", nil, true}}
		}
		list = append(list, e)
	}
	// An empty list has no way back: the last removal takes the list away.
	if len(list) > 0 {
		volumes["secrets"] = list
	}
	return w
}

func apply(t testing.TB, e Edit, w map[string]any) map[string]any {
	t.Helper()
	after, err := e.Apply(w)
	if err != nil {
		t.Fatal(err)
	}
	return after
}

func encode(t testing.TB, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func equalMounts(a, b []Mount) bool {
	return slices.EqualFunc(a, b, func(x, y Mount) bool {
		return x.SecretName == y.SecretName && x.MountPath == y.MountPath && (x.DefaultMode == nil) == (y.DefaultMode == nil) && x.Mode() == y.Mode()
	})
}

// The library that applies patches panics on a null in a list, if it is asked to test one;
// API servers use it, too. So a server is asked for the version, and a manifest, which has
// none, is compared here.
func TestNullsInListsAreNotTested(t *testing.T) {
	for name, version := range map[string]any{"on a server": "7", "in a manifest": nil} {
		t.Run(name, func(t *testing.T) {
			w := workspace(t, "")
			w["spec"].(map[string]any)["podTemplate"].(map[string]any)["volumes"].(map[string]any)["future"] = []any{nil}
			w["metadata"].(map[string]any)["resourceVersion"] = version
			e, err := Add(w, nil, mounts(t, "a"), false)
			if err != nil {
				t.Fatal(err)
			}
			patch, err := e.Patch()
			if tested := bytes.Contains(patch, []byte("null")); err != nil || tested != (version == nil) {
				t.Errorf("%v, patch %s", err, patch)
			}
			after, err := e.Apply(w)
			if err != nil {
				t.Fatal(err)
			}
			if version != nil {
				after["metadata"].(map[string]any)["resourceVersion"] = "8"
			}
			if _, err := e.Apply(after); err == nil {
				t.Error("a patch applies although what it tests has changed")
			}
		})
	}
}
