package commit

import (
	"context"
	"errors"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// fate is what a failed write says about the object.
type fate int

const (
	// refused: the server did not make the change and never will.
	refused fate = iota
	// overtaken: the server did not make the change because the object is not what the
	// patch was built for.
	overtaken
	// busy: the server did not make the change; asking later can help.
	busy
	// lost: nobody knows whether the server made the change.
	lost
)

func fateOf(err error) fate {
	var status apierrors.APIStatus
	switch {
	case errors.Is(err, context.Canceled):
		return refused
	case !errors.As(err, &status):
		// Not an answer of the server: the connection failed, or broke in the reply.
		return lost
	case apierrors.IsConflict(err), isFailedTest(status.Status()), isDuplicate(status.Status()):
		return overtaken
	case apierrors.IsTooManyRequests(err):
		return busy
	case status.Status().Code >= http.StatusInternalServerError:
		// A server can fail after it has stored the object.
		return lost
	}
	return refused
}

// isFailedTest recognises the answer to a JSON Patch that does not apply. The API
// server words it "the server rejected our request due to an error in our request",
// status 422, and names neither the object nor the operation; an object that fails
// validation has the same status and does name both.
func isFailedTest(s metav1.Status) bool {
	return s.Code == http.StatusUnprocessableEntity && (s.Details == nil || s.Details.Kind == "" && len(s.Details.Causes) == 0)
}

// isDuplicate recognises that somebody else has taken the mount path since: the list
// would hold it twice.
func isDuplicate(s metav1.Status) bool {
	if s.Code != http.StatusUnprocessableEntity || s.Details == nil {
		return false
	}
	for _, c := range s.Details.Causes {
		if c.Type == metav1.CauseTypeFieldValueDuplicate {
			return true
		}
	}
	return false
}

// canReadAgain reports whether a read that failed is worth repeating. A server that
// does not accept connections may be restarting: it has answered before.
func canReadAgain(err error) bool {
	switch fateOf(err) {
	case busy, lost:
		return true
	}
	return false
}
