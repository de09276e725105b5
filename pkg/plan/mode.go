package plan

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
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
	return m == Server && slices.Equal(r.URL.Query()["dryRun"], []string{"All"})
}

type roundTripper func(*http.Request) (*http.Response, error)

// RoundTrip implements http.RoundTripper.
func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
