package secretmount

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Outcome is what an Edit does to one mount.
type Outcome string

// The outcomes.
const (
	Added     Outcome = "added"
	Replaced  Outcome = "replaced"
	Removed   Outcome = "removed"
	Unchanged Outcome = "unchanged"
)

// Result is the outcome for one mount.
type Result struct {
	Mount
	Outcome Outcome
	// Was is what a replaced mount was before.
	Was *Mount
}

// Edit is a planned change of one Workspace.
type Edit struct {
	// Results has one entry for each mount that was asked for, in that order.
	Results []Result
	// Warnings are remarks on mounts that are legal but may not be what is meant.
	Warnings []string

	operations []operation
}

// Changed reports whether any mount is added, replaced or removed.
func (e Edit) Changed() bool {
	return slices.ContainsFunc(e.Results, func(r Result) bool { return r.Outcome != Unchanged })
}

// After returns e as the continuation of an earlier attempt of which nobody knows
// whether the server carried it out: its reply was lost. What the earlier attempt
// was to change and is found done now, it has done.
func (e Edit) After(earlier Edit) Edit {
	merged := e
	merged.Results = nil
	seen := map[string]bool{}
	for _, was := range earlier.Results {
		seen[was.MountPath] = true
		i := slices.IndexFunc(e.Results, func(r Result) bool { return r.MountPath == was.MountPath })
		if i >= 0 && (e.Results[i].Outcome != Unchanged || was.Outcome == Unchanged) {
			was = e.Results[i]
		}
		merged.Results = append(merged.Results, was)
	}
	for _, r := range e.Results {
		if !seen[r.MountPath] {
			merged.Results = append(merged.Results, r)
		}
	}
	return merged
}

// Add plans to mount Secrets. kind is the WorkspaceKind of the Workspace, or nil
// where it could not be read: the paths that it mounts are then not considered.
//
// A mount that is there already, with the same Secret and mode, is left alone. One
// that is there with another Secret or mode is an error, or is replaced if overwrite
// is set; fields of it that this program does not know stay. A path at which
// something else is mounted is always an error, because the controller leaves out one
// of the two without a word.
//
// All mounts are one patch: either all of them are made or none.
func Add(workspace, kind map[string]any, mounts []Mount, overwrite bool) (Edit, error) {
	entries, err := entriesOf(workspace)
	if err != nil {
		return Edit{}, err
	}
	others, err := otherHolders(workspace, kind)
	if err != nil {
		return Edit{}, err
	}
	if err := checkTwice(mounts); err != nil {
		return Edit{}, err
	}

	var (
		edit     Edit
		problems []error
		appended []any
		b        patchBuilder
	)
	b.testUID(workspace)
	for _, m := range mounts {
		if i := slices.IndexFunc(others, func(h holder) bool { return samePath(h.path, m.MountPath) }); i >= 0 {
			problems = append(problems, fmt.Errorf("cannot mount Secret %q at %s: %s is mounted there; choose another path",
				m.SecretName, m.MountPath, others[i].what))
			continue
		}
		mode := m.Mode()
		m.DefaultMode = &mode
		i := find(entries, m.MountPath)
		switch {
		case i < 0:
			edit.Results = append(edit.Results, Result{Mount: m, Outcome: Added})
			appended = append(appended, map[string]any{
				"secretName": m.SecretName, "mountPath": m.MountPath, "defaultMode": int64(mode),
			})
		case entries[i].SecretName == m.SecretName && entries[i].Mode() == mode:
			edit.Results = append(edit.Results, Result{Mount: m, Outcome: Unchanged})
			continue
		case !overwrite:
			problems = append(problems, takenError(m, entries[i].Mount))
			continue
		default:
			was := entries[i].Mount
			edit.Results = append(edit.Results, Result{Mount: m, Outcome: Replaced, Was: &was})
			b.replaceElement(workspace, i, entries[i], m)
		}
		if warning := unwise(m); warning != "" {
			edit.Warnings = append(edit.Warnings, warning)
		}
		for _, h := range append(slices.Clone(others), secretHolders(entries, mounts, m.MountPath)...) {
			if warning := nesting(m.MountPath, h); warning != "" {
				edit.Warnings = append(edit.Warnings, warning)
			}
		}
	}
	if len(problems) > 0 {
		return Edit{}, errors.Join(problems...)
	}
	for _, e := range entries {
		replaced := overwrite && slices.ContainsFunc(mounts, func(m Mount) bool { return samePath(m.MountPath, e.MountPath) })
		if warning := broken(e.Mount); warning != "" && !replaced {
			edit.Warnings = append(edit.Warnings, warning)
		}
	}
	if err := b.appendElements(workspace, appended); err != nil {
		return Edit{}, err
	}
	if edit.Changed() {
		edit.operations = b.operations
	}
	return edit, b.err
}

// replaceElement changes one entry in place, field by field, so that what else is in
// it stays.
func (b *patchBuilder) replaceElement(workspace map[string]any, index int, old entry, m Mount) {
	at := elementPointer(index)
	b.testUnchanged(workspace, at, old.raw)
	if old.SecretName != m.SecretName {
		b.add(at+"/secretName", m.SecretName)
	}
	if old.MountPath != m.MountPath {
		b.add(at+"/mountPath", m.MountPath)
	}
	if old.DefaultMode == nil || *old.DefaultMode != m.Mode() {
		b.add(at+"/defaultMode", m.Mode())
	}
}

// appendElements adds entries at the end. Where there is a list, the server refuses
// a second entry of the same path, and nothing else in the list matters. Where there
// is none it has to be made, and the test of what surrounds it keeps two people who
// both make it from overwriting each other's.
func (b *patchBuilder) appendElements(workspace map[string]any, elements []any) error {
	if len(elements) == 0 {
		return nil
	}
	secrets, err := valueAt(workspace, secretsField)
	if err != nil {
		return err
	}
	if secrets != nil {
		for _, e := range elements {
			b.add(secretsPointer+"/-", e)
		}
		return nil
	}
	volumes, err := valueAt(workspace, volumesField)
	if err != nil {
		return err
	}
	if volumes != nil {
		b.testUnchanged(workspace, volumesPointer, volumes)
		b.add(secretsPointer, elements)
		return nil
	}
	podTemplate, err := valueAt(workspace, podTemplateField)
	if err != nil {
		return err
	}
	if podTemplate == nil {
		return errors.New("the Workspace has no spec.podTemplate")
	}
	b.testUnchanged(workspace, podTemplatePointer, podTemplate)
	b.add(volumesPointer, map[string]any{"secrets": elements})
	return nil
}

func checkTwice(mounts []Mount) error {
	for i, m := range mounts {
		for _, earlier := range mounts[:i] {
			if samePath(m.MountPath, earlier.MountPath) {
				if m.SecretName == earlier.SecretName {
					return fmt.Errorf("Secret %q is given twice for mount path %s", m.SecretName, m.MountPath)
				}
				return fmt.Errorf("mount path %s is given twice, for Secret %q and for Secret %q", m.MountPath, earlier.SecretName, m.SecretName)
			}
		}
	}
	return nil
}

func takenError(m, holder Mount) error {
	if holder.SecretName == m.SecretName {
		return fmt.Errorf("Secret %q is mounted at %s already, with mode %s and not %s; use --overwrite to change that",
			m.SecretName, holder.MountPath, FormatMode(holder.Mode()), FormatMode(m.Mode()))
	}
	return fmt.Errorf("cannot mount Secret %q at %s: Secret %q is mounted there; choose another path, or use --overwrite to replace it",
		m.SecretName, holder.MountPath, holder.SecretName)
}

// find returns the index of the entry at a path: the one with that very text, else
// one that means the same directory, else -1.
func find(entries []entry, mountPath string) int {
	if i := slices.IndexFunc(entries, func(e entry) bool { return e.MountPath == mountPath }); i >= 0 {
		return i
	}
	return slices.IndexFunc(entries, func(e entry) bool { return samePath(e.MountPath, mountPath) })
}

// secretHolders are the Secrets at other paths, those that are about to be mounted
// included.
func secretHolders(entries []entry, mounts []Mount, except string) []holder {
	var holders []holder
	seen := map[string]bool{}
	take := func(m Mount) {
		if m.MountPath != except && !seen[m.MountPath] {
			seen[m.MountPath] = true
			holders = append(holders, holder{m.MountPath, fmt.Sprintf("Secret %q", m.SecretName)})
		}
	}
	for _, m := range mounts {
		take(m)
	}
	for _, e := range entries {
		take(e.Mount)
	}
	return holders
}

// Selection says which mounts to remove: those that match every criterion given.
type Selection struct {
	// Secrets are names of Secrets. Each must be mounted, and at one path only unless
	// Paths or All says more.
	Secrets []string
	// Paths are mount paths.
	Paths []string
	// All takes every mount of each Secret, or without Secrets every mount.
	All bool
	// IgnoreNotFound makes nothing of what is not mounted.
	IgnoreNotFound bool
}

// Remove plans to take mounts away. Every other entry stays as it is, to the byte.
// With the last entry the list itself goes: that is how it was before the first one
// was added, and how a manifest without Secrets looks.
func Remove(workspace map[string]any, s Selection) (Edit, error) {
	entries, err := entriesOf(workspace)
	if err != nil {
		return Edit{}, err
	}
	chosen, err := s.choose(entries)
	if err != nil {
		return Edit{}, err
	}
	var edit Edit
	var b patchBuilder
	b.testUID(workspace)
	for _, i := range chosen {
		edit.Results = append(edit.Results, Result{Mount: entries[i].Mount, Outcome: Removed})
	}
	switch {
	case len(chosen) == 0:
		return edit, nil
	case len(chosen) == len(entries):
		secrets, err := valueAt(workspace, secretsField)
		if err != nil {
			return Edit{}, err
		}
		b.testUnchanged(workspace, secretsPointer, secrets)
		b.remove(secretsPointer)
	default:
		// From the end, so that the indices of the others stay right.
		slices.Sort(chosen)
		for _, i := range slices.Backward(chosen) {
			b.testUnchanged(workspace, elementPointer(i), entries[i].raw)
			b.remove(elementPointer(i))
		}
	}
	edit.operations = b.operations
	return edit, b.err
}

// choose returns the indices of the selected entries, without repetition.
func (s Selection) choose(entries []entry) ([]int, error) {
	var chosen []int
	var problems []error
	take := func(i int) {
		if !slices.Contains(chosen, i) {
			chosen = append(chosen, i)
		}
	}
	missing := func(format string, args ...any) {
		if !s.IgnoreNotFound {
			problems = append(problems, fmt.Errorf(format+"; %s", append(args, inventory(entries))...))
		}
	}

	used := map[string]bool{}
	mismatch := false
	for _, p := range s.Paths {
		i := find(entries, p)
		switch {
		case i < 0:
			missing("no Secret is mounted at %s", p)
		case len(s.Secrets) > 0 && !slices.Contains(s.Secrets, entries[i].SecretName):
			mismatch = true
			problems = append(problems, fmt.Errorf("at %s Secret %q is mounted, not %s", entries[i].MountPath, entries[i].SecretName, quoted(s.Secrets)))
		default:
			take(i)
			used[entries[i].SecretName] = true
		}
	}
	for _, name := range s.Secrets {
		var at []int
		var paths []string
		for i, e := range entries {
			if e.SecretName == name {
				at = append(at, i)
				paths = append(paths, e.MountPath)
			}
		}
		switch {
		case len(at) == 0 && !mismatch:
			missing("Secret %q is not mounted", name)
		case mismatch:
			// Said above.
		case len(s.Paths) > 0 && !used[name]:
			missing("Secret %q is not mounted at %s", name, strings.Join(s.Paths, ", "))
		case len(s.Paths) > 0:
			// Its paths have been taken above.
		case len(at) > 1 && !s.All:
			problems = append(problems, fmt.Errorf("Secret %q is mounted at %d paths: %s; say which with --mount-path, or use --all for all of them",
				name, len(at), strings.Join(paths, ", ")))
		default:
			for _, i := range at {
				take(i)
			}
		}
	}
	if s.All && len(s.Secrets) == 0 {
		if len(entries) == 0 {
			missing("there is nothing to remove")
		}
		for i := range entries {
			take(i)
		}
	}
	return chosen, errors.Join(problems...)
}

// inventory tells what is mounted, for messages about what is not.
func inventory(entries []entry) string {
	if len(entries) == 0 {
		return "the Workspace mounts no Secrets"
	}
	var mounts []string
	for _, e := range entries {
		mounts = append(mounts, fmt.Sprintf("%s at %s", e.SecretName, e.MountPath))
	}
	return "the Workspace mounts " + strings.Join(mounts, ", ")
}

func quoted(names []string) string {
	q := make([]string, len(names))
	for i, n := range names {
		q[i] = fmt.Sprintf("%q", n)
	}
	return strings.Join(q, " or ")
}
