package diagnose

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-workspace/kubectl-workspace/pkg/facts"
)

// Event is one thing that was said about one object, repeats collapsed.
type Event struct {
	Object  facts.Ref
	Type    string
	Reason  string
	Message string
	// FieldPath names the part of the object, such as "spec.containers{istio-proxy}".
	FieldPath string
	Count     int32
	First     time.Time
	Last      time.Time
	// moment is Last, more exactly where the Event tells; Events are ordered by it.
	moment time.Time
	// FromController is set for what is only known from the Workspace's status, where
	// the Events themselves cannot be read.
	FromController bool
}

// IsWarning reports whether the Event is of type Warning.
func (e Event) IsWarning() bool { return e.Type == corev1.EventTypeWarning }

// Evidence quotes the Event.
func (e Event) Evidence() Evidence {
	out := Evidence{Source: "Event/" + e.Object.String(), Reason: e.Reason, Message: e.Message, Count: e.Count}
	if e.FromController {
		// The controller gives the words alone.
		out.Source, out.Reason = e.Object.String(), ""
	}
	if !e.Last.IsZero() {
		last := e.Last
		out.Last = &last
	}
	return out
}

// EventTime is when an Event was last observed: the latest of its five time fields.
// The scheduler and everything else that uses events.k8s.io leaves lastTimestamp
// empty; sorting by it alone makes their newest Events the oldest.
func EventTime(e *corev1.Event) time.Time {
	t := e.CreationTimestamp.Time
	if e.Series != nil {
		t = later(t, e.Series.LastObservedTime.Time)
	}
	return later(later(later(t, e.LastTimestamp.Time), e.EventTime.Time), e.FirstTimestamp.Time)
}

// moment is EventTime to the nanosecond, where the Event was recorded in the very second in
// which it was last observed. The times of an Event are whole seconds if the kubelet wrote it;
// but client-go ends its name with the nanoseconds in hexadecimal
// (tools/record/util.GenerateEventName).
func moment(e *corev1.Event) time.Time {
	last := EventTime(e)
	nanoseconds, err := strconv.ParseInt(e.Name[strings.LastIndex(e.Name, ".")+1:], 16, 64)
	if recorded := time.Unix(0, nanoseconds); err == nil && recorded.Unix() == last.Unix() {
		return recorded
	}
	return last
}

func firstTime(e *corev1.Event) time.Time {
	for _, t := range []time.Time{e.FirstTimestamp.Time, e.EventTime.Time} {
		if !t.IsZero() {
			return t
		}
	}
	return EventTime(e)
}

func eventCount(e *corev1.Event) int32 {
	n := max(e.Count, 1)
	if e.Series != nil {
		n = max(n, e.Series.Count)
	}
	return n
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// collect keeps the Events of one object and collapses repeats, newest first.
//
// An Event counts if it carries the object's uid. Some controllers record none; such
// an Event counts if it is not older than the object.
func collect(events []corev1.Event, object facts.Ref, uid types.UID, created time.Time) []Event {
	type key struct{ typ, reason, message, fieldPath string }
	byKey := map[key]*Event{}
	seen := map[types.UID]bool{}
	for i := range events {
		e := &events[i]
		if e.UID != "" {
			if seen[e.UID] {
				continue
			}
			seen[e.UID] = true
		}
		if e.InvolvedObject.UID != uid && (e.InvolvedObject.UID != "" || EventTime(e).Before(created)) {
			continue
		}
		k := key{e.Type, e.Reason, e.Message, e.InvolvedObject.FieldPath}
		if byKey[k] == nil {
			byKey[k] = &Event{Object: object, Type: e.Type, Reason: e.Reason, Message: e.Message,
				FieldPath: e.InvolvedObject.FieldPath, First: firstTime(e)}
		}
		merged := byKey[k]
		merged.Count += eventCount(e)
		merged.Last = later(merged.Last, EventTime(e))
		merged.moment = later(merged.moment, moment(e))
		if first := firstTime(e); first.Before(merged.First) {
			merged.First = first
		}
	}
	out := make([]Event, 0, len(byKey))
	for _, e := range byKey {
		out = append(out, *e)
	}
	slices.SortFunc(out, newestFirst)
	return out
}

// newestFirst orders Events by time. What follows the time only makes the order
// independent of how the server happened to list them.
func newestFirst(a, b Event) int {
	return cmp.Or(b.moment.Compare(a.moment), cmp.Compare(a.Object.Kind, b.Object.Kind), cmp.Compare(a.Object.Name, b.Object.Name),
		cmp.Compare(a.Type, b.Type), cmp.Compare(a.Reason, b.Reason), cmp.Compare(a.Message, b.Message),
		cmp.Compare(a.FieldPath, b.FieldPath))
}

// QuotedVolume is the first volume that a message names, in Kubernetes's words; empty if
// it names none.
func QuotedVolume(message string) string {
	_, rest, ok := strings.Cut(message, `olume "`)
	name, _, closed := strings.Cut(rest, `"`)
	if !ok || !closed {
		return ""
	}
	return name
}
