package secretmount

import (
	"fmt"
	"slices"
)

// Stored checks that a Workspace, as the server has it after the edit, is as the edit says.
// A server whose CRD is of a release that does not know a field drops it and calls that
// success; a webhook may change it.
func (e Edit) Stored(workspace map[string]any) error {
	mounts, err := List(workspace)
	if err != nil {
		return err
	}
	for _, r := range e.Results {
		if r.Outcome == Unchanged {
			continue
		}
		at := slices.IndexFunc(mounts, func(m Mount) bool { return m.MountPath == r.MountPath })
		found := at >= 0 && mounts[at].SecretName == r.SecretName
		switch {
		case r.Outcome == Removed && found:
			return fmt.Errorf("the server accepts the change, but Secret %q is mounted at %s afterwards: a webhook may have put it back", r.SecretName, r.MountPath)
		case r.Outcome == Removed:
		case !found:
			return fmt.Errorf("the server accepts the change, but Secret %q is not mounted at %s afterwards: its CRD of Workspaces may be of a release without spec.podTemplate.volumes.secrets, "+
				"or a webhook has taken the mount away", r.SecretName, r.MountPath)
		case mounts[at].Mode() != r.Mode():
			return fmt.Errorf("the server accepts the change, but Secret %q is mounted at %s with mode %s afterwards, not %s: its CRD of Workspaces may be of a release without defaultMode, "+
				"or a webhook has changed it", r.SecretName, r.MountPath, FormatMode(mounts[at].Mode()), FormatMode(r.Mode()))
		}
	}
	return nil
}
