package causes

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-workspace/kubectl-workspace/pkg/diagnose"
	"github.com/kubectl-workspace/kubectl-workspace/pkg/facts"
)

const home = "my-home"

func claimIs(s facts.Status) factEdit {
	return func(f *facts.Facts) { f.Claims[home] = facts.Answer[*corev1.PersistentVolumeClaim]{Status: s} }
}

// pendingClaim leaves the home of labFacts unbound for some minutes.
func pendingClaim(minutes int, change ...func(*corev1.PersistentVolumeClaim)) factEdit {
	return func(f *facts.Facts) {
		claim := boundClaim(home, "")
		claim.Status.Phase, claim.CreationTimestamp = corev1.ClaimPending, minutesAgo(minutes)
		for _, c := range change {
			c(claim)
		}
		f.Claims[home] = facts.Answer[*corev1.PersistentVolumeClaim]{Status: facts.Found, Value: claim}
	}
}

func classless(c *corev1.PersistentVolumeClaim) { c.Spec.StorageClassName = nil }

// classIs is the StorageClass "standard" with a provisioner.
func classIs(provisioner string, mode storagev1.VolumeBindingMode) factEdit {
	return func(f *facts.Facts) {
		class := &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: "standard"}, Provisioner: provisioner, VolumeBindingMode: &mode}
		f.Classes = map[string]facts.Answer[*storagev1.StorageClass]{"standard": {Status: facts.Found, Value: class}}
	}
}

func classAnswer(s facts.Status) factEdit {
	return func(f *facts.Facts) {
		f.Classes = map[string]facts.Answer[*storagev1.StorageClass]{"standard": {Status: s}}
	}
}

func defaultClassIs(annotation string) factEdit {
	return func(f *facts.Facts) {
		f.StorageClasses = facts.Answer[[]storagev1.StorageClass]{Status: facts.Found, Value: []storagev1.StorageClass{
			{ObjectMeta: metav1.ObjectMeta{Name: "x", Annotations: map[string]string{annotation: "true"}}},
		}}
	}
}

func TestClaims(t *testing.T) {
	const object = "PersistentVolumeClaim/" + home
	unbound := summarySays("pod has unbound immediate PersistentVolumeClaims")
	noVolume := summarySays("3 node(s) didn't find available persistent volumes to bind")
	waits := eventSaid("Normal", "WaitForFirstConsumer", "waiting for first consumer to be created before binding", 1, home)
	external := func(ago int) factEdit {
		return eventSaid("Normal", "ExternalProvisioning", "Waiting for a volume to be created either by the external provisioner 'csi.example.com' or manually by the system administrator.", ago, home)
	}
	deleted := func(c *corev1.PersistentVolumeClaim) { c.DeletionTimestamp = &metav1.Time{Time: noon} }
	forNodeA := func(c *corev1.PersistentVolumeClaim) { c.Annotations = map[string]string{selectedNode: "a"} }
	csi := classIs("csi.example.com", storagev1.VolumeBindingImmediate)
	runFactCases(t, map[string]factCase{
		"absent":                     {[]factEdit{claimIs(facts.Absent), summarySays(`persistentvolumeclaim "my-home" not found`)}, verdictWant{"pvc-not-found", object, diagnose.StateError, `"my-home" does not exist`}},
		"absent, and nobody says so": {[]factEdit{claimIs(facts.Absent)}, verdictWant{"pvc-not-found", object, diagnose.StateError, "does not exist"}},
		"the scheduler's word":       {[]factEdit{claimIs(facts.Unknown), summarySays(`persistentvolumeclaim "my-home" not found`)}, verdictWant{"pvc-not-found", object, diagnose.StateError, "reports"}},
		"the scheduler's word, old":  {[]factEdit{claimIs(facts.Unknown), schedulerSays(`[SchedulerPredicates failed due to persistentvolumeclaim "my-home" not found, which is unexpected., SchedulerPredicates failed due to persistentvolumeclaim "my-home" not found, which is unexpected.]`)}, verdictWant{"pvc-not-found", object, diagnose.StateError, "reports"}},
		"the kubelet's word":         {[]factEdit{claimIs(facts.Unknown), podWith(onNode), eventSaid("Warning", "FailedMount", `Unable to attach or mount volumes: unmounted volumes=[home-volume], unattached volumes=[], failed to process volumes=[home-volume]: error processing PVC ns/my-home: failed to fetch PVC from API server: persistentvolumeclaims "my-home" not found`, 1)}, verdictWant{"pvc-not-found", object, diagnose.StateError, "reports"}},
		"unreadable is not absent":   {[]factEdit{claimIs(facts.Unknown), summarySays("3 Insufficient cpu")}, verdictWant{"insufficient-resources", "Node", diagnose.StateError, ""}},
		"it exists by now":           {[]factEdit{summarySays(`persistentvolumeclaim "my-home" not found`)}, verdictWant{"pvc-provisioning", object, diagnose.StatePending, "Bound now"}},
		"being deleted":              {[]factEdit{pendingClaim(60, deleted), summarySays(`persistentvolumeclaim "my-home" is being deleted`)}, verdictWant{"pvc-terminating", object, diagnose.StateError, "being deleted"}},
		"class gone":                 {[]factEdit{pendingClaim(1), unbound, classAnswer(facts.Absent)}, verdictWant{"storage-class-not-found", "StorageClass/standard", diagnose.StateError, "does not exist"}},
		"class gone, they say":       {[]factEdit{pendingClaim(1), unbound, classAnswer(facts.Unknown), eventSaid("Warning", "ProvisioningFailed", `storageclass.storage.k8s.io "standard" not found`, 1, home)}, verdictWant{"storage-class-not-found", "StorageClass/standard", diagnose.StateError, "reports"}},
		"class there again":          {[]factEdit{pendingClaim(1), unbound, csi, eventSaid("Warning", "ProvisioningFailed", `storageclass.storage.k8s.io "standard" not found`, 1, home)}, verdictWant{"pvc-provisioning", object, diagnose.StatePending, ""}},
		"no default class":           {[]factEdit{pendingClaim(5, classless), unbound, eventSaid("Normal", "FailedBinding", "no persistent volumes available for this claim and no storage class is set", 1, home)}, verdictWant{"storage-class-not-found", "StorageClass", diagnose.StateError, "no default"}},
		"no default class, checked":  {[]factEdit{pendingClaim(5, classless), unbound, defaultClassIs("other")}, verdictWant{"storage-class-not-found", "StorageClass", diagnose.StateError, "no default"}},
		"no default class among those known": {[]factEdit{pendingClaim(1, classless), unbound, defaultClassIs("other"), func(f *facts.Facts) { f.StorageClasses.Partial = true }},
			verdictWant{"pvc-provisioning", object, diagnose.StatePending, ""}},
		"a default class":    {[]factEdit{pendingClaim(1, classless), unbound, defaultClassIs(defaultClass)}, verdictWant{"pvc-provisioning", object, diagnose.StatePending, ""}},
		"quota":              {[]factEdit{pendingClaim(1), unbound, csi, eventSaid("Warning", "ProvisioningFailed", `failed to provision volume with StorageClass "standard": rpc error: code = ResourceExhausted desc = Quota 'SSD_TOTAL_GB' exceeded`, 1, home)}, verdictWant{"pvc-provisioning-failed", object, diagnose.StateError, "quota"}},
		"refused":            {[]factEdit{pendingClaim(1), unbound, csi, eventSaid("Warning", "ProvisioningFailed", `failed to provision volume with StorageClass "standard": invalid parameter`, 1, home)}, verdictWant{"pvc-provisioning-failed", object, diagnose.StateError, "invalid parameter"}},
		"no answer in time":  {[]factEdit{pendingClaim(1), unbound, csi, eventSaid("Warning", "ProvisioningFailed", `failed to provision volume with StorageClass "standard": rpc error: code = DeadlineExceeded desc = context deadline exceeded`, 1, home)}, verdictWant{"pvc-provisioning-failed", object, diagnose.StateError, "does not answer"}},
		"provisioner silent": {[]factEdit{pendingClaim(9), unbound, external(8)}, verdictWant{"pvc-provisioning-failed", object, diagnose.StateError, "csi.example.com"}},
		"provisioner answers, and takes long": {[]factEdit{pendingClaim(9), unbound, external(0), eventSaid("Normal", "Provisioning", `External provisioner is provisioning volume for claim "ns/my-home"`, 8, home)},
			verdictWant{"pvc-provisioning", object, diagnose.StatePending, "for 8m now"}},
		"provisioner has answered, and refuses": {[]factEdit{pendingClaim(9), unbound, csi, eventSaid("Normal", "Provisioning", "External provisioner is provisioning volume", 1, home), eventSaid("Warning", "ProvisioningFailed", "no", 1, home)},
			verdictWant{"pvc-provisioning-failed", object, diagnose.StateError, "refuses"}},
		"the storage has no room, and the scheduler has chosen": {[]factEdit{pendingClaim(60), classIs("csi.example.com", storagev1.VolumeBindingWaitForFirstConsumer), eventSaid("Warning", "ProvisioningFailed", "rpc error: code = ResourceExhausted desc = no room", 1, home)},
			verdictWant{"pvc-provisioning-failed", object, diagnose.StateError, "no room"}},
		"a volume was asked for before there was the Pod": {[]factEdit{pendingClaim(60), classIs("csi.example.com", storagev1.VolumeBindingWaitForFirstConsumer), eventSaid("Warning", "ProvisioningFailed", "rpc error: code = ResourceExhausted desc = no room", 50, home)},
			verdictWant{"scheduler-not-running", "", diagnose.StatePending, ""}},
		"it has refused at first": {[]factEdit{pendingClaim(9), unbound, csi, eventSaid("Warning", "ProvisioningFailed", "no", 2, home), eventSaid("Normal", "ProvisioningSucceeded", "Successfully provisioned volume pvc-1", 1, home)},
			verdictWant{"pvc-provisioning", object, diagnose.StatePending, ""}},
		"the scheduler has chosen a node since": {[]factEdit{pendingClaim(9, forNodeA), summarySays("3 Insufficient cpu"), eventSaid("Warning", "FailedScheduling", "0/3 nodes are available: 3 Insufficient cpu.", 3), eventSaid("Normal", "Provisioning", "External provisioner is provisioning volume", 1, home)},
			verdictWant{"pvc-provisioning", object, diagnose.StatePending, "for 60s now"}},
		"the scheduler has thought better of it": {[]factEdit{pendingClaim(9, forNodeA), summarySays("3 Insufficient cpu"), eventSaid("Warning", "FailedScheduling", "0/3 nodes are available: 3 Insufficient cpu.", 1), eventSaid("Normal", "Provisioning", "External provisioner is provisioning volume", 3, home)},
			verdictWant{"insufficient-resources", "Node", diagnose.StateError, "cpu"}},
		"a volume that is made without the scheduler": {[]factEdit{pendingClaim(9), summarySays("3 Insufficient cpu"), eventSaid("Warning", "FailedScheduling", "0/3 nodes are available: 3 Insufficient cpu.", 3), eventSaid("Normal", "Provisioning", "External provisioner is provisioning volume", 1, home)},
			verdictWant{"insufficient-resources", "Node", diagnose.StateError, "cpu"}},
		"provisioner at work":           {[]factEdit{pendingClaim(1), unbound, external(1)}, verdictWant{"pvc-provisioning", object, diagnose.StatePending, "csi.example.com"}},
		"provisioner at work, no word":  {[]factEdit{pendingClaim(1, forNodeA), external(1)}, verdictWant{"pvc-provisioning", object, diagnose.StatePending, ""}},
		"nothing provisions":            {[]factEdit{pendingClaim(5), noVolume, waits, classIs(noProvisioner, storagev1.VolumeBindingWaitForFirstConsumer)}, verdictWant{"pvc-unbound", object, diagnose.StateError, noProvisioner}},
		"no room for it":                {[]factEdit{pendingClaim(5), summarySays("3 node(s) did not have enough free storage")}, verdictWant{"pvc-unbound", object, diagnose.StateError, "offers none (3 node(s) did not have enough free storage)."}},
		"nothing provisions, nor waits": {[]factEdit{pendingClaim(5), unbound, classIs(noProvisioner, storagev1.VolumeBindingImmediate)}, verdictWant{"pvc-unbound", object, diagnose.StateError, "(its provisioner is " + noProvisioner + ")."}},
		"no volume to bind":             {[]factEdit{pendingClaim(5), noVolume, waits}, verdictWant{"pvc-unbound", object, diagnose.StateError, "no PersistentVolume fits"}},
		"around the scheduler":          {[]factEdit{pendingClaim(5), podWith(onNode), podWith(func(p *corev1.Pod) { p.Spec.SchedulerName = "mine" }), waits}, verdictWant{"pvc-unbound", object, diagnose.StateError, "schedulerName mine"}},
		"without a class":               {[]factEdit{pendingClaim(5, func(c *corev1.PersistentVolumeClaim) { none := ""; c.Spec.StorageClassName = &none }), unbound}, verdictWant{"pvc-unbound", object, diagnose.StateError, "without a StorageClass"}},
		"volume lost":                   {[]factEdit{pendingClaim(5, func(c *corev1.PersistentVolumeClaim) { c.Status.Phase = corev1.ClaimLost; c.Spec.VolumeName = "pv-9" }), unbound}, verdictWant{"pvc-unbound", object, diagnose.StateError, "pv-9"}},
		"unreadable and unbound":        {[]factEdit{claimIs(facts.Unknown), unbound}, verdictWant{"pvc-unbound", object, diagnose.StateError, "could not be read"}},
		"waiting for the first consumer is no fault while there is no room": {[]factEdit{pendingClaim(5), waits, summarySays("3 Insufficient cpu")}, verdictWant{"insufficient-resources", "Node", diagnose.StateError, "cpu"}},
		"waiting behind a gate": {[]factEdit{pendingClaim(5), waits, podWith(func(p *corev1.Pod) { p.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "g"}} })}, verdictWant{"scheduling-gated", "Pod/" + testPod, diagnose.StatePending, ""}},
	})
}

// A running Workspace whose claim somebody deletes goes on, but not for ever.
func TestTerminatingClaimOfARunningPod(t *testing.T) {
	f := labFacts()
	podWith(func(p *corev1.Pod) {
		onNode(p)
		p.Status.Phase = corev1.PodRunning
		p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
	})(f)
	f.Claims[home].Value.DeletionTimestamp = &metav1.Time{Time: noon}
	d := Diagnose(f)
	if d.State != diagnose.StateRunning || len(d.Causes) > 0 || len(d.Warnings) != 1 || d.Warnings[0].ID != "pvc-terminating" {
		t.Errorf("%s, %+v, %+v", d.State, d.Causes, d.Warnings)
	}
}

// Of two claims the one that is not bound is to blame, not the one that is.
func TestOneOfTwoClaimsUnbound(t *testing.T) {
	f := labFacts()
	pendingClaim(1)(f)
	summarySays("pod has unbound immediate PersistentVolumeClaims")(f)
	classAnswer(facts.Absent)(f)
	f.Claims["data"] = facts.Answer[*corev1.PersistentVolumeClaim]{Status: facts.Found, Value: boundClaim("data", "pv-2")}
	podWith(func(p *corev1.Pod) {
		p.Spec.Volumes = append([]corev1.Volume{{Name: "d", VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "data"}}}}, p.Spec.Volumes...)
	})(f)
	if d := Diagnose(f); len(d.Causes) != 1 || d.Causes[0].ID != "storage-class-not-found" {
		t.Errorf("%+v", d.Causes)
	}
}
