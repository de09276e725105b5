package manifest

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-workspace/kubectl-workspace/pkg/secretmount"
)

func adding(t testing.TB, overwrite bool, args ...string) Plan {
	t.Helper()
	var mounts []secretmount.Mount
	for _, a := range args {
		m, err := secretmount.Parse(a)
		if err != nil {
			t.Fatal(err)
		}
		mounts = append(mounts, m)
	}
	return func(w map[string]any) (*secretmount.Edit, error) {
		e, err := secretmount.Add(w, nil, mounts, overwrite)
		return &e, err
	}
}

func removing(s secretmount.Selection) Plan {
	return func(w map[string]any) (*secretmount.Edit, error) {
		e, err := secretmount.Remove(w, s)
		return &e, err
	}
}

// head begins a Workspace; what follows is indented below volumes.
const head = `# alice's notebook
apiVersion: kubeflow.org/v1beta1   # of today
kind: Workspace
metadata: {name: alice,   namespace: "team-a"}
spec:
  podTemplate:
    volumes:
`

func TestEdit(t *testing.T) {
	add := func(args ...string) Plan { return adding(t, false, args...) }
	overwrite := func(args ...string) Plan { return adding(t, true, args...) }
	remove := func(secrets ...string) Plan { return removing(secretmount.Selection{Secrets: secrets}) }
	const (
		a  = "      - secretName: a\n        mountPath: /a   # by hand\n"
		b  = "      - {mountPath: /b, secretName: \"b\"}\n"
		n  = "      - secretName: new\n        mountPath: /n\n        defaultMode: 420\n"
		nf = "      - {secretName: new, mountPath: /n, defaultMode: 420}\n"
	)
	for name, c := range map[string]struct {
		plan       Plan
		text, want string
		err        string
	}{
		"append": {
			plan: add("new=/n"), text: head + "      secrets:\n" + a + "      # the end\n      home: h\n",
			want: head + "      secrets:\n" + a + n + "      # the end\n      home: h\n",
		},
		"append in the style of the last": {plan: add("new=/n"), text: head + "      secrets:\n" + a + b, want: head + "      secrets:\n" + a + b + nf},
		"append, deeper dashes, wide gap": {
			plan: add("new=/n"), text: head + "      secrets:\n         -   secretName: a\n             mountPath: /a\n",
			want: head + "      secrets:\n         -   secretName: a\n             mountPath: /a\n         -   secretName: new\n             mountPath: /n\n             defaultMode: 420\n",
		},
		"append, no end of line": {
			plan: add("new=/n"), text: head + "      secrets:\n" + strings.TrimSuffix(b, "\n"),
			want: head + "      secrets:\n" + b + strings.TrimSuffix(nf, "\n"),
		},
		"append, CRLF": {
			plan: add("new=/n"), text: strings.ReplaceAll(head+"      secrets:\n"+a, "\n", "\r\n"),
			want: strings.ReplaceAll(head+"      secrets:\n"+a+n, "\n", "\r\n"),
		},
		"two at once": {
			plan: add("new=/n", "m=/m:0400"), text: head + "      secrets:\n" + a,
			want: head + "      secrets:\n" + a + n + "      - secretName: m\n        mountPath: /m\n        defaultMode: 256\n",
		},
		"names that YAML takes for something else": {
			plan: add("123=/a b#c", "true=/yes"), text: head + "      secrets: [{secretName: \"null\", mountPath: /null}]\n",
			want: head + "      secrets: [{secretName: \"null\", mountPath: /null}, {secretName: \"123\", mountPath: \"/a b#c\", defaultMode: 420}, {secretName: \"true\", mountPath: /yes, defaultMode: 420}]\n",
		},
		"make the list": {
			plan: add("new=/n"), text: head + "      home: h # keep\n      data:\n        - pvcName: d\n          mountPath: /d\n",
			want: head + "      home: h # keep\n      data:\n        - pvcName: d\n          mountPath: /d\n      secrets:\n        - secretName: new\n          mountPath: /n\n          defaultMode: 420\n",
		},
		"list is empty": {plan: add("new=/n"), text: head + "      secrets: [ ] # none\n      home: h\n", want: head + "      secrets: # none\n" + n + "      home: h\n"},
		"list is null":  {plan: add("new=/n"), text: head + "      secrets:\n      home: h\n", want: head + "      secrets:\n" + n + "      home: h\n"},
		"list is null at the end": {
			plan: add("new=/n"), text: head + "      secrets: null", want: head + "      secrets:\n" + strings.TrimSuffix(n, "\n"),
		},
		"volumes are empty": {
			plan: add("new=/n"), text: strings.Replace(head, "volumes:", "volumes: {}", 1) + "  kind: k\n",
			want: head + "      secrets:\n" + n + "  kind: k\n",
		},
		"no volumes": {
			plan: add("new=/n"), text: strings.Replace(head, "volumes:", "options: {}", 1), want: strings.Replace(head, "volumes:", "options: {}\n    volumes:", 1) + "      secrets:\n" + n,
		},
		"overwrite": {
			plan: overwrite("new=/a:0400"), text: head + "      secrets:\n" + a + b,
			want: head + "      secrets:\n      - secretName: new\n        mountPath: /a   # by hand\n        defaultMode: 256\n" + b,
		},
		"overwrite in brackets": {
			plan: overwrite("new=/b:0400"), text: head + "      secrets:\n" + a + b,
			want: head + "      secrets:\n" + a + "      - {mountPath: /b, secretName: new, defaultMode: 256}\n",
		},
		"remove the first": {plan: remove("a"), text: head + "      secrets:\n" + a + b + "      home: h\n", want: head + "      secrets:\n" + b + "      home: h\n"},
		"remove the last":  {plan: remove("b"), text: head + "      secrets:\n" + a + b + "      # the end\n", want: head + "      secrets:\n" + a + "      # the end\n"},
		"remove all":       {plan: removing(secretmount.Selection{All: true}), text: head + "      home: h\n      secrets:\n" + a + b + "  kind: k\n", want: head + "      home: h\n  kind: k\n"},
		"remove all there is": {
			plan: removing(secretmount.Selection{All: true}), text: head + "      secrets:\n" + a + b + "  kind: k\n",
			want: strings.Replace(head, "volumes:", "volumes: {}", 1) + "  kind: k\n",
		},
		"remove in brackets": {
			plan: remove("b"), text: head + "      secrets: [{secretName: a, mountPath: /a}, {secretName: b, mountPath: /b} , {secretName: c, mountPath: /c}]\n",
			want: head + "      secrets: [{secretName: a, mountPath: /a} , {secretName: c, mountPath: /c}]\n",
		},
		"remove in brackets with comments": {
			plan: remove("b"), text: head + "      secrets: [\n        {secretName: a, mountPath: /a}, # one\n        {secretName: b, mountPath: /b}  # two\n      ]\n",
			want: head + "      secrets: [\n        {secretName: a, mountPath: /a} # one\n          # two\n      ]\n",
		},
		"several documents": {
			plan: add("new=/n"),
			text: "%YAML 1.1\n---\n# nothing\n---\nkind:   ConfigMap\ndata: {x: |-\n  --}\n---\n" + head + "      secrets:\n" + a + "...\n" + head + "      secrets:\n" + b,
			err:  "line 6: ",
		},
		"other documents stay": {
			plan: add("new=/n"),
			text: "# nothing\n---\nkind:   ConfigMap\ndata:\n    x: |\n      ---a\n\n---\n" + head + "      secrets:\n" + a + "...\n" + head + "      secrets:\n" + b + "--- {kind: Workspace}\n",
			want: "# nothing\n---\nkind:   ConfigMap\ndata:\n    x: |\n      ---a\n\n---\n" + head + "      secrets:\n" + a + n + "...\n" + head + "      secrets:\n" + b + nf + "--- {kind: Workspace}\n",
		},
		"a list of objects": {
			plan: add("new=/n"),
			text: "apiVersion: v1\nkind: List\nitems:\n- kind: Secret\n- apiVersion: kubeflow.org/v1beta1\n  kind: Workspace\n  spec:\n    podTemplate:\n      volumes:\n        home: h\n",
			want: "apiVersion: v1\nkind: List\nitems:\n- kind: Secret\n- apiVersion: kubeflow.org/v1beta1\n  kind: Workspace\n  spec:\n    podTemplate:\n      volumes:\n        home: h\n        secrets:\n        - secretName: new\n          mountPath: /n\n          defaultMode: 420\n",
		},
		"JSON on one line": {
			plan: add("new=/n"),
			text: `{"apiVersion":"kubeflow.org/v1beta1","kind":"Workspace","x":"\ud83d\ude00\/","spec":{"podTemplate":{"volumes":{}}}}`,
			want: `{"apiVersion":"kubeflow.org/v1beta1","kind":"Workspace","x":"\ud83d\ude00\/","spec":{"podTemplate":{"volumes":{"secrets": [{"secretName": "new", "mountPath": "/n", "defaultMode": 420}]}}}}`,
		},
		"JSON over many lines, with tabs": {
			plan: add("new=/n"),
			text: "{\n\t\"apiVersion\": \"kubeflow.org/v1beta1\", \"kind\": \"Workspace\",\n\t\"spec\": {\"podTemplate\": {\"volumes\": {\"secrets\": [\n\t\t{\n\t\t\t\"secretName\": \"a\", \"mountPath\": \"/a\"\n\t\t}\n\t]}}}\n}\n",
			want: "{\n\t\"apiVersion\": \"kubeflow.org/v1beta1\", \"kind\": \"Workspace\",\n\t\"spec\": {\"podTemplate\": {\"volumes\": {\"secrets\": [\n\t\t{\n\t\t\t\"secretName\": \"a\", \"mountPath\": \"/a\"\n\t\t},\n" +
				"\t\t{\n\t\t\t\"defaultMode\": 420,\n\t\t\t\"mountPath\": \"/n\",\n\t\t\t\"secretName\": \"new\"\n\t\t}\n\t]}}}\n}\n",
		},
		"literal text at the end": {
			plan: add("new=/n"), text: head + "      future: |\n        text\n        # no comment\n\n# comment\n",
			want: head + "      future: |\n        text\n        # no comment\n      secrets:\n" + n + "\n# comment\n",
		},
		"BOM": {plan: add("new=/n"), text: "\ufeff" + head + "      secrets:\n" + a, want: "\ufeff" + head + "      secrets:\n" + a + n},
		"an alias": {
			plan: add("new=/n"), text: "x: &s [{secretName: a, mountPath: /a}]\n" + head + "      secrets: *s\n", err: "an alias is in the way); edit it by hand",
		},
		"a merge": {
			plan: add("new=/n"), text: "x: &s {secrets: [{secretName: a, mountPath: /a}]}\n" + head + "      <<: *s\n", err: "edit it by hand",
		},
		"a key twice":    {plan: add("new=/n"), text: head + "      secrets: []\n      secrets:\n" + a, err: "something else would change"},
		"not a list":     {plan: add("new=/n"), text: head + "      secrets: {}\n", err: "secrets is not a list"},
		"not YAML":       {plan: add("new=/n"), text: head + "\t- x\n", err: "line 8: "},
		"taken":          {plan: add("new=/a"), text: head + "      secrets:\n" + a, err: `Secret "a" is mounted there`},
		"nothing at all": {plan: add("new=/n"), text: "", want: ""},
	} {
		t.Run(name, func(t *testing.T) {
			got, changes, err := Edit([]byte(c.text), c.plan)
			for _, ch := range changes {
				if err == nil {
					err = ch.Err
				}
			}
			if c.err != "" {
				if err == nil || !strings.Contains(err.Error(), c.err) {
					t.Errorf("error %v, want %q; text:\n%s", err, c.err, got)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, string(got)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// FuzzEdit adds a mount to arbitrary text. It may refuse, but never fails in another
// way, and the text differs at one place only: what is inserted replaces at most an
// empty value.
func FuzzEdit(f *testing.F) {
	for _, text := range []string{
		head + "      secrets:\n      - secretName: a\n        mountPath: /a\n",
		head + "      secrets: [{secretName: a, mountPath: /a}] # x\n      home: h\n---\nkind: List\n",
		head + "      secrets: # x\n", head + "      data: []\n", head + "      {}\n", "\ufeff--- !x\n" + head + "      home: |2-\n          x\n",
		`{"apiVersion":"kubeflow.org/v1beta1","kind":"Workspace","spec":{"podTemplate":{"volumes":{"secrets":[]}}}}`,
		"kind: List\nitems:\n- apiVersion: kubeflow.org/v1\n  kind: Workspace\n  spec: {podTemplate: {volumes: {home: \"h\",\n   secrets: null}}}\n",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, changes, err := Edit([]byte(text), adding(t, false, "n-e-w=/n-e-w"))
		edited := 0
		for _, c := range changes {
			if c.Err == nil && c.Edit.Changed() {
				edited++
			}
		}
		switch {
		case err != nil:
			return
		case edited == 0:
			if string(got) != text {
				t.Errorf("nothing was edited, and the text changed: %q", got)
			}
		case edited == 1:
			begin := 0
			for begin < len(text) && begin < len(got) && text[begin] == got[begin] {
				begin++
			}
			end := 0
			for end < len(text)-begin && end < len(got)-begin && text[len(text)-1-end] == got[len(got)-1-end] {
				end++
			}
			// The places can be a comment apart: "secrets: [] # none".
			gone := text[begin : len(text)-end]
			if value, comment, _ := strings.Cut(gone, "#"); len(strings.Trim(value, "[]{}~nulNUL \t\r\n")) > 0 || !strings.Contains(string(got), comment) {
				t.Errorf("%q is gone from %q: %q", gone, text, got)
			}
		}
	})
}

// FuzzRemove takes away what was added: the text is as before, but for what an empty
// list was written as.
func FuzzRemove(f *testing.F) {
	f.Add(head + "      secrets:\n      - secretName: a\n        mountPath: /a\n# end")
	f.Add(head + "      secrets: [{secretName: a, mountPath: /a}] # x\n      home: h\n")
	f.Fuzz(func(t *testing.T, text string) {
		added, changes, err := Edit([]byte(text), adding(t, false, "n-e-w=/n-e-w"))
		if err != nil || len(changes) != 1 || changes[0].Err != nil || len(changes[0].After) == 0 {
			return
		}
		mounts, err := secretmount.List(changes[0].After)
		if err != nil || len(mounts) < 2 {
			return
		}
		got, changes, err := Edit(added, removing(secretmount.Selection{Secrets: []string{"n-e-w"}, All: true}))
		if err != nil {
			t.Fatal(err)
		}
		if changes[0].Err == nil && strings.TrimRight(string(got), "\r\n") != strings.TrimRight(text, "\r\n") {
			t.Errorf("%q\nbecame %q\nand then %q", text, added, got)
		}
	})
}
