package secretmount

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// imageDirectories are those without whose content an image does not work.
var imageDirectories = []string{
	"/bin", "/etc", "/home", "/lib", "/lib64", "/opt", "/opt/conda", "/root", "/run", "/sbin", "/tmp", "/usr", "/usr/bin", "/usr/lib",
	"/usr/local", "/usr/local/bin", "/usr/local/lib", "/var", "/var/lib", "/var/run",
}

// kernelDirectories are those that the container runtime itself mounts.
var kernelDirectories = []string{"/dev", "/proc", "/sys"}

// unwise says why a path is not one to mount a Secret at; empty if it is.
func unwise(m Mount) string {
	for _, d := range kernelDirectories {
		if p := path.Clean(m.MountPath); p == d || inside(p, d) {
			return fmt.Sprintf("mount path %s is in %s, which belongs to the kernel: the container may not start; use a directory such as %s",
				m.MountPath, d, path.Join(defaultDirectory, m.SecretName))
		}
	}
	if slices.Contains(imageDirectories, path.Clean(m.MountPath)) {
		return fmt.Sprintf("mount path %s hides what the image has there; did you mean %s?", m.MountPath, path.Join(m.MountPath, m.SecretName))
	}
	return ""
}

// broken says why Kubernetes refuses a Pod with a mount; empty if it does not. Such
// mounts pass the Workspace's own validation, so somebody may have written one by hand.
func broken(m Mount) string {
	switch {
	case strings.Contains(m.MountPath, ":"):
		return fmt.Sprintf("Secret %q is mounted at %q already, and Kubernetes refuses a Pod with a colon in a mount path: the Workspace does not start until that mount is removed",
			m.SecretName, m.MountPath)
	case CheckSecretName(m.SecretName) != nil:
		return fmt.Sprintf("%q is mounted at %s already and is not the name of a Secret: the Workspace does not start until that mount is removed",
			m.SecretName, m.MountPath)
	}
	return ""
}

// uses says what the types of Secrets are for that nobody means to read in a notebook.
var uses = map[string]string{
	"helm.sh/release.v1":                  "in which Helm keeps a release",
	"bootstrap.kubernetes.io/token":       "with which nodes join the cluster",
	"kubernetes.io/service-account-token": "which is the token of a ServiceAccount and gives its rights to whoever reads it",
	"kubernetes.io/dockerconfigjson":      "with which images are pulled, and which a Workspace does not need as files for that",
	"kubernetes.io/dockercfg":             "with which images are pulled, and which a Workspace does not need as files for that",
}

// UnusualType remarks on a Secret whose type makes little sense as a directory; empty
// if there is nothing to say.
func UnusualType(name, secretType string) string {
	use := uses[secretType]
	if use == "" {
		return ""
	}
	return fmt.Sprintf("Secret %q is of type %s, %s: is it the one that you mean?", name, secretType, use)
}
