package doctest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const page = "# A page\n\nRun `kubectl workspace\nlist -A`, see [there](#a-heading) and [nowhere](#no-heading) or [no file](gone.md).\n\n" +
	"<!-- as alice -->\n<!-- notebook a=/b c=/d -->\n<!-- controller -->\n\n<!-- setup\none 1\ntwo 2\n-->\n\n" +
	"```yaml notebook.yaml\nkind: Workspace\n```\n\n" +
	"## A heading\n\n<!-- until done -->\n\n" +
	"```console\n$ kubectl workspace list | sort\nalice  3m20s\n$ kubectl workspace wait \\\n    alice\n```\n\n" +
	"```\nkubectl workspace describe 'a b' > file   # why\nkubectl workspace says (hello\n```\n\n" +
	"```console\n$ long\nfirst\n…\nlast\n```\n"

func TestCommands(t *testing.T) {
	commands, err := parse("page.md", []byte(strings.Replace(page, "kubectl workspace says", "The kubectl workspace says", 1))).Commands("kubectl", "workspace")
	if err != nil {
		t.Fatal(err)
	}
	want := []Command{
		{[]string{"kubectl", "workspace", "list"}, false, "page.md:24"},
		{[]string{"kubectl", "workspace", "wait", "alice"}, false, "page.md:26"},
		{[]string{"kubectl", "workspace", "describe", "a b"}, false, "page.md:31"},
		{[]string{"kubectl", "workspace", "list", "-A"}, true, "page.md:3"},
	}
	if diff := cmp.Diff(want, commands); diff != "" {
		t.Error(diff)
	}
	if _, err := parse("page.md", []byte(page)).Commands("kubectl", "workspace"); err == nil || !strings.Contains(err.Error(), "page.md:32") {
		t.Errorf("a command that sh would refuse: %v", err)
	}
}

func TestDeadLinks(t *testing.T) {
	dead := parse(filepath.Join(t.TempDir(), "page.md"), []byte(page)).DeadLinks()
	if len(dead) != 2 || !strings.Contains(dead[0].Error(), "#no-heading") || !strings.Contains(dead[1].Error(), "gone.md") {
		t.Errorf("dead links: %v", dead)
	}
}

// stage answers from a table and notes what it is told.
type stage struct {
	answers map[string]string
	done    []string
}

func (s *stage) Notebook(_ testing.TB, mounts []string) {
	s.done = append(s.done, "notebook "+strings.Join(mounts, ","))
}

func (s *stage) Setup(_ testing.TB, script string) { s.done = append(s.done, "setup "+script) }

func (s *stage) Run(_ testing.TB, command string) string {
	s.done = append(s.done, "run "+command)
	return s.answers[command]
}

func (s *stage) Until(_ testing.TB, command, text string) string {
	s.done = append(s.done, "until "+text+": "+command)
	return s.answers[command]
}

func (s *stage) Save(_ testing.TB, name, content string) {
	s.done = append(s.done, "save "+name+": "+content)
}
func (s *stage) StartController(testing.TB)      { s.done = append(s.done, "controller") }
func (s *stage) As(_ testing.TB, persona string) { s.done = append(s.done, "as "+persona) }
func (s *stage) Stable(output string) string     { return strings.ReplaceAll(output, "ns-17", "team-a") }

// report is a test that may fail.
type report struct {
	testing.TB
	failed bool
}

func (r *report) Helper()               {}
func (r *report) Errorf(string, ...any) { r.failed = true }
func (r *report) Failed() bool          { return r.failed }

func TestPlay(t *testing.T) {
	const list, wait, long = "kubectl workspace list | sort", "kubectl workspace wait \\\n    alice", "long"
	for name, c := range map[string]struct {
		change map[string]string
		fails  bool
	}{
		"as shown":       {},
		"another age":    {change: map[string]string{list: "alice  1h2m\n"}},
		"another name":   {change: map[string]string{list: "bob  3m20s\n"}, fails: true},
		"a line more":    {change: map[string]string{wait: "done\n"}, fails: true},
		"more between":   {change: map[string]string{long: "first\na\nb\nc\nlast\n"}},
		"none between":   {change: map[string]string{long: "first\nlast\n"}},
		"another end":    {change: map[string]string{long: "first\na\nb\nc\n"}, fails: true},
		"nothing at all": {change: map[string]string{long: ""}, fails: true},
	} {
		t.Run(name, func(t *testing.T) {
			s := &stage{answers: map[string]string{list: "alice  3m20s\n", long: "first\nsecond\nlast\n"}}
			for command, output := range c.change {
				s.answers[command] = output
			}
			r := &report{TB: t}
			parse("page.md", []byte(page)).Play(r, s)
			if r.failed != c.fails {
				t.Errorf("failed: %v", r.failed)
			}
			want := []string{"as alice", "notebook a=/b,c=/d", "controller", "setup one 1\ntwo 2", "save notebook.yaml: kind: Workspace\n", "until done: " + list, "run " + wait, "run long"}
			if diff := cmp.Diff(want, s.done); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// With -update a page shows what is printed now, and what did not change stays as it is.
func TestUpdate(t *testing.T) {
	*update = true
	defer func() { *update = false }()
	file := filepath.Join(t.TempDir(), "page.md")
	s := &stage{answers: map[string]string{
		"kubectl workspace list | sort": "alice  5m\n", "kubectl workspace wait \\\n    alice": "ns-17 done\n", "long": "1\n2\n3\n4\n",
	}}
	parse(file, []byte(page)).Play(t, s)
	got, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Replace(page, "    alice\n", "    alice\nteam-a done\n", 1)
	want = strings.Replace(want, "first\n…\nlast\n", "1\n…\n4\n", 1)
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Error(diff)
	}
}
