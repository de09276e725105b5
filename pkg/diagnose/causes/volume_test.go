package causes

import (
	"strconv"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-workspace/kubectl-workspace/pkg/diagnose"
	"github.com/kubectl-workspace/kubectl-workspace/pkg/facts"
)

// tooManyTimes is more often than a lagging cache of a kubelet is put down to chance.
const tooManyTimes = 5

func TestVolumes(t *testing.T) {
	const object = "PersistentVolumeClaim/" + home
	mount := func(message string, ago int) factEdit { return eventSaid("Warning", "FailedMount", message, ago) }
	attach := func(message string, ago int) factEdit {
		return eventSaid("Warning", "FailedAttachVolume", message, ago)
	}
	timeout := mount("Unable to attach or mount volumes: unmounted volumes=[home-volume], unattached volumes=[kube-api-access-x home-volume]: timed out waiting for the condition", 0)
	fsck := mount(`MountVolume.MountDevice failed for volume "pv-1" : rpc error: code = Internal desc = 'fsck' found errors on device /dev/sdc but could not correct them`, 2)
	multi := attach(`Multi-Attach error for volume "pv-1" Volume is already exclusively attached to one node and can't be attached to another`, 2)
	started := func(ago int) factEdit {
		return podWith(func(p *corev1.Pod) {
			onNode(p)
			at := minutesAgo(ago)
			p.Status.StartTime = &at
			p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReadyToStartContainers, Status: corev1.ConditionFalse}}
		})
	}
	partialEvents := func(f *facts.Facts) {
		ref := facts.Ref{Kind: "Pod", Name: testPod}
		f.Events[ref] = facts.Answer[[]corev1.Event]{Status: facts.Found, Value: f.Events[ref].Value, Partial: true}
	}
	mountsSecret := podWith(func(p *corev1.Pod) {
		p.Spec.Volumes = append(p.Spec.Volumes, corev1.Volume{Name: "s", VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "token"}}})
	})
	runFactCases(t, map[string]factCase{
		"multi-attach":                     {[]factEdit{podWith(onNode), multi, timeout}, verdictWant{"volume-multi-attach", object, diagnose.StateError, "pv-1"}},
		"multi-attach, the holder":         {[]factEdit{podWith(onNode), attach(`Multi-Attach error for volume "pv-1" Volume is already used by pod(s) ws-bob-x-0`, 1)}, verdictWant{"volume-multi-attach", object, diagnose.StateError, "ws-bob-x-0"}},
		"attached since":                   {[]factEdit{podWith(onNode), multi, eventSaid("Normal", "SuccessfulAttachVolume", `AttachVolume.Attach succeeded for volume "pv-1"`, 1), mount(`MountVolume.SetUp failed for volume "pv-1" : something odd`, 0)}, verdictWant{"volume-mount-failed", object, diagnose.StateError, "something odd"}},
		"limit":                            {[]factEdit{podWith(onNode), attach(`AttachVolume.Attach failed for volume "pv-1" : rpc error: code = ResourceExhausted desc = no more`, 1)}, verdictWant{"volume-limit-exceeded", "Node/a", diagnose.StateError, "Node a"}},
		"attacher silent":                  {[]factEdit{podWith(onNode), attach(`AttachVolume.Attach failed for volume "pv-1" : timed out waiting for external-attacher of csi.example.com CSI driver to attach volume x`, 2), timeout}, verdictWant{"volume-attach-failed", object, diagnose.StateError, "csi.example.com"}},
		"driver missing on the CSINode":    {[]factEdit{podWith(onNode), attach(`AttachVolume.Attach failed for volume "pv-1" : CSINode a does not contain driver csi.example.com`, 2)}, verdictWant{"volume-attach-failed", object, diagnose.StateError, "csi.example.com"}},
		"driver not registered":            {[]factEdit{podWith(onNode), mount(`MountVolume.MountDevice failed for volume "pv-1" : kubernetes.io/csi: attacher.MountDevice failed to create newCsiDriverClient: driver name csi.example.com not found in the list of registered CSI drivers`, 1)}, verdictWant{"csi-driver-not-registered", "CSIDriver/csi.example.com", diagnose.StateError, home}},
		"a newer symptom":                  {[]factEdit{podWith(onNode), fsck, timeout, mount(`MountVolume.MountDevice failed for volume "pv-1" : rpc error: code = Aborted desc = An operation with the given Volume ID pv-1 already exists`, 0)}, verdictWant{"volume-filesystem-corrupt", object, diagnose.StateError, "fsck"}},
		"similar ones":                     {[]factEdit{podWith(onNode), mount(combinedPrefix+`MountVolume.MountDevice failed for volume "pv-1" : 'fsck' found errors on device x`, 1)}, verdictWant{"volume-filesystem-corrupt", object, diagnose.StateError, "fsck"}},
		"only the timeout":                 {[]factEdit{podWith(onNode), timeout}, verdictWant{"volume-mount-failed", object, diagnose.StateError, "timed out"}},
		"the timeout of an unbound claim":  {[]factEdit{podWith(onNode), pendingClaim(1), timeout}, verdictWant{"pvc-provisioning", object, diagnose.StatePending, ""}},
		"NFS refuses":                      {[]factEdit{podWith(onNode), mount("MountVolume.SetUp failed for volume \"pv-1\" : mount failed: exit status 32\nMounting command: mount\nMounting arguments: -t nfs nas:/x /y\nOutput: mount.nfs: access denied by server while mounting nas:/x", 1)}, verdictWant{"volume-mount-failed", object, diagnose.StateError, "refuses access"}},
		"no NFS helper":                    {[]factEdit{podWith(onNode), mount("MountVolume.SetUp failed for volume \"pv-1\" : mount failed: exit status 32\nMounting arguments: -t nfs nas:/x /y\nOutput: mount: wrong fs type, bad option, bad superblock on nas:/x, missing codepage or helper program, or other error", 1)}, verdictWant{"volume-mount-failed", object, diagnose.StateError, "helper program"}},
		"bad superblock":                   {[]factEdit{podWith(onNode), mount("MountVolume.MountDevice failed for volume \"pv-1\" : mount failed: exit status 32\nMounting arguments: -t ext4 /dev/sdb /y\nOutput: mount: wrong fs type, bad option, bad superblock on /dev/sdb, missing codepage or helper program, or other error", 1)}, verdictWant{"volume-filesystem-corrupt", object, diagnose.StateError, "damaged"}},
		"an option of another file system": {[]factEdit{podWith(onNode), mount("MountVolume.MountDevice failed for volume \"pv-1\" : mount failed: exit status 32\nMounting arguments: --scope -- mount -t xfs -o dir_mode=0777,uid=1000,defaults /dev/sdb /y\nOutput: mount: wrong fs type, bad option, bad superblock on /dev/sdb, missing codepage or helper program, or other error", 1)}, verdictWant{"volume-mount-failed", object, diagnose.StateError, "mount options"}},
		"file system not repaired":         {[]factEdit{podWith(onNode), mount(`MountVolume.MountDevice failed for volume "pv-1" : rpc error: code = Internal desc = Failed to stage volume pv-1, err: Filesystem issues has been detected and will not be repaired for the volume pv-1 as the fsRepair parameter is not set in the StorageClass.`, 1)}, verdictWant{"volume-filesystem-corrupt", object, diagnose.StateError, "damaged"}},
		"the kubelet's cache lags":         {[]factEdit{podWith(onNode), mount(`MountVolume.SetUp failed for volume "kube-api-access-x" : failed to sync configmap cache: timed out waiting for the condition`, 0)}, verdictWant{"container-starting", "", diagnose.StatePending, ""}},
		"the kubelet's cache never comes": {[]factEdit{podWith(onNode), func(f *facts.Facts) {
			for i := range tooManyTimes {
				mount(`MountVolume.SetUp failed for volume "kube-api-access-x" : failed to sync configmap cache: timed out waiting for the condition`, i)(f)
				events := f.Events[facts.Ref{Kind: "Pod", Name: testPod}].Value
				events[len(events)-1].UID += types.UID(strconv.Itoa(i))
			}
		}}, verdictWant{diagnose.UnexplainedID, "Pod/" + testPod, diagnose.StateError, "failed to sync configmap cache"}},
		"another volume was attached since":             {[]factEdit{podWith(onNode), multi, eventSaid("Normal", "SuccessfulAttachVolume", `AttachVolume.Attach succeeded for volume "pv-2"`, 1), timeout}, verdictWant{"volume-multi-attach", object, diagnose.StateError, "pv-1"}},
		"attached since, a moment ago":                  {[]factEdit{started(5), multi, mount("Unable to attach or mount volumes: unmounted volumes=[home-volume], unattached volumes=[]: timed out waiting for the condition", 2), eventSaid("Normal", "SuccessfulAttachVolume", `AttachVolume.Attach succeeded for volume "pv-1"`, 1)}, verdictWant{"container-starting", "", diagnose.StatePending, ""}},
		"attached long ago, and nothing happens":        {[]factEdit{started(9), eventSaid("Normal", "SuccessfulAttachVolume", `AttachVolume.Attach succeeded for volume "pv-1"`, 8)}, verdictWant{"volume-mount-silent", object, diagnose.StatePending, "for 9m"}},
		"Ceph has no image":                             {[]factEdit{podWith(onNode), mount("MountVolume.MountDevice failed for volume \"pv-1\" : rpc error: code = Internal desc = rbd: map failed with error an error (exit status 2) occurred while running rbd args: [--id csi-rbd-node -m 192.0.2.1:6789 map pool/csi-vol-1 --device-type krbd --options noudev], rbd error output: rbd: sysfs write failed\nrbd: map failed: (2) No such file or directory", 1)}, verdictWant{"volume-mount-failed", object, diagnose.StateError, ": rbd: sysfs write failed rbd: map failed: (2) No such file or directory."}},
		"ext4, checksums":                               {[]factEdit{podWith(onNode), mount("MountVolume.MountDevice failed for volume \"pv-1\" : mount failed: exit status 32\nMounting arguments: -t ext4 /dev/sdb /y\nOutput: mount: /y: mount(2) system call failed: Bad message.", 1)}, verdictWant{"volume-filesystem-corrupt", object, diagnose.StateError, "damaged"}},
		"used by one Pod only":                          {[]factEdit{podWith(onNode), mount(`MountVolume.SetUp failed for volume "pv-1" : volume uses the ReadWriteOncePod access mode and is already in use by another pod`, 1)}, verdictWant{"volume-in-use", object, diagnose.StateError, "ReadWriteOncePod"}},
		"claim unreadable":                              {[]factEdit{podWith(onNode), claimIs(facts.Unknown), multi}, verdictWant{"volume-multi-attach", object, diagnose.StateError, "pv-1"}},
		"a Secret is another matter":                    {[]factEdit{podWith(onNode), mount(`MountVolume.SetUp failed for volume "kube-api-access-x" : object "ns"/"kube-root-ca.crt" not registered`, 1)}, verdictWant{"container-starting", "", diagnose.StatePending, ""}},
		"nothing happens, and not every Event is known": {[]factEdit{started(3), partialEvents}, verdictWant{"volume-mount-silent", object, diagnose.StatePending, "no Event that could be read says why"}},
		"nothing happens, and a Secret that nobody could look for may be missing": {[]factEdit{started(3), partialEvents, mountsSecret},
			verdictWant{"container-starting", "", diagnose.StatePending, ""}},
		"nothing happens":     {[]factEdit{started(3)}, verdictWant{"volume-mount-silent", object, diagnose.StatePending, home}},
		"nothing happens yet": {[]factEdit{started(1)}, verdictWant{"container-starting", "", diagnose.StatePending, ""}},
	})
}

func TestParseVolume(t *testing.T) {
	for message, want := range map[string]struct {
		id, detail, volume string
		grade              int
	}{
		`Multi-Attach error for volume "pv" Volume is already used by pod(s) x`:                                                                                                                                                                                                            {"volume-multi-attach", "", "pv", gradeSpecific},
		`AttachVolume.Attach failed for volume "pv" : googleapi: Error 400: RESOURCE_IN_USE_BY_ANOTHER_RESOURCE - The disk resource 'x' is already being used by 'y'`:                                                                                                                      {"volume-multi-attach", "", "pv", gradeSpecific},
		`AttachVolume.Attach failed for volume "pv" : rpc error: code = Internal desc = Could not attach volume "vol-1" to node "i-1": attachment of disk "vol-1" failed, expected device to be attached but was attaching`:                                                                {"volume-attach-failed", "", "pv", gradeSpecific},
		`AttachVolume.Attach failed for volume "pv" : googleapi: Error 400: Exceeded limit 'maximum_persistent_disks' on resource 'x'. Limit: 15`:                                                                                                                                          {"volume-limit-exceeded", "", "pv", gradeSpecific},
		`AttachVolume.Attach failed for volume "pv" : The maximum number of data disks allowed to be attached to a VM of this size is 4.`:                                                                                                                                                  {"volume-limit-exceeded", "", "pv", gradeSpecific},
		`MountVolume.WaitForAttach failed for volume "pv" : volume attachment is being deleted`:                                                                                                                                                                                            {"volume-attach-failed", "", "pv", gradeVague},
		`MountVolume.NodeAffinity check failed for volume "pv" : no matching NodeSelectorTerms`:                                                                                                                                                                                            {"volume-node-affinity-conflict", "", "pv", gradeSpecific},
		`MountVolume.SetUp failed for volume "kubernetes.io/nfs/uid-pv" (spec.Name: "pv") pod "uid" (UID: "uid") with: mount failed: exit status 32`:                                                                                                                                       {"volume-mount-failed", "", "pv", gradeSpecific},
		`MountVolume.SetUp failed for volume "pv" : hostPath type check failed: /data is not a directory`:                                                                                                                                                                                  {"volume-mount-failed", "the path on the node is not of the kind that is asked for", "pv", gradeSpecific},
		`MountVolume.SetUp failed for volume "pv" : rpc error: code = DeadlineExceeded desc = context deadline exceeded`:                                                                                                                                                                   {"volume-mount-failed", "the storage does not answer in time", "pv", gradeVague},
		`Unable to mount volumes for pod "p": timeout expired waiting for volumes to attach or mount for pod "ns"/"p". list of unmounted volumes=[a b]. list of unattached volumes=[a]`:                                                                                                    {"volume-mount-failed", "the storage does not answer in time (timed out)", "a b", gradeSymptom},
		`MountVolume.SetUp failed for volume "pv" : rpc error: code = Unavailable desc = connection error: desc = "transport: Error while dialing: dial unix /var/lib/kubelet/plugins/ebs.csi.aws.com/csi.sock: connect: connection refused"`:                                              {"volume-mount-failed", "the storage driver does not run on the node", "pv", gradeSpecific},
		`MountVolume.SetUp failed for volume "s" : secret "x" not found`:                                                                                                                                                                                                                   {"", "", "s", gradeNone},
		`MountVolume.SetUp failed for volume "s" : failed to sync secret cache: timed out waiting for the condition`:                                                                                                                                                                       {"", "", "s", gradeNone},
		`MountVolume.MountDevice failed for volume "pv" : fetching NodeStageSecretRef ceph/csi-node failed: kubernetes.io/csi: failed to find the secret csi-node in the namespace ceph with error: secrets "csi-node" not found`:                                                          {"volume-mount-failed", "a Secret with the storage driver's own credentials is missing", "pv", gradeSpecific},
		`AttachVolume.Attach failed for volume "pv" : rpc error: code = Internal desc = [ControllerPublishVolume] Attach Volume failed with error failed to attach vol-1 volume to vm-1 compute: can not attach volume vol-1, its current status is in-use`:                                {"volume-multi-attach", "", "pv", gradeSpecific},
		`AttachVolume.Attach failed for volume "pv" : rpc error: code = Internal desc = Could not attach volume "vol-1" to node "i-1": operation error EC2: AttachVolume, api error InvalidVolume.ZoneMismatch: The volume 'vol-1' is not in the same availability zone as instance 'i-1'`: {"volume-node-affinity-conflict", "", "pv", gradeSpecific},
		`AttachVolume.Attach failed for volume "pv" : rpc error: code = FailedPrecondition desc = volume is already attached on node 192.0.2.2`:                                                                                                                                            {"volume-multi-attach", "", "pv", gradeSpecific},
		`AttachVolume.Attach failed for volume "pv" : rpc error: code = FailedPrecondition desc = volume pv is already published to a different node: "b"`:                                                                                                                                 {"volume-multi-attach", "", "pv", gradeSpecific},
		`AttachVolume.Attach failed for volume "pv" : rpc error: code = Internal desc = its current status is error`:                                                                                                                                                                       {"volume-attach-failed", "", "pv", gradeSpecific},
		``: {"", "", "", gradeNone},
	} {
		t.Run(message, func(t *testing.T) {
			id, detail, volume, grade := parseVolume(message)
			if id != want.id || detail != want.detail || volume != want.volume || grade != want.grade {
				t.Errorf("%q %q %q %d, want %+v", id, detail, volume, grade, want)
			}
		})
	}
}

func FuzzParseVolume(f *testing.F) {
	for _, s := range []string{"", `MountVolume.SetUp failed for volume "a" : Output: x`, `Unable to attach or mount volumes: unmounted volumes=[]`, " desc = Output: 'fsck' found"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, message string) {
		id, _, _, grade := parseVolume(message)
		if (id == "") != (grade == gradeNone) {
			t.Errorf("%q of grade %d", id, grade)
		}
		if g := gist(message); strings.Contains(g, "\n") || len([]rune(g)) > 300 {
			t.Errorf("gist = %q", g)
		}
	})
}
