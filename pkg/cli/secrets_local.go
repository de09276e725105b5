package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-workspace/kubectl-workspace/pkg/render"
	"github.com/kubectl-workspace/kubectl-workspace/pkg/secretmount"
	"github.com/kubectl-workspace/kubectl-workspace/pkg/secretmount/manifest"
)

// planLocal plans without a cluster: the paths of the WorkspaceKind are not known.
func (o *secretsAddOptions) planLocal(workspace map[string]any) (secretmount.Edit, error) {
	return secretmount.Add(workspace, nil, o.mounts, o.overwrite)
}

// runLocal edits manifests and prints them. The files stay as they are.
func (o *writeOptions) runLocal(plan func(workspace map[string]any) (secretmount.Edit, error)) error {
	files, err := o.manifests()
	if err != nil {
		return err
	}
	var (
		found  = map[string]bool{}
		total  int
		failed []error
		out    bytes.Buffer
	)
	for _, f := range files {
		edited, changes, err := manifest.Edit(f.text, func(workspace map[string]any) (*secretmount.Edit, error) {
			u := unstructured.Unstructured{Object: workspace}
			if len(o.names) > 0 && !slices.Contains(o.names, u.GetName()) || !o.labels.Matches(labels.Set(u.GetLabels())) {
				return nil, nil
			}
			edit, err := plan(workspace)
			return &edit, err
		})
		if err != nil {
			return fmt.Errorf("%s: %w", f.name, err)
		}
		for _, c := range changes {
			total++
			found[c.Name] = true
			if c.Err != nil {
				failed = append(failed, fmt.Errorf("%s: workspace %q: %w", f.name, c.Name, c.Err))
				continue
			}
			if err := o.tellLocal(&change{writeOptions: o, name: c.Name, outcomeOf: outcomeOf{
				edit: c.Edit, after: &unstructured.Unstructured{Object: c.After}}}); err != nil {
				return err
			}
		}
		switch {
		case o.printer != nil:
		case o.diff:
			if err := o.writeDiff(f.name, f.name, f.text, edited); err != nil {
				return err
			}
		default:
			appendManifest(&out, edited)
		}
	}
	for _, name := range o.names {
		if !found[name] {
			failed = append(failed, fmt.Errorf("no manifest of workspace %q in %s", name, strings.Join(o.filenames, ", ")))
		}
	}
	if total == 0 && len(failed) == 0 {
		with := ""
		if o.selector != "" {
			with = " with the labels " + o.selector
		}
		failed = append(failed, fmt.Errorf("there is no Workspace%s in %s", with, strings.Join(o.filenames, ", ")))
	}
	if len(failed) > 0 {
		return errors.Join(failed...) // and no manifest, of which a part would be missing
	}
	_, err = o.Out.Write(out.Bytes())
	return err
}

// tellLocal prints the Workspace with -o, else what has become of each mount as notes:
// the answer is the manifest.
func (o *writeOptions) tellLocal(c *change) error {
	for _, w := range c.edit.Warnings {
		o.note("Warning: %s: %s", c.object(), w)
	}
	if o.printer != nil {
		return o.printer.PrintObj(c.after, o.Out)
	}
	for _, line := range outcomeLines(c.object(), c.edit, o.dryRun.value) {
		o.note("%s", render.SafeLine(line))
	}
	return nil
}

// appendManifest puts manifests one after the other, as they are.
func appendManifest(out *bytes.Buffer, text []byte) {
	if out.Len() > 0 {
		if !bytes.HasSuffix(out.Bytes(), []byte("\n")) {
			out.WriteByte('\n')
		}
		if !bytes.HasPrefix(text, []byte("---")) {
			out.WriteString("---\n")
		}
	}
	out.Write(text)
}

// manifestFile is a file as it was read.
type manifestFile struct {
	name string
	text []byte
}

// manifests reads the files of -f, and of a directory those that kubectl would take.
func (o *writeOptions) manifests() ([]manifestFile, error) {
	var files []manifestFile
	read := func(name string) error {
		text, err := os.ReadFile(name)
		if err != nil {
			return fmt.Errorf("cannot read the manifest: %w", err)
		}
		files = append(files, manifestFile{name, text})
		return nil
	}
	for _, name := range o.filenames {
		switch info, err := os.Stat(name); {
		case name == "-":
			text, err := io.ReadAll(o.In)
			if err != nil {
				return nil, fmt.Errorf("cannot read stdin: %w", err)
			}
			files = append(files, manifestFile{"stdin", text})
		case strings.HasPrefix(name, "http://"), strings.HasPrefix(name, "https://"):
			return nil, fmt.Errorf("-f %s: with --local nothing is contacted; download the manifest and name the file", name)
		case err != nil:
			return nil, fmt.Errorf("-f %s: %w", name, errors.Unwrap(err))
		case info.IsDir():
			entries, err := os.ReadDir(name)
			if err != nil {
				return nil, fmt.Errorf("cannot read the directory: %w", err)
			}
			none := true
			for _, e := range entries {
				if slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(e.Name())) && !e.IsDir() {
					none = false
					if err := read(filepath.Join(name, e.Name())); err != nil {
						return nil, err
					}
				}
			}
			if none {
				return nil, fmt.Errorf("-f %s: there is no .yaml, .yml or .json file in this directory", name)
			}
		default:
			if err := read(name); err != nil {
				return nil, err
			}
		}
	}
	return files, nil
}
