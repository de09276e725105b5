package commit

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/kubectl-workspace/kubectl-workspace/pkg/secretmount"
)

const (
	// limit bounds all attempts together. A hundred writers of one list, half of whom
	// take away what shifts the others' entries, need up to a minute on a slow server.
	limit = 2 * time.Minute
	// firstDelay and maxDelay bound the pause before a further attempt. It grows by
	// half and is spread at random, so that writers do not meet again.
	firstDelay = 20 * time.Millisecond
	maxDelay   = 3 * time.Second
	// patience is how long Write tries silently.
	patience = 3 * time.Second
)

// Workspace is the object on the server.
type Workspace interface {
	// Read returns it as it is now.
	Read(context.Context) (*unstructured.Unstructured, error)
	// Patch sends a JSON Patch and returns what the server made of it.
	Patch(ctx context.Context, patch []byte) (*unstructured.Unstructured, error)
}

// Plan builds the edit for a Workspace. again is true if an earlier edit may have
// been made already, so that what is done is not an error.
type Plan func(workspace map[string]any, again bool) (secretmount.Edit, error)

// Write plans an edit on first, a fresh read of the Workspace, and sends it until it
// is made. It returns the Workspace as the server has it then, and the edit, which says
// what became of each mount over all attempts.
//
// waiting is told, once, when it takes longer than a few seconds; it may be nil.
func Write(ctx context.Context, w Workspace, first *unstructured.Unstructured, plan Plan, waiting func(error)) (*unstructured.Unstructured, secretmount.Edit, error) {
	started := time.Now()
	// Not a deadline of ctx: that would abort a request which is about to succeed and
	// leave its outcome unknown.
	tooLate := started.Add(limit)
	// No Cap: wait.Backoff takes reaching it for the end of all steps.
	pause := wait.Backoff{Duration: firstDelay, Factor: 1.5, Jitter: 1, Steps: 12}

	current := first
	var uncertain *secretmount.Edit
	for {
		edit, err := plan(current.Object, uncertain != nil)
		if err != nil {
			return nil, secretmount.Edit{}, err
		}
		if uncertain != nil {
			edit = edit.After(*uncertain)
		}
		patch, err := edit.Patch()
		if err != nil || patch == nil {
			return current, edit, err
		}
		result, err := w.Patch(ctx, patch)
		if err == nil {
			return result, edit, edit.Stored(result.Object)
		}
		why := fateOf(err)
		if why == refused {
			return nil, secretmount.Edit{}, err
		}
		if why == lost {
			uncertain = &edit
		}

		for failed := err; ; {
			if time.Now().After(tooLate) {
				return nil, secretmount.Edit{}, &GaveUpError{Uncertain: uncertain != nil, Err: failed}
			}
			if waiting != nil && time.Since(started) > patience {
				waiting(failed)
				waiting = nil
			}
			if err := sleep(ctx, pauseAfter(failed, &pause)); err != nil {
				return nil, secretmount.Edit{}, err
			}
			next, err := w.Read(ctx)
			if err == nil {
				if err := stillSame(first, next); err != nil {
					return nil, secretmount.Edit{}, err
				}
				if why == overtaken && !apierrors.IsConflict(failed) && unchanged(current, next) {
					// Nobody was faster: the server refuses this very patch.
					return nil, secretmount.Edit{}, failed
				}
				current = next
				break
			}
			if !canReadAgain(err) {
				return nil, secretmount.Edit{}, err
			}
			failed = err
		}
	}
}

// stillSame guards against a Workspace that was deleted and made anew in between: the
// user has not asked to change that one.
func stillSame(first, now *unstructured.Unstructured) error {
	if first.GetUID() != now.GetUID() {
		return fmt.Errorf("workspace %q was deleted and created again in the meantime; nothing was changed in the new one, run the command again", now.GetName())
	}
	return nil
}

func unchanged(before, now *unstructured.Unstructured) bool {
	return now.GetResourceVersion() != "" && before.GetResourceVersion() == now.GetResourceVersion()
}

// GaveUpError ends attempts that have taken too long.
type GaveUpError struct {
	// Uncertain is true if an attempt may have made the change all the same.
	Uncertain bool
	// Err is the last failure.
	Err error
}

// Unwrap returns the last failure.
func (e *GaveUpError) Unwrap() error { return e.Err }

// Error implements error.
func (e *GaveUpError) Error() string { return e.Outcome() + ": " + e.Err.Error() }

// Outcome tells what is known about the Workspace, without the reason.
func (e *GaveUpError) Outcome() string {
	if e.Uncertain {
		return fmt.Sprintf("gave up after %s, and the change may have been made or not ('kubectl workspace secrets list' tells)", limit)
	}
	return fmt.Sprintf("gave up after %s, nothing was changed", limit)
}

// pauseAfter is how long to wait after a failure: what the server asks for, or the
// next step of the backoff.
func pauseAfter(err error, b *wait.Backoff) time.Duration {
	d := min(b.Step(), maxDelay)
	var status apierrors.APIStatus
	if seconds, ok := apierrors.SuggestsClientDelay(err); ok && errors.As(err, &status) {
		d = max(d, min(time.Duration(seconds)*time.Second, maxDelay))
	}
	return d
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
