package causes

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
)

func TestStartKind(t *testing.T) {
	for name, c := range map[string]struct{ message, want string }{
		"root image":            {"container has runAsNonRoot and image will run as root (pod: \"x\", container: main)", startAsRoot},
		"user by name":          {"container has runAsNonRoot and image has non-numeric user (jovyan), cannot verify user is non-root", startAsRoot},
		"root user":             {"container's runAsUser breaks non-root policy", startAsRoot},
		"containerd, reserved":  {`failed to reserve container name "main_ws-x-0_ns_uid_0": name "main_ws-x-0_ns_uid_0" is reserved for "0123"`, startName},
		"CRI-O, reserved":       {"Error: reserving container name: error reserving ctr name k8s_main for id 1: name is reserved", startName},
		"docker, in use":        {`Error response from daemon: Conflict. The container name "/k8s_main_ws-x-0" is already in use by container "0123". You have to remove (or rename) that container`, startName},
		"runc, not in PATH":     {`failed to create containerd task: failed to create shim task: OCI runtime create failed: runc create failed: unable to start container process: exec: "jupyter": executable file not found in $PATH: unknown`, startCommand},
		"runc, not executable":  {`unable to start container process: exec: "/start.sh": permission denied: unknown`, startCommand},
		"runc, missing file":    {`unable to start container process: error during container init: exec: "/start.sh": stat /start.sh: no such file or directory`, startCommand},
		"crun":                  {"container create failed: executable file `jupyter` not found in $PATH: No such file or directory", startCommand},
		"docker, escaped":       {`OCI runtime create failed: container_linux.go:345: starting container process caused "exec: \"jupyter\": executable file not found in $PATH": unknown`, startCommand},
		"no command":            {"failed to generate container \"1\" spec: failed to generate spec: no command specified", startCommand},
		"working directory":     {`OCI runtime create failed: runc create failed: unable to start container process: chdir to cwd ("/work") set in config.json failed: permission denied`, startCommand},
		"runc, not a directory": {`error during container init: error mounting "/var/lib/kubelet/pods/1/volumes/kubernetes.io~secret/s" to rootfs at "/etc/hosts": mount src=x, dst=/etc/hosts: not a directory: unknown`, startMount},
		"docker, file over dir": {`starting container process caused "process_linux.go:449: container init caused \"rootfs_linux.go:58: mounting \\\"/a\\\" to rootfs \\\"/b\\\" at \\\"/b/c\\\" caused \\\"not a directory\\\"\"": unknown: Are you trying to mount a directory onto a file (or vice-versa)?`, startMount},
		"read-only":             {`failed to generate container "1" spec: failed to generate spec: failed to mkdir "/mnt/x": mkdir /mnt/x: read-only file system`, startMount},
		"kubelet, subPath":      {`failed to prepare subPath for volumeMount "home-volume" of container "main"`, startMount},
		"docker, root":          {`Error response from daemon: invalid mount config for type "bind": invalid specification: destination can't be '/'`, startMount},
		"docker, duplicate":     {`Error response from daemon: Duplicate mount point: /data`, startMount},
		"missing Secret":        {`secret "x" not found`, ""},
		"another architecture":  {`exec /start.sh: exec format error`, ""},
		"full disk":             {`error mounting "/x/resolv.conf" to rootfs at "/etc/resolv.conf": no space left on device`, ""},
		"hangs":                 {"context deadline exceeded", ""},
	} {
		t.Run(name, func(t *testing.T) {
			if got := startKind(c.message); got != c.want {
				t.Errorf("startKind = %q, want %q", got, c.want)
			}
		})
	}
}

func TestCommandIn(t *testing.T) {
	for in, want := range map[string]string{
		`exec: "jupyter": executable file not found in $PATH`:      "jupyter",
		`caused "exec: \"/start.sh\": permission denied": unknown`: "/start.sh",
		"executable file `lab` not found in $PATH":                 "lab",
		"no command specified":                                     "",
	} {
		if got := commandIn(in); got != want {
			t.Errorf("commandIn(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestMountIn(t *testing.T) {
	pod := &corev1.PodSpec{Volumes: []corev1.Volume{
		{Name: "home", VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "home-claim"}}},
		{Name: "token"}, {Name: "settings"}, {Name: "root"},
		{Name: "models", VolumeSource: corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/data/models"}}},
	}}
	container := corev1.Container{VolumeMounts: []corev1.VolumeMount{
		{Name: "home", MountPath: "/home/user"}, {Name: "token", MountPath: "/etc/hosts"}, {Name: "settings", MountPath: "/opt/app/settings", SubPath: "x"},
		{Name: "root", MountPath: "/"}, {Name: "models", MountPath: "/models"},
	}}
	claimOf := func(volume string) string { return map[string]string{"pvc-1": "home-claim"}[volume] }
	for name, c := range map[string]struct{ message, want string }{
		"volume directory":         {`error mounting "/var/lib/kubelet/pods/1/volumes/kubernetes.io~secret/token" to rootfs at "/x"`, "token"},
		"csi volume":               {`error mounting "/var/lib/kubelet/pods/1/volumes/kubernetes.io~csi/pvc-1/mount" to rootfs at "/x"`, "home"},
		"subPath":                  {`mounting \"/var/lib/kubelet/pods/1/volume-subpaths/settings/main/5\" to rootfs`, "settings"},
		"kubelet":                  {`failed to prepare subPath for volumeMount "settings" of container "main"`, "settings"},
		"path on the node":         {`failed to generate container "1" spec: failed to generate spec: failed to stat "/data/models": no such file or directory`, "models"},
		"path on the node, docker": {`Error response from daemon: error while creating mount source path '/data/models': mkdir /data: read-only file system`, "models"},
		"path below that":          {`failed to stat "/data/models/x": no such file or directory`, ""},
		"by place":                 {`error mounting "/data" to rootfs at "/etc/hosts": not a directory`, "token"},
		"by place in docker":       {`mounting \\\"/x\\\" to rootfs \\\"/var/lib/docker/a/merged\\\" at \\\"/var/lib/docker/a/merged/opt/app/settings\\\" caused`, "settings"},
		"docker, root":             {`invalid specification: destination can't be '/'`, "root"},
		"nothing of this kind":     {`error mounting "/proc" to rootfs at "/proc"`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			got := ""
			if m := mountIn(c.message, pod, container, claimOf); m != nil {
				got = m.Name
			}
			if got != c.want {
				t.Errorf("mountIn = %q, want %q", got, c.want)
			}
		})
	}
}

func FuzzStartMessage(f *testing.F) {
	for _, s := range []string{"", `exec: "`, `at /`, `/volumes/kubernetes.io~csi/`, "\xff", `volumeMount "`, "Error: failed to create containerd task: runc create failed: x: unknown", `time="x" level=error msg="`} {
		f.Add(s)
	}
	container := corev1.Container{VolumeMounts: []corev1.VolumeMount{{Name: "v", MountPath: "/"}, {Name: "w"}}}
	f.Fuzz(func(t *testing.T, message string) {
		startKind(message)
		commandIn(message)
		lastErrno(message)
		if reason := runtimeReason(message); len([]rune(reason)) > longestQuote+1 {
			t.Errorf("a reason of %d characters", len([]rune(reason)))
		}
		runtimeHint(message)
		deniedIn(message)
		mountIn(message, &corev1.PodSpec{}, container, func(s string) string { return s })
	})
}
