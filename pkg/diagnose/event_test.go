package diagnose

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-workspace/kubectl-workspace/pkg/facts"
)

var start = time.Date(2026, 1, 15, 12, 0, 0, 0, time.UTC)

func at(minutes int) time.Time { return start.Add(time.Duration(minutes) * time.Minute) }

func TestEventTimeIsTheLatestOfItsFields(t *testing.T) {
	for name, c := range map[string]struct {
		event corev1.Event
		want  time.Time
	}{
		"scheduler: eventTime alone": {corev1.Event{EventTime: metav1.NewMicroTime(at(3))}, at(3)},
		"scheduler: repeated": {corev1.Event{EventTime: metav1.NewMicroTime(at(3)),
			Series: &corev1.EventSeries{Count: 7, LastObservedTime: metav1.NewMicroTime(at(9))}}, at(9)},
		"kubelet: lastTimestamp": {corev1.Event{FirstTimestamp: metav1.NewTime(at(1)), LastTimestamp: metav1.NewTime(at(5))}, at(5)},
		"nothing but creation":   {corev1.Event{ObjectMeta: metav1.ObjectMeta{CreationTimestamp: metav1.NewTime(at(2))}}, at(2)},
	} {
		t.Run(name, func(t *testing.T) {
			if got := EventTime(&c.event); !got.Equal(c.want) {
				t.Errorf("EventTime = %s, want %s", got, c.want)
			}
		})
	}
}

// The kubelet's Events have whole seconds. A second of a start is told in its order all the same.
func TestEventsOfOneSecondAreInTheirOrder(t *testing.T) {
	pod := facts.Ref{Kind: "Pod", Name: "p"}
	reasons := []string{"Scheduled", "Pulling", "Pulled", "Created", "Started"}
	var events []corev1.Event
	for i, reason := range reasons {
		recorded := start.Add(300*time.Millisecond + time.Duration(i)*time.Millisecond)
		e := event("mine", fmt.Sprintf("p.%x", recorded.UnixNano()), reason, "", start)
		if reason == "Scheduled" { // the scheduler's have microseconds
			e.FirstTimestamp, e.LastTimestamp, e.EventTime = metav1.Time{}, metav1.Time{}, metav1.NewMicroTime(recorded)
		}
		events = append(events, e)
	}
	// Recorded before, and seen again in that second: nothing tells where in it.
	again := event("mine", fmt.Sprintf("p.%x", at(-1).UnixNano()), "FailedMount", "", start)
	events = append(events, again)
	rand.Shuffle(len(events), func(i, j int) { events[i], events[j] = events[j], events[i] })
	var got []string
	for _, e := range slices.Backward(collect(events, pod, "mine", at(-2))) {
		got = append(got, e.Reason)
	}
	if diff := cmp.Diff(append([]string{"FailedMount"}, reasons...), got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func event(uid, name, reason, message string, last time.Time) corev1.Event {
	return corev1.Event{
		ObjectMeta:     metav1.ObjectMeta{UID: types.UID(name), Name: name},
		InvolvedObject: corev1.ObjectReference{Kind: "Pod", Name: "p", UID: types.UID(uid)},
		Type:           corev1.EventTypeWarning, Reason: reason, Message: message,
		FirstTimestamp: metav1.NewTime(last), LastTimestamp: metav1.NewTime(last), Count: 2,
	}
}

func TestCollect(t *testing.T) {
	pod := facts.Ref{Kind: "Pod", Name: "p"}
	events := []corev1.Event{
		event("mine", "a", "FailedMount", "first", at(1)),
		event("mine", "b", "FailedMount", "second", at(4)),
		event("mine", "c", "FailedMount", "first", at(6)), // the same again, under another name
		event("earlier", "d", "BackOff", "of the Pod before", at(7)),
		event("", "e", "TaintManagerEviction", "without a uid, after creation", at(5)),
		event("", "f", "TaintManagerEviction", "without a uid, before creation", at(-5)),
	}
	want := []string{"first", "without a uid, after creation", "second"}
	check := func(t *testing.T, events []corev1.Event) []Event {
		t.Helper()
		got := collect(events, pod, "mine", at(0))
		var messages []string
		for _, e := range got {
			messages = append(messages, e.Message)
		}
		if diff := cmp.Diff(want, messages); diff != "" {
			t.Error(diff)
		}
		return got
	}
	got := check(t, events)
	if got[0].Count != 4 || !got[0].First.Equal(at(1)) || !got[0].Last.Equal(at(6)) {
		t.Errorf("the repeated Event = %+v, want 4 times from minute 1 to 6", got[0])
	}
	t.Run("order does not matter", func(t *testing.T) {
		for range 20 {
			rand.Shuffle(len(events), func(i, j int) { events[i], events[j] = events[j], events[i] })
			if diff := cmp.Diff(got, check(t, events), cmp.AllowUnexported(Event{})); diff != "" {
				t.Fatal(diff)
			}
		}
	})
	t.Run("an Event that is listed twice counts once", func(t *testing.T) {
		if diff := cmp.Diff(got, check(t, append(events, events...)), cmp.AllowUnexported(Event{})); diff != "" {
			t.Error(diff)
		}
	})
}
