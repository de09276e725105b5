package controller

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-workspace/kubectl-workspace/pkg/api/v1beta1"
)

// ReasonSecretNotFound is the reason of the Warning that a Workspace mounts a Secret that does
// not exist.
const ReasonSecretNotFound = "SecretNotFound"

// Recorder records Events about Workspaces.
type Recorder interface {
	Warning(ctx context.Context, w *v1beta1.Workspace, reason, message string) error
}

// EventRecorder writes Events through a client, at once, so that a dry run shows them and an
// error is seen. An Event that is already there is not repeated: what is reconciled again and
// again would otherwise never come to rest.
type EventRecorder struct {
	Client client.Client
	Now    func() time.Time
	// Component is the source of the Events.
	Component string
}

// Warning implements Recorder.
func (r *EventRecorder) Warning(ctx context.Context, w *v1beta1.Workspace, reason, message string) error {
	var events corev1.EventList
	if err := r.Client.List(ctx, &events, client.InNamespace(w.Namespace), client.MatchingFields{involvedUID: string(w.UID)}); err != nil {
		return fmt.Errorf("unable to list the Events of Workspace %s/%s: %w", w.Namespace, w.Name, err)
	}
	for i := range events.Items {
		if events.Items[i].Reason == reason && events.Items[i].Message == message {
			return nil
		}
	}
	now := r.Now()
	event := &corev1.Event{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace, GenerateName: w.Name + "."},
		InvolvedObject: corev1.ObjectReference{
			APIVersion: v1beta1.GroupVersion.String(), Kind: v1beta1.WorkspaceGVK.Kind,
			Namespace: w.Namespace, Name: w.Name, UID: w.UID, ResourceVersion: w.ResourceVersion,
		},
		Type: corev1.EventTypeWarning, Reason: reason, Message: message, Count: 1,
		FirstTimestamp: metav1.NewTime(now), LastTimestamp: metav1.NewTime(now),
		Source: corev1.EventSource{Component: r.Component}, ReportingController: r.Component,
	}
	if err := r.Client.Create(ctx, event); err != nil {
		return fmt.Errorf("unable to record an Event about Workspace %s/%s: %w", w.Namespace, w.Name, err)
	}
	return nil
}

// involvedUID selects the Events about one object.
const involvedUID = "involvedObject.uid"
