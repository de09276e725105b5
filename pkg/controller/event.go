package controller

import (
	"time"

	corev1 "k8s.io/api/core/v1"
)

// EventTime is when an Event was last seen: the latest of all times it carries. Which of them a
// component fills in differs: the scheduler leaves lastTimestamp empty, series only count up
// lastObservedTime.
func EventTime(e *corev1.Event) time.Time {
	latest := e.CreationTimestamp.Time
	times := []time.Time{e.FirstTimestamp.Time, e.LastTimestamp.Time, e.EventTime.Time}
	if e.Series != nil {
		times = append(times, e.Series.LastObservedTime.Time)
	}
	for _, t := range times {
		if t.After(latest) {
			latest = t
		}
	}
	return latest
}

// LatestWarning returns the newest Warning about the object with that uid, or nil. Of several
// at the same time it is the one that comes first by name, so that the answer does not change
// from one reconcile to the next.
func LatestWarning(events []corev1.Event, uid string) *corev1.Event {
	var latest *corev1.Event
	for i := range events {
		e := &events[i]
		if e.Type != corev1.EventTypeWarning || string(e.InvolvedObject.UID) != uid {
			continue
		}
		if latest == nil {
			latest = e
			continue
		}
		switch a, b := EventTime(e), EventTime(latest); {
		case a.After(b), a.Equal(b) && e.Name < latest.Name:
			latest = e
		}
	}
	return latest
}
