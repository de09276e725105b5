package cluster

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/url"
	"syscall"

	"al.essio.dev/pkg/shellescape"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-workspace/kubectl-workspace/pkg/facts"
)

// ErrNotInSnapshot says that a snapshot neither holds an object nor claims to
// hold every object of its kind: it may exist or not.
var ErrNotInSnapshot = errors.New("the snapshot does not say")

// AnswerOf turns the outcome of a read into an Answer. Only the server's own "not
// found" about this very object is an absence.
func AnswerOf[T any](value T, err error) facts.Answer[T] {
	switch {
	case err == nil:
		return facts.Answer[T]{Status: facts.Found, Value: value}
	case apierrors.IsNotFound(err) && !IsResourceMissing(err):
		return facts.Answer[T]{Status: facts.Absent}
	}
	return facts.Answer[T]{Status: facts.Unknown, Reason: reason(err), Detail: detail(err)}
}

func reason(err error) string {
	var recorded *recordedError
	switch {
	case errors.As(err, &recorded):
		return recorded.reason
	case errors.Is(err, ErrNotInSnapshot):
		return facts.ReasonNotInSnapshot
	case apierrors.IsForbidden(err), apierrors.IsUnauthorized(err):
		return facts.ReasonForbidden
	case isTimeout(err):
		return facts.ReasonTimeout
	}
	return facts.ReasonError
}

// detail is the part of an error that is the same however often it is asked: a
// connection error carries the address and the query of the request.
func detail(err error) string {
	var u *url.Error
	if errors.As(err, &u) {
		return u.Err.Error()
	}
	return err.Error()
}

func isTimeout(err error) bool {
	var n net.Error
	return errors.Is(err, context.DeadlineExceeded) || apierrors.IsTimeout(err) || apierrors.IsServerTimeout(err) ||
		(errors.As(err, &n) && n.Timeout())
}

// IsResourceMissing reports whether a 404 means that the server does not know the
// resource at all, as when its CRD is not installed. Such an answer comes from the
// server's router and does not name an object.
func IsResourceMissing(err error) bool {
	var status apierrors.APIStatus
	if !apierrors.IsNotFound(err) || !errors.As(err, &status) {
		return false
	}
	d := status.Status().Details
	if d == nil {
		return true
	}
	for _, c := range d.Causes {
		if c.Type == metav1.CauseTypeUnexpectedServerResponse {
			return true
		}
	}
	return false
}

// IsTransient reports whether asking again may well get an answer: the connection broke,
// or the server is busy or restarting.
func IsTransient(err error) bool {
	return apierrors.IsTooManyRequests(err) || apierrors.IsInternalError(err) || apierrors.IsServiceUnavailable(err) ||
		isTimeout(err) || isTransport(err) && !errors.Is(err, context.Canceled)
}

// Explain rewrites an error that ends a command as one line that says what is
// wrong, where, and what to do. Errors that already do are returned unchanged.
func (l *Live) Explain(err error) error {
	where := fmt.Sprintf("cluster %s", l.host)
	if l.context != "" {
		where += fmt.Sprintf(" (context %q)", l.context)
	}
	var (
		dns       *net.DNSError
		authority x509.UnknownAuthorityError
		hostname  x509.HostnameError
	)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, context.Canceled):
		return err
	case IsResourceMissing(err):
		return fmt.Errorf("%s has no Workspaces: the CRD workspaces.kubeflow.org is not installed or does not serve v1beta1; Kubeflow Notebooks 2 brings it", where)
	case apierrors.IsUnauthorized(err):
		return fmt.Errorf("%s does not accept your credentials: they are wrong or have expired; log in again", where)
	case errors.Is(err, syscall.ECONNREFUSED):
		return fmt.Errorf("%s refused the connection: is the address right, and is the server running?", where)
	case errors.As(err, &dns):
		return fmt.Errorf("%s cannot be found: no address for host %q; check the network, the VPN and the kubeconfig", where, dns.Name)
	case errors.As(err, &authority), errors.As(err, &hostname):
		return fmt.Errorf("%s has a certificate that is not trusted: %w", where, unwrapURL(err))
	case isTimeout(err):
		return fmt.Errorf("%s did not answer in time: check the network, or give it longer with --request-timeout", where)
	case isTransport(err):
		return fmt.Errorf("%s cannot be used: %w", where, unwrapURL(err))
	}
	return err
}

func isTransport(err error) bool {
	var u *url.Error
	return errors.As(err, &u)
}

func unwrapURL(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		return u.Err
	}
	return err
}

// WorkspaceError explains why the Workspace that the user has named could not be read.
// If it does not exist it looks, as far as it may, whether the namespace does, since a
// mistyped namespace is the likelier mistake.
func WorkspaceError(ctx context.Context, r Reader, namespace, name string, err error) error {
	var malformed *MalformedError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &malformed):
		return err
	case errors.Is(err, ErrNotInSnapshot):
		return fmt.Errorf("workspace %q of namespace %q is not in the snapshot", name, namespace)
	case !apierrors.IsNotFound(err) || IsResourceMissing(err):
		return fmt.Errorf("cannot read workspace %q in namespace %q: %w", name, namespace, err)
	}
	if _, err := r.Get(ctx, Namespaces, "", namespace); apierrors.IsNotFound(err) {
		return fmt.Errorf("namespace %q does not exist", namespace)
	}
	return fmt.Errorf("workspace %q not found in namespace %q (kubectl workspace list -n %s shows those that exist)",
		name, namespace, shellescape.Quote(namespace))
}
