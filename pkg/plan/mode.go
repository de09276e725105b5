package plan

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
)

// Mode says where writes go.
type Mode string

// The modes.
const (
	// Live writes to the API server.
	Live Mode = "live"
	// Server sends every write as a dry run: it is defaulted, validated and admitted, but not
	// stored.
	Server Mode = "server"
	// Client keeps writes in memory. Reading rights are enough.
	Client Mode = "client"
	// Snapshot contacts nothing at all.
	Snapshot Mode = "snapshot"
)

// Transport refuses what a mode must not send. It is the last thing before the network, so
// that a dry run stays one whatever the code above it does.
func (m Mode) Transport(next http.RoundTripper) http.RoundTripper {
	if m == Live {
		return next
	}
	return roundTripper(func(r *http.Request) (*http.Response, error) {
		if m.allows(r) {
			return next.RoundTrip(r)
		}
		return nil, fmt.Errorf("refused to send %s %s in a dry run: this is a bug, nothing was changed", r.Method, r.URL.Path)
	})
}

func (m Mode) allows(r *http.Request) bool {
	switch r.Method {
	case http.MethodGet, http.MethodHead, http.MethodOptions:
		return true
	case http.MethodPost: // asks what one may do; nothing is stored
		if strings.HasSuffix(r.URL.Path, "/selfsubjectaccessreviews") {
			return true
		}
	}
	return m == Server && slices.Equal(dryRun(r), []string{metav1.DryRunAll})
}

// dryRun is what a request says about that, nil if it cannot be told. A deletion has its options
// in the body, and then the API server does not look at those in the URL.
func dryRun(r *http.Request) []string {
	if r.Method != http.MethodDelete || r.Body == nil || r.Body == http.NoBody {
		return r.URL.Query()["dryRun"]
	}
	if r.GetBody == nil {
		return nil
	}
	body, err := r.GetBody()
	if err != nil {
		return nil
	}
	defer func() { _ = body.Close() }()
	data, err := io.ReadAll(body)
	if err != nil {
		return nil
	}
	options := &metav1.DeleteOptions{}
	if _, _, err := clientgoscheme.Codecs.UniversalDeserializer().Decode(data, nil, options); err != nil {
		return nil
	}
	return options.DryRun
}

type roundTripper func(*http.Request) (*http.Response, error)

// RoundTrip implements http.RoundTripper.
func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
