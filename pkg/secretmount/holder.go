package secretmount

import (
	"fmt"
	"path"
	"strings"
)

// holder is something that is mounted at a path already.
type holder struct {
	path string
	// what names it as part of a sentence.
	what string
}

// otherHolders are the mounts of the Pod that are not Secrets of the Workspace: the
// home volume, the data volumes, and what the WorkspaceKind mounts. kind is nil
// where it could not be read.
func otherHolders(workspace, kind map[string]any) ([]holder, error) {
	var holders []holder
	data, err := listAt(workspace, dataField)
	if err != nil {
		return nil, err
	}
	for i, d := range data {
		p, err := text(d, fmt.Sprintf("spec.podTemplate.volumes.data[%d]", i), "mountPath")
		if err != nil {
			return nil, err
		}
		claim, _ := d["pvcName"].(string)
		holders = append(holders, holder{p, fmt.Sprintf("the data volume %q", claim)})
	}
	if kind == nil {
		return holders, nil
	}

	home, err := valueAt(workspace, homeField)
	if err != nil {
		return nil, err
	}
	if home != nil && home != "" {
		if p, ok := stringAt(kind, "spec", "podTemplate", "volumeMounts", "home"); ok {
			holders = append(holders, holder{p, fmt.Sprintf("the home volume %q", home)})
		}
	}
	// A WorkspaceKind that is not as it should be is for its owner to correct: what
	// cannot be understood of it holds no path.
	extra, _ := listAt(kind, []string{"spec", "podTemplate", "extraVolumeMounts"})
	for _, m := range extra {
		p, _ := m["mountPath"].(string)
		name, _ := m["name"].(string)
		if p != "" {
			holders = append(holders, holder{p, fmt.Sprintf("the volume %q of the WorkspaceKind", name)})
		}
	}
	return holders, nil
}

func stringAt(object map[string]any, field ...string) (string, bool) {
	value, _ := valueAt(object, field)
	s, ok := value.(string)
	return s, ok && s != ""
}

// samePath compares paths as a person does: /a and /a/ are one directory, although
// the controller mounts both.
func samePath(a, b string) bool { return path.Clean(a) == path.Clean(b) }

// inside reports whether inner lies below outer.
func inside(inner, outer string) bool {
	outer = path.Clean(outer)
	return outer != "/" && strings.HasPrefix(path.Clean(inner), outer+"/")
}

// nesting describes how a mount path and a holder's lie within each other; empty if
// they do not.
func nesting(mountPath string, h holder) string {
	switch {
	case inside(mountPath, h.path):
		return fmt.Sprintf("mount path %s lies inside %s, where %s is mounted", mountPath, h.path, h.what)
	case inside(h.path, mountPath):
		return fmt.Sprintf("mount path %s lies around %s, where %s is mounted", mountPath, h.path, h.what)
	}
	return ""
}
