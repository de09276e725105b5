package causes

import (
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-workspace/kubectl-workspace/pkg/diagnose"
)

// The kinds of failure to make or start a container, which are also the ids of their rules.
const (
	startAsRoot   = "run-as-non-root-violation"
	startName     = "container-name-conflict"
	startCommand  = "container-command-invalid"
	startMount    = "mount-path-conflict"
	crashError    = "crash-loop-application-error"
	crashOOM      = "crash-loop-oom-killed"
	crashLiveness = "crash-loop-liveness-probe"
)

// startPatterns tell failures to make or start a container apart, in this order. The
// wordings are those of the kubelet (pkg/kubelet/kuberuntime), runc and crun, behind
// containerd, CRI-O and docker.
var startPatterns = []struct {
	kind    string
	pattern *regexp.Regexp
}{
	{startAsRoot, regexp.MustCompile(`runasnonroot|verify user is non-root|breaks non-root policy`)},
	{startName, regexp.MustCompile(`name is reserved|is reserved for|reserve (container|ctr) name|reserving c(on)?t(aine)?r name|name "?[^ ]+"? is already in use`)},
	{startCommand, regexp.MustCompile(`exec: \\*"|executable (file )?.*not found|no command specified|no command or entrypoint|chdir to cwd|open executable|failed to find executable|exec user process caused|unable to find (user|group) `)},
	{startMount, regexp.MustCompile(`error mounting|mounting \\*"|to rootfs|failed to (mount|mkdir|stat) |subpath|duplicate mount point|invalid (mount|bind|volume) |not a shared mount|mount destination|destination can't be|relabel failed|lsetxattr|not a directory|read-only file system|cannot create subdirectories|mount .{1,200} to `)},
}

// startKind tells why a container cannot be made or started; empty if the message does
// not say.
func startKind(message string) string {
	m := strings.ToLower(message)
	for _, r := range runFailures {
		if strings.Contains(m, r.words) {
			return "" // the image's or the node's fault
		}
	}
	for _, p := range startPatterns {
		if p.pattern.MatchString(m) {
			return p.kind
		}
	}
	return ""
}

// startReasons are the waiting reasons of a container that cannot be made or started
// (pkg/kubelet/container/sync_result.go, pkg/kubelet/kuberuntime).
var startReasons = []string{
	"CreateContainerConfigError", "CreateContainerError", "RunContainerError",
	"PreCreateHookError", "PreStartHookError",
}

// neverRan are the reasons of a container that ended before it ran, in the words of
// containerd and of docker.
var neverRan = []string{"StartError", "ContainerCannotRun"}

// startTexts is what is said about why a container cannot be made or started: status
// first, then Events, newest first. It is empty for one that can.
func startTexts(c *diagnose.Case, container diagnose.Container) []diagnose.Evidence {
	if container.Running() || container.Settled() {
		return nil
	}
	source := "Pod/" + c.Pod.Name
	reason, message := container.Waiting()
	cannot := slices.Contains(startReasons, reason)
	var out []diagnose.Evidence
	if cannot && message != "" {
		out = append(out, diagnose.Evidence{Source: source, Reason: reason, Message: message})
	}
	if t := container.Ended(); t != nil {
		cannot = cannot || slices.Contains(neverRan, t.Reason)
		if t.Message != "" {
			out = append(out, diagnose.Evidence{Source: source, Reason: t.Reason, Message: t.Message})
		}
	} else if slices.Contains(placeholders, reason) && len(container.Events) > 0 && container.Events[0].Reason == "Failed" {
		cannot = true // the kubelet has not reported its status yet
	}
	if !cannot {
		return nil // it ran, and what it said at its end are its own words
	}
	for _, e := range container.Events {
		if e.Reason == "Failed" && !isPullFailure(e) {
			out = append(out, e.Evidence())
		}
	}
	return out
}

var commandPattern = regexp.MustCompile("exec: \\\\*\"([^\"\\\\]+)\\\\*\"|executable file [`\"']([^`\"']+)[`\"'] not found")

// commandIn is the program that a runtime could not execute; empty if it names none.
func commandIn(message string) string {
	m := commandPattern.FindStringSubmatch(message)
	if m == nil {
		return ""
	}
	return m[1] + m[2]
}

var (
	errnoPattern = regexp.MustCompile(`(?i)(not a directory|no such file or directory|read-only file system|permission denied|operation not permitted|invalid argument|file exists|is a directory|destination can't be '/'|duplicate mount point|not a shared mount|executable file not found in \$path|no command specified)`)
	// A volume under the kubelet's directory; csi and local plugins use the name of the
	// PersistentVolume there, others that of the Pod's volume.
	kubeletVolume = regexp.MustCompile(`/volumes/kubernetes\.io~[a-z-]+/([^/"\\\s,:]+)|/volume-subpaths/([^/"\\\s]+)/`)
	volumeMount   = regexp.MustCompile(`volumeMount \\*"([^"\\]+)`)
	mountTarget   = regexp.MustCompile(`(?:\bat|dst=|to|mount point:|mkdir|creating) ?[\\"'` + "`" + `]*(/[^"'\\\s,:` + "`" + `]*)`)
)

// lastErrno is the last of the kernel's words in a message, or all of it, shortened.
func lastErrno(message string) string {
	if all := errnoPattern.FindAllString(message, -1); len(all) > 0 {
		return all[len(all)-1]
	}
	return shorten(message)
}

// mountIn finds the volume mount of a container that a runtime complains about; nil if
// it cannot be told. claimOf maps the name of a PersistentVolume to that of its claim.
func mountIn(message string, pod *corev1.PodSpec, container corev1.Container, claimOf func(volume string) string) *corev1.VolumeMount {
	name := ""
	if m := volumeMount.FindStringSubmatch(message); m != nil {
		name = m[1]
	} else if m := kubeletVolume.FindStringSubmatch(message); m != nil {
		name = m[1] + m[2]
	}
	if name != "" {
		claim := claimOf(name)
		for i, m := range container.VolumeMounts {
			v := volumeNamed(pod, m.Name)
			if m.Name == name || v != nil && v.PersistentVolumeClaim != nil && claim != "" && v.PersistentVolumeClaim.ClaimName == claim {
				return &container.VolumeMounts[i]
			}
		}
	}
	var best *corev1.VolumeMount
	for _, t := range mountTarget.FindAllStringSubmatch(message, -1) {
		for i, m := range container.VolumeMounts {
			// Docker names the place in its own file system: …/merged/usr/local/x.
			path := strings.TrimSuffix(m.MountPath, "/")
			if (t[1] == m.MountPath || path != "" && strings.HasSuffix(strings.TrimSuffix(t[1], "/"), path)) && (best == nil || len(m.MountPath) > len(best.MountPath)) {
				best = &container.VolumeMounts[i]
			}
		}
	}
	if best == nil && strings.Contains(message, "destination can't be '/'") {
		if i := slices.IndexFunc(container.VolumeMounts, func(m corev1.VolumeMount) bool { return m.MountPath == "/" }); i >= 0 {
			best = &container.VolumeMounts[i]
		}
	}
	return best
}

func volumeNamed(pod *corev1.PodSpec, name string) *corev1.Volume {
	for i := range pod.Volumes {
		if pod.Volumes[i].Name == name {
			return &pod.Volumes[i]
		}
	}
	return nil
}
