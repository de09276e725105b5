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
	startFailed   = "container-start-failed"
	initFailing   = "init-container-failing"
	unready       = "readiness-probe-failing"
)

// startPatterns tell failures to make or start a container apart, in this order. The
// wordings are those of the kubelet (pkg/kubelet/kuberuntime), runc and crun, behind
// containerd, CRI-O and docker.
var startPatterns = []struct {
	kind    string
	pattern *regexp.Regexp
}{
	{startAsRoot, regexp.MustCompile(`runasnonroot|verify user is non-root|breaks non-root policy`)},
	// A limit that is too low for the runtime itself: runc (since 1.1), CRI-O, docker.
	{crashOOM, regexp.MustCompile(`container init was oom-killed|set memory limit \d+ too low|unable to set memory limit to|minimum memory limit allowed is`)},
	{startName, regexp.MustCompile(`name is reserved|is reserved for|reserve (container|ctr) name|reserving c(on)?t(aine)?r name|name "?[^ ]+"? is already in use`)},
	{startCommand, regexp.MustCompile(`exec: \\*"|executable (file )?.*not found|no command specified|no command or entrypoint|chdir to cwd|open executable|failed to find executable|exec user process caused|unable to find (user|group) `)},
	{startMount, regexp.MustCompile(`error mounting|mounting \\*"|to rootfs|failed to (mount|mkdir|stat) |subpath|duplicate mount point|invalid (mount|bind|volume) |not a shared mount|mount destination|destination can't be|relabel failed|lsetxattr|not a directory|read-only file system|cannot create subdirectories|mount .{1,200} to `)},
}

// startKind tells why a container cannot be made or started; empty if the message does
// not say, or if other rules explain it.
func startKind(message string) string {
	m := strings.ToLower(message)
	if isRunFailure(m) {
		return "" // the image's or the node's fault
	}
	for _, p := range startPatterns {
		if p.pattern.MatchString(m) {
			return p.kind
		}
	}
	return ""
}

// startHangs is what a kubelet says that gave up waiting for the runtime. At the next try
// the runtime still holds the container's name.
var startHangs = regexp.MustCompile(`^(?i:error: |rpc error: code = \w+ desc = )*(?:context deadline exceeded|stream terminated by RST_STREAM.*)$`)

// startReasons are the waiting reasons of a container that cannot be made or started
// (pkg/kubelet/container/sync_result.go, pkg/kubelet/kuberuntime).
var startReasons = []string{
	"CreateContainerConfigError", "CreateContainerError", "RunContainerError",
	"PreCreateHookError", "PreStartHookError",
}

// cannotStart reports whether a container cannot be made or started. How the kubelet
// shows it changes from try to try: RunContainerError at first, then CrashLoopBackOff with
// a last run that never was, for some seconds that run as the present state.
func cannotStart(container diagnose.Container) bool {
	if container.Running() || container.Settled() {
		return false
	}
	reason, _ := container.Waiting()
	return slices.Contains(startReasons, reason) || diagnose.NeverRan(container.Ended()) ||
		// The kubelet has not reported its status yet.
		container.Ended() == nil && slices.Contains(placeholders, reason) && len(container.Events) > 0 && container.Events[0].Reason == "Failed"
}

// startTexts is what is said about why a container cannot be made or started: status
// first, then Events, newest first. It is empty for one that can.
func startTexts(c *diagnose.Case, container diagnose.Container) []diagnose.Evidence {
	if !cannotStart(container) {
		return nil // if it ran, what it said at its end are its own words
	}
	source := "Pod/" + c.Pod.Name
	reason, message := container.Waiting()
	var out []diagnose.Evidence
	if slices.Contains(startReasons, reason) && message != "" {
		out = append(out, diagnose.Evidence{Source: source, Reason: reason, Message: message})
	}
	if t := container.Ended(); diagnose.NeverRan(t) && t.Message != "" {
		out = append(out, diagnose.Evidence{Source: source, Reason: t.Reason, Message: t.Message})
	}
	for _, e := range container.Events {
		if e.Reason == "Failed" && !isPullFailure(e) {
			out = append(out, e.Evidence())
		}
	}
	return out
}

// runtimeWrappings is what kubelet and runtime put around the reason why a container
// cannot be started.
var runtimeWrappings = regexp.MustCompile(`(?i)^(error(:| response from daemon:)|failed to (create (containerd|shim) task|start container "[^"]*"|create container):|container create failed:|oci runtime (create|start|error)( failed)?:|runc (create|run|start) failed:|crun( create failed)?:|container_linux\.go:\d+:|process_linux\.go:\d+:|standard_init_linux\.go:\d+:|starting container process caused:?|unable to start container process:|error during container init:|container init caused:?|rpc error: code = \w+ desc =|time="[^"]*" level=\w+ msg=)`)

// runtimeReason is the innermost part of a runtime's message that makes sense on its own.
func runtimeReason(message string) string {
	message = strings.TrimSpace(message)
	for {
		loc := runtimeWrappings.FindStringIndex(message)
		if loc == nil || loc[1] == len(message) {
			return shorten(strings.TrimSuffix(strings.Trim(message, `" `), ": unknown"))
		}
		message = strings.TrimLeft(message[loc[1]:], ` "`)
	}
}

// runtimeHints say of which part of a node a runtime complains.
var runtimeHints = []struct {
	words   string
	pattern *regexp.Regexp
}{
	{"its NVIDIA driver is too old for the image", regexp.MustCompile(`unsatisfied condition: (?:cuda|driver|brand)`)},
	{"its NVIDIA driver or container toolkit does not work", regexp.MustCompile(`(?i)nvidia|libcuda|nvml`)},
	{"an AppArmor profile is not there or refuses", regexp.MustCompile(`(?i)apparmor`)},
	{"a seccomp profile cannot be used", regexp.MustCompile(`(?i)seccomp`)},
	{"SELinux refuses", regexp.MustCompile(`(?i)selinux|setexeccon|keycreate`)},
	{"a device is not there", regexp.MustCompile(`(?i)device information|custom device|unresolvable CDI devices|no such device`)},
	{"its cgroups cannot be set up", regexp.MustCompile(`(?i)cgroup`)},
	{"it is out of processes or threads", regexp.MustCompile(`(?i)resource temporarily unavailable|pthread_create|newosproc|cannot allocate memory`)},
	{"it does not answer in time", regexp.MustCompile(`(?i)deadline ?exceeded|timed? ?out`)},
}

func runtimeHint(message string) string {
	for _, h := range runtimeHints {
		if h.pattern.MatchString(message) {
			return ", as " + h.words
		}
	}
	return ""
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
	for i, m := range container.VolumeMounts {
		v := volumeNamed(pod, m.Name)
		if v != nil && v.HostPath != nil && (strings.Contains(message, `"`+v.HostPath.Path+`"`) || strings.Contains(message, `'`+v.HostPath.Path+`'`)) {
			return &container.VolumeMounts[i]
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
