package causes

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-workspace/kubectl-workspace/pkg/diagnose"
	"github.com/kubectl-workspace/kubectl-workspace/pkg/facts"
)

// volumeFault is what keeps one volume from being attached or mounted.
type volumeFault struct {
	id string
	// detail is the CSI driver, or what helps to understand a failed mount.
	detail string
	event  diagnose.Event
	// claim is what the user knows the volume by, pv what Kubernetes calls it. volume is
	// its name in the Pod, set if there is no claim behind it.
	claim, pv, volume string
}

// what names the volume for a person: the claim, and what messages call it.
func (f volumeFault) what() string {
	switch {
	case f.claim != "" && f.pv != "":
		return fmt.Sprintf("PersistentVolumeClaim %q (volume %s)", f.claim, f.pv)
	case f.claim != "":
		return fmt.Sprintf("PersistentVolumeClaim %q", f.claim)
	case f.volume != "":
		return fmt.Sprintf("volume %q", f.volume)
	case f.pv != "":
		return "PersistentVolume " + f.pv
	}
	return "a volume"
}

func (f volumeFault) object() string {
	switch {
	case f.claim != "":
		return "PersistentVolumeClaim/" + f.claim
	case f.volume != "":
		return "Volume/" + f.volume
	case f.pv != "":
		return "PersistentVolume/" + f.pv
	}
	return ""
}

func (f volumeFault) origin(c *diagnose.Case) string {
	if f.claim != "" {
		return claimOrigin(c, f.claim)
	}
	return ""
}

// Grades of what a message is worth. The specific one is believed though a vague one
// is newer: after a failure the kubelet repeats that it waits.
const (
	gradeNone = iota
	gradeSymptom
	gradeVague
	gradeSpecific
)

// foreignOption recognises the options of network file systems that are given to the file
// system of a disk.
var foreignOption = regexp.MustCompile(`-t (?:ext[234]|xfs|btrfs) -o \S*\b(?:uid|gid|(?:dir|file)_?mode)=`)

// volumePatterns tell the causes apart, the more special ones first. The first group
// is the detail.
var volumePatterns = []struct {
	id      string
	pattern *regexp.Regexp
}{
	{"csi-driver-not-registered", regexp.MustCompile(`driver name (\S+) not found in the list of registered CSI drivers`)},
	{"volume-in-use", regexp.MustCompile(`ReadWriteOncePod access mode and is already in use`)},
	{"volume-node-affinity-conflict", regexp.MustCompile(`NodeAffinity check failed|no matching NodeSelectorTerms|InvalidVolume\.ZoneMismatch|(?i:(?:not|must be) in the same (?:availability )?zone|different availability zones?|is in (?:a )?different zone)`)},
	{"volume-limit-exceeded", regexp.MustCompile(`(?i)max(?:imum)? (?:number|count|amount|limit) of (?:\w+ )?(?:volumes|disks|attachments)|maximum number of data disks|exceed(?:s|ed)?\b.*(?:max volume|maximum_persistent_disks|volume limit)|maximum_persistent_disks|AttachmentLimitExceeded|(?:attachment|volume|disk) limit (?:\S+ )?(?:exceeded|reached)|too many (?:volumes|disks) attached|(?:Attach|attach)\w* .*ResourceExhausted`)},
	{"volume-multi-attach", regexp.MustCompile(`Multi-Attach error|Waiting for detach for volume|(?i:already (?:exclusively )?(?:attached|published) (?:to|at|on)\b|attached to (?:the |a |an )?(?:another|different|other|wrong) (?:node|instance|server|droplet|vm|host)|current(?:ly| status is) in-use|currently attached to|resource '\w+' is in use|VolumeInUse|RESOURCE_IN_USE_BY_ANOTHER_RESOURCE|already used by pod|still mounted on node|is still being used)`)},
	// A network file system has no superblock: the message of mount.nfs mentions one all
	// the same, since mount(8) lists everything that can be wrong.
	{"volume-mount-failed", regexp.MustCompile(`/sbin/mount\.<type> helper program|-t (?:nfs4?|cifs|glusterfs|ceph|smb3)\b`)},
	// So does that of a file system which is asked for something it does not know.
	{"volume-mount-failed", foreignOption},
	{"volume-filesystem-corrupt", regexp.MustCompile(`(?i)'fsck' found errors|run fsck manually|unexpected inconsistency|bad superblock|can't read superblock|bad magic number in super-?block|structure needs cleaning|system call failed: bad message|contains (?:a )?file ?system with errors|file ?system issues ha(?:s|ve) been detected|xfs_repair|corrupt`)},
	{"volume-attach-failed", regexp.MustCompile(`external-attacher of (\S+) CSI driver`)},
	{"volume-attach-failed", regexp.MustCompile(`CSINode \S+ does not contain driver (\S+)`)},
	{"volume-attach-failed", regexp.MustCompile(`AttachVolume\.|WaitForAttach failed|^Attach failed|[Ff]ailed to attach volume`)},
	{"volume-mount-failed", regexp.MustCompile(`^(?:Mount|Map|Unmount)Volume\.|MountDevice failed|SetUp failed|mount failed|MapPodDevice|hostPath type check failed`)},
}

// mountHints put what mount programs and drivers say into words.
var mountHints = []struct {
	words   string
	pattern *regexp.Regexp
}{
	{"a Secret with the storage driver's own credentials is missing", regexp.MustCompile(`SecretRef\b.*not found|failed to find the secret|secrets? "[^"]+" not found`)},
	{"the server refuses access (access denied)", regexp.MustCompile(`(?i)access denied by server|mount error\(13\)|Operation not permitted while mounting`)},
	{"one of its mount options is for another kind of file system", foreignOption},
	{"a helper program for this kind of storage is missing on the node", regexp.MustCompile(`helper program|executable file not found|unknown filesystem type|No such device`)},
	{"the directory does not exist on the server", regexp.MustCompile(`reason given by server: No such file or directory|mount error\(2\)`)},
	{"the storage driver does not run on the node", regexp.MustCompile(`dial unix `)},
	{"the storage server cannot be reached", regexp.MustCompile(`(?i)no route to host|connection (?:timed out|refused)|host is down|failed to resolve|name or service not known|network is unreachable|mount error\(11[0-5]\)`)},
	{"the server's file handle is stale", regexp.MustCompile(`(?i)stale (?:nfs )?file handle`)},
	{"permission is denied", regexp.MustCompile(`(?i)permission ?denied|not authorized|unauthori[sz]ed|forbidden`)},
	{"the storage does not answer in time", regexp.MustCompile(`(?i)deadline ?exceeded|timed? ?out|operation with the given volume`)},
	{"the path on the node is not of the kind that is asked for", regexp.MustCompile(`hostPath type check failed`)},
}

var (
	// What waits for something else: the timeout that kubelets up to 1.36 report over the
	// real cause (two wordings), and calls that find an earlier one still at work.
	timeoutPattern = regexp.MustCompile(`^Unable to (?:attach or )?mount volumes|^timed out waiting for the condition|timeout expired waiting for volumes`)
	vaguePattern   = regexp.MustCompile(`(?i)operation with the given volume (?:id )?\S* ?already exists|code = Aborted|context deadline exceeded|DeadlineExceeded|not attached according to node status|volume attachment is being deleted`)
	// Secrets, ConfigMaps and the API credentials have rules of their own, or are noise.
	otherVolumes = regexp.MustCompile(`(?:secret|configmap)s? "[^"]+" not found|references non-existent|not registered|failed to sync (?:secret|configmap) cache|serviceaccounts? "[^"]+" not found|failed to fetch token|error processing PVC`)

	specNamePattern = regexp.MustCompile(`\(spec\.Name: "([^"]+)"\)`)
	unmounted       = regexp.MustCompile(`unmounted volumes=\[([^\]]*)\]`)
	usersPattern    = regexp.MustCompile(`already used by (pod\(s\) [^\n]+|\d+ pod\(s\)[^\n]*)`)
	spaces          = regexp.MustCompile(`\s+`)
)

// parseVolume reads the message of a FailedMount or FailedAttachVolume Event: what is
// wrong, with which volume (in Kubernetes's words; of a timeout all, separated by
// spaces), and what that is worth.
func parseVolume(message string) (id, detail, volume string, grade int) {
	message = strings.TrimPrefix(message, combinedPrefix)
	volume = diagnose.QuotedVolume(message)
	if m := specNamePattern.FindStringSubmatch(message); m != nil {
		volume = m[1] // before 1.7
	}
	switch {
	case otherVolumes.MatchString(message) && !isOfOtherNamespace(message):
		return "", "", volume, gradeNone
	case timeoutPattern.MatchString(message):
		if m := unmounted.FindStringSubmatch(message); m != nil {
			volume = firstOf(m[1], volume)
		}
		return "volume-mount-failed", "the storage does not answer in time (timed out)", volume, gradeSymptom
	}
	for _, p := range volumePatterns {
		m := p.pattern.FindStringSubmatch(message)
		if m == nil {
			continue
		}
		if len(m) > 1 {
			detail = m[1]
		}
		if p.id == "volume-mount-failed" {
			for _, h := range mountHints {
				if h.pattern.MatchString(message) {
					detail = h.words
					break
				}
			}
		}
		if vaguePattern.MatchString(message) {
			return p.id, detail, volume, gradeVague
		}
		return p.id, detail, volume, gradeSpecific
	}
	return "", "", volume, gradeNone
}

type volumeFaultsKey struct{}

// volumeFaults are the current faults, one for each volume: of the Warnings about it
// the newest of the best grade.
func volumeFaults(c *diagnose.Case) []volumeFault {
	return diagnose.Memo(c, volumeFaultsKey{}, findVolumeFaults)
}

func findVolumeFaults(c *diagnose.Case) []volumeFault {
	type graded struct {
		volumeFault
		grade int
	}
	var found []graded
	settled := map[string]bool{} // what Kubernetes calls the volumes of which nothing better can come
	succeeded := successes(c)
	for _, e := range c.CurrentOf("Pod", "FailedMount", "FailedAttachVolume", "FailedMapVolume") { // newest first
		name := diagnose.QuotedVolume(e.Message)
		if settled[name] {
			continue
		}
		if _, ok := identify(c, name); name != "" && !ok {
			settled[name] = true
			continue
		}
		id, detail, volume, grade := parseVolume(e.Message)
		if grade == gradeNone || grade != gradeSymptom && succeeded.since(volume, e) {
			continue
		}
		f, ok := identify(c, volume)
		if grade == gradeSymptom {
			f, ok = storageAmong(c, strings.Fields(volume))
		}
		if !ok {
			continue
		}
		settled[volume] = settled[volume] || grade == gradeSpecific
		f.id, f.detail, f.event = id, detail, e
		i := slices.IndexFunc(found, func(g graded) bool { return g.object() == f.object() })
		switch {
		case i < 0:
			found = append(found, graded{f, grade})
		case grade > found[i].grade:
			found[i] = graded{f, grade}
		}
	}
	// A timeout may name all volumes of the Pod: it says nothing where one is known.
	slices.SortStableFunc(found, func(a, b graded) int { return b.grade - a.grade })
	var out []volumeFault
	for _, g := range found {
		if g.grade > gradeSymptom || len(out) == 0 {
			out = append(out, g.volumeFault)
		}
	}
	return out
}

// volumeSuccesses are the Events that say that a volume was attached or mounted.
type volumeSuccesses []diagnose.Event

func successes(c *diagnose.Case) volumeSuccesses {
	var out volumeSuccesses
	for _, e := range c.All {
		if e.Reason == "SuccessfulAttachVolume" || e.Reason == "SuccessfulMountVolume" {
			out = append(out, e)
		}
	}
	return out
}

// since reports whether a volume has been attached after an attempt that failed: what is
// wrong now is something else.
func (s volumeSuccesses) since(volume string, failed diagnose.Event) bool {
	return slices.ContainsFunc(s, func(e diagnose.Event) bool {
		return (failed.Reason == "FailedAttachVolume" || e.Reason == "SuccessfulMountVolume") &&
			e.Last.After(failed.Last) && volume != "" && strings.Contains(e.Message, `"`+volume+`"`)
	})
}

// identify finds the claim behind the name in a message: that of a PersistentVolume, or
// that of a volume of the Pod. ok is false for volumes that other rules explain.
func identify(c *diagnose.Case, volume string) (f volumeFault, ok bool) {
	for _, name := range podClaims(c) {
		if a := c.Claims[name]; volume != "" && a.IsFound() && a.Value.Spec.VolumeName == volume {
			return volumeFault{claim: name, pv: volume}, true
		}
	}
	if spec := c.PodSpec(); spec != nil {
		for _, v := range spec.Volumes {
			if v.Name != volume {
				continue
			}
			switch {
			case v.PersistentVolumeClaim != nil:
				f.claim = v.PersistentVolumeClaim.ClaimName
				if a := c.Claims[f.claim]; a.IsFound() {
					f.pv = a.Value.Spec.VolumeName
				}
				return f, true
			case v.Secret != nil, v.ConfigMap != nil, v.Projected != nil, v.DownwardAPI != nil:
				return volumeFault{}, false
			}
			return volumeFault{volume: v.Name}, true
		}
	}
	if strings.HasPrefix(volume, "kube-api-access-") || strings.HasPrefix(volume, "default-token-") {
		return volumeFault{}, false
	}
	// A PersistentVolume whose claim could not be read: if the Pod has one claim only, it
	// must be that.
	if claims := podClaims(c); len(claims) == 1 && !c.Claims[claims[0]].IsFound() {
		return volumeFault{claim: claims[0], pv: volume}, true
	}
	return volumeFault{pv: volume}, true
}

// storageAmong picks from the volumes that are not mounted the one with storage behind
// it. ok is false if there is none, or if it can as well be a Secret or ConfigMap that
// nobody could look for.
func storageAmong(c *diagnose.Case, volumes []string) (fault volumeFault, ok bool) {
	if c.Pod == nil {
		return fault, false
	}
	for _, r := range facts.References(&c.Pod.Spec) {
		kind := r.Object.Kind
		if (kind == "Secret" || kind == "ConfigMap") && slices.Contains(volumes, r.Volume) && status(c, r.Object) != facts.Found {
			return fault, false
		}
	}
	for _, name := range volumes {
		if f, known := identify(c, name); known && isStorage(c, f) {
			return f, true
		}
	}
	return fault, false
}

// isStorage tells volumes with storage behind them from those that the kubelet fills
// itself. A claim that is not bound is a matter of the claim.
func isStorage(c *diagnose.Case, f volumeFault) bool {
	if f.claim != "" {
		a := c.Claims[f.claim]
		return a.IsFound() && a.Value.Status.Phase == corev1.ClaimBound || a.Status == facts.Unknown
	}
	return f.volume != "" && c.PodSpec() != nil && slices.ContainsFunc(c.PodSpec().Volumes, func(v corev1.Volume) bool {
		return v.Name == f.volume && v.EmptyDir == nil && v.HostPath == nil
	})
}

// usersIn finds the Pods that hold a volume.
func usersIn(message string) string {
	if m := usersPattern.FindStringSubmatch(message); m != nil {
		return strings.TrimSpace(m[1])
	}
	return ""
}

// gist is the end of a message that says what went wrong, on one line of bearable
// length: without the volume that it is about, the layers that passed it on and the
// command that failed. The whole of it is in the evidence.
func gist(message string) string {
	message = strings.TrimPrefix(message, combinedPrefix)
	if i := strings.Index(message, `" : `); i >= 0 && diagnose.QuotedVolume(message[:i+1]) != "" {
		message = message[i+len(`" : `):]
	}
	for _, mark := range []string{"Output: ", "stderr: ", "error output: ", " desc = ", "'fsck' found"} {
		if i := strings.LastIndex(message, mark); i > 0 {
			message = strings.TrimPrefix(message[i:], mark)
			if strings.HasPrefix(mark, "'") {
				message = mark + message
			}
		}
	}
	message = strings.TrimSpace(spaces.ReplaceAllString(message, " "))
	const most = 240
	if runes := []rune(message); len(runes) > most {
		message = string(runes[:most]) + "…"
	}
	return strings.TrimRight(message, ". ")
}
