package cluster

import (
	"bufio"
	"bytes"
	stdjson "encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/json"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-workspace/kubectl-workspace/pkg/facts"
)

// SnapshotKind is the kind of the document that the snapshot command writes; its
// apiVersion is facts.APIVersion.
const SnapshotKind = "Snapshot"

// Snapshot is a dump of what describe would read, with what it may conclude from
// an object not being in it.
type Snapshot struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	// CapturedAt is the "now" of every age.
	CapturedAt time.Time `json:"capturedAt"`
	// Namespaces bound Complete for namespaced kinds; empty means all namespaces.
	Namespaces []string `json:"namespaces,omitempty"`
	// Complete names the kinds of which Items holds every object.
	Complete []string `json:"complete,omitempty"`
	// Lists are selections of which Items holds every object.
	Lists []ListClaim `json:"lists,omitempty"`
	// Absent names objects that the server said do not exist, "Kind/namespace/name"
	// or "Kind/name".
	Absent []string `json:"absent,omitempty"`
	// Unchecked names what the server did not answer.
	Unchecked []facts.Unchecked `json:"unchecked,omitempty"`
	// Server is the version of the API server.
	Server string `json:"server,omitempty"`
	// Items are the objects.
	Items []map[string]any `json:"items"`
}

// ListClaim says that a snapshot holds every object of a kind that was selected in one
// way, as opposed to every object of the kind.
type ListClaim struct {
	Kind      string `json:"kind"`
	Namespace string `json:"namespace,omitempty"`
	// Labels is a label selector.
	Labels string `json:"labels,omitempty"`
	// About is "Kind/name" of the object that Events are about.
	About string `json:"about,omitempty"`
}

func claimOf(r Resource, opts ListOptions) ListClaim {
	c := ListClaim{Kind: r.Kind, Namespace: opts.Namespace, Labels: opts.labelSelector().String()}
	if opts.About != nil {
		c.About = opts.About.Kind + "/" + opts.About.Name
	}
	return c
}

// OpenSnapshot reads the given files into a Store. Each path is a file with one or
// more YAML or JSON documents, a directory that is searched for such files, or "-"
// for stdin. Documents are objects, lists of objects, or a Snapshot; only a
// Snapshot claims anything about objects that are not in it.
//
// now overrides the time that ages are relative to; if it is zero, it is the latest
// capturedAt, else the newest time found in the objects.
func OpenSnapshot(paths []string, stdin io.Reader, now time.Time) (*Store, error) {
	l := snapshotLoader{store: NewStore(time.Time{})}
	for _, path := range paths {
		if err := l.path(path, stdin); err != nil {
			return nil, err
		}
	}
	if l.documents == 0 {
		return nil, fmt.Errorf("no Kubernetes objects in %s", strings.Join(paths, ", "))
	}
	switch {
	case !now.IsZero():
		l.store.now = now
	case !l.captured.IsZero():
		l.store.now = l.captured
	default:
		l.store.now = l.newest
	}
	return l.store, nil
}

type snapshotLoader struct {
	store *Store
	// documents counts what was taken in, to tell an empty directory from a cluster.
	documents int
	captured  time.Time
	newest    time.Time
}

func (l *snapshotLoader) path(path string, stdin io.Reader) error {
	if path == "" {
		return errors.New("--snapshot is empty: name a file or a directory, or '-' for stdin")
	}
	if path == "-" {
		return l.read("stdin", stdin)
	}
	info, err := os.Stat(path)
	if err != nil {
		return fmt.Errorf("cannot read the snapshot: %w", err)
	}
	if !info.IsDir() {
		return l.file(path)
	}
	return filepath.WalkDir(path, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return fmt.Errorf("cannot read the snapshot: %w", err)
		}
		if d.IsDir() || !slices.Contains([]string{".yaml", ".yml", ".json"}, strings.ToLower(filepath.Ext(p))) {
			return nil
		}
		// Dumps hold all sorts of files. One that is not what its name promises must
		// not cost the rest, but is not passed over in silence either.
		if err := l.file(p); err != nil {
			l.store.Skipped = append(l.store.Skipped, err)
		}
		return nil
	})
}

func (l *snapshotLoader) file(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("cannot read the snapshot: %w", err)
	}
	defer f.Close()
	return l.read(path, f)
}

func (l *snapshotLoader) read(name string, in io.Reader) error {
	documents := utilyaml.NewYAMLReader(bufio.NewReader(in))
	for n := 1; ; n++ {
		doc, err := documents.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = l.document(doc)
		}
		if err != nil {
			return fmt.Errorf("%s, document %d: %w", name, n, err)
		}
	}
}

// document takes one document. JSON is not left to the YAML parser, which takes many
// times as long; and it may be several values in a row, as in the output of kubectl
// cluster-info dump.
func (l *snapshotLoader) document(doc []byte) error {
	if utilyaml.IsJSONBuffer(doc) {
		// YAML may begin with a brace, too.
		if values, err := jsonValues(doc); err == nil {
			for _, v := range values {
				if err := l.value(v, json.Unmarshal); err != nil {
					return err
				}
			}
			return nil
		}
	}
	return l.value(doc, func(doc []byte, into any) error { return yaml.Unmarshal(doc, into) })
}

func jsonValues(doc []byte) ([]stdjson.RawMessage, error) {
	var values []stdjson.RawMessage
	for d := stdjson.NewDecoder(bytes.NewReader(doc)); ; {
		var v stdjson.RawMessage
		switch err := d.Decode(&v); {
		case errors.Is(err, io.EOF):
			return values, nil
		case err != nil:
			return nil, err
		}
		values = append(values, v)
	}
}

// value takes one object, list or Snapshot.
func (l *snapshotLoader) value(text []byte, unmarshal func([]byte, any) error) error {
	isSnapshot := func(apiVersion, kind any) bool { return kind == SnapshotKind && apiVersion == facts.APIVersion }
	var s Snapshot
	var invalid error
	// Decoding takes the time here: twice only what may well be a Snapshot and is none.
	if bytes.Contains(text, []byte(facts.APIVersion)) {
		if invalid = unmarshal(text, &s); invalid == nil && isSnapshot(s.APIVersion, s.Kind) {
			return l.snapshot(s)
		}
	}
	var content map[string]any
	if err := unmarshal(text, &content); err != nil {
		var wrong *stdjson.UnmarshalTypeError
		if errors.As(err, &wrong) {
			return fmt.Errorf("not a Kubernetes object but %s", jsonValue(wrong.Value))
		}
		return fmt.Errorf("neither YAML nor JSON: %s", firstLine(err))
	}
	switch {
	case len(content) == 0:
		return nil
	case isSnapshot(content["apiVersion"], content["kind"]):
		return fmt.Errorf("not a valid Snapshot: %s", firstLine(invalid))
	}
	return l.add(content)
}

func (l *snapshotLoader) snapshot(s Snapshot) error {
	l.documents++
	if s.CapturedAt.After(l.captured) {
		l.captured = s.CapturedAt
	}
	for _, ns := range s.Namespaces {
		l.store.namespaces[ns] = true
	}
	for _, kind := range s.Complete {
		l.store.complete[kind] = true
	}
	for _, claim := range s.Lists {
		l.store.lists[claim] = true
	}
	for _, object := range s.Absent {
		l.store.absent[object] = true
	}
	for _, u := range s.Unchecked {
		l.store.unanswered[u.Object] = &recordedError{u.Reason, u.Detail}
	}
	for i, item := range s.Items {
		if err := l.add(item); err != nil {
			return fmt.Errorf("item %d: %w", i, err)
		}
	}
	return nil
}

// add takes one object or one list. Items of a list such as PodList, as kubectl
// cluster-info dump writes them, do not carry their own kind.
func (l *snapshotLoader) add(content map[string]any) error {
	kind, _ := content["kind"].(string)
	apiVersion, _ := content["apiVersion"].(string)
	if items, ok := listItems(kind, content); ok {
		for i, item := range items {
			object, ok := item.(map[string]any)
			if !ok {
				return fmt.Errorf("item %d is not an object", i)
			}
			if object["kind"] == nil && kind != "List" {
				object["kind"], object["apiVersion"] = strings.TrimSuffix(kind, "List"), apiVersion
			}
			if err := l.add(object); err != nil {
				return fmt.Errorf("item %d: %w", i, err)
			}
		}
		return nil
	}
	if kind == "" || apiVersion == "" {
		return errors.New("not a Kubernetes object: kind or apiVersion is missing")
	}
	u := &unstructured.Unstructured{Object: normalise(content).(map[string]any)}
	if kind == "Event" && apiVersion == "events.k8s.io/v1" {
		u = coreEvent(u)
	}
	if u.GetName() == "" {
		return fmt.Errorf("%s without a name", kind)
	}
	l.store.Add(u)
	l.documents++
	l.scanTimes(u.Object)
	return nil
}

// listItems are the items of a list; null is what Go programs write for none.
func listItems(kind string, content map[string]any) ([]any, bool) {
	items, present := content["items"]
	list, ok := items.([]any)
	return list, present && (ok || items == nil) && strings.HasSuffix(kind, "List")
}

// normalise turns the numbers that a YAML decoder gives into the two kinds that
// unstructured objects hold.
func normalise(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for k, item := range v {
			v[k] = normalise(item)
		}
	case []any:
		for i, item := range v {
			v[i] = normalise(item)
		}
	case float64:
		if i := int64(v); float64(i) == v {
			return i
		}
	case int:
		return int64(v)
	}
	return v
}

// coreEvent rewrites an events.k8s.io/v1 Event in the core/v1 shape. Both are views
// of one stored object; the field names differ.
func coreEvent(u *unstructured.Unstructured) *unstructured.Unstructured {
	o := u.Object
	move := func(from, to string) {
		if v, ok := o[from]; ok {
			o[to] = v
			delete(o, from)
		}
	}
	o["apiVersion"] = "v1"
	move("regarding", "involvedObject")
	move("note", "message")
	move("reportingController", "reportingComponent")
	move("deprecatedFirstTimestamp", "firstTimestamp")
	move("deprecatedLastTimestamp", "lastTimestamp")
	move("deprecatedCount", "count")
	move("deprecatedSource", "source")
	return u
}

// timeFields are the fields that tell when something was observed. Others may hold
// any date, such as that of a certificate's expiry.
var timeFields = map[string]bool{
	"creationTimestamp": true, "firstTimestamp": true, "lastTimestamp": true, "eventTime": true,
	"lastObservedTime": true, "lastTransitionTime": true, "startedAt": true, "finishedAt": true, "startTime": true,
}

func (l *snapshotLoader) scanTimes(v any) {
	switch v := v.(type) {
	case map[string]any:
		for k, item := range v {
			s, ok := item.(string)
			if !ok {
				l.scanTimes(item)
				continue
			}
			if timeFields[k] {
				if t, err := time.Parse(time.RFC3339Nano, s); err == nil && t.After(l.newest) {
					l.newest = t
				}
			}
		}
	case []any:
		for _, item := range v {
			l.scanTimes(item)
		}
	}
}

func firstLine(err error) string {
	s, _, _ := strings.Cut(err.Error(), "\n")
	return s
}
