package env

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/rand"
)

// AuditEvent is one request that the API server has answered.
type AuditEvent struct {
	Verb       string    `json:"verb"`
	RequestURI string    `json:"requestURI"`
	UserAgent  string    `json:"userAgent"`
	Received   time.Time `json:"requestReceivedTimestamp"`
	User       struct {
		Username string `json:"username"`
	} `json:"user"`
	ResponseStatus struct {
		Code int `json:"code"`
	} `json:"responseStatus"`
	Object struct {
		Resource  string `json:"resource"`
		Namespace string `json:"namespace"`
		Name      string `json:"name"`
	} `json:"objectRef"`
	// ResponseObject is what was sent, as JSON. Recorded for Secrets and
	// ConfigMaps only, and not for watches.
	ResponseObject json.RawMessage `json:"responseObject"`
}

// String is the request in one line.
func (a AuditEvent) String() string {
	return fmt.Sprintf("%s %s -> %d (%s, %s)", a.Verb, a.RequestURI, a.ResponseStatus.Code, a.User.Username, a.UserAgent)
}

// Mark is a point in the sequence of requests.
type Mark int64

// Mark returns the present point. Requests answered so far come before it.
func (e *Env) Mark(t testing.TB) Mark {
	t.Helper()
	info, err := os.Stat(e.AuditLog)
	if err != nil {
		t.Fatalf("audit log: %v", err)
	}
	return Mark(info.Size() + int64(len(e.settledLog(t, info.Size()))))
}

// RequestFilter chooses requests; empty fields choose all.
type RequestFilter struct {
	Persona   string // user name
	UserAgent string // a prefix
	Resource  string // "secrets"
}

// Requests returns the requests since a mark, in the order of their answers. A
// request whose answer a client has seen is among them.
func (e *Env) Requests(t testing.TB, since Mark, filter RequestFilter) []AuditEvent {
	t.Helper()
	var events []AuditEvent
	for _, line := range bytes.Split(e.settledLog(t, int64(since)), []byte("\n")) {
		if len(line) == 0 {
			continue
		}
		var event AuditEvent
		if err := json.Unmarshal(line, &event); err != nil {
			t.Fatalf("audit log: %v in %.200s", err, line)
		}
		if (filter.Persona == "" || filter.Persona == event.User.Username) &&
			(filter.Resource == "" || filter.Resource == event.Object.Resource) &&
			strings.HasPrefix(event.UserAgent, filter.UserAgent) && !strings.Contains(event.RequestURI, markPath) {
			events = append(events, event)
		}
	}
	return events
}

const markPath = "/readyz/ping?mark="

// settledLog returns the audit log from an offset up to a request of its own: the server
// writes a line a moment after the client has the answer, so what the log holds
// right now may lack the latest.
func (e *Env) settledLog(t testing.TB, from int64) []byte {
	t.Helper()
	uri := markPath + rand.String(20)
	if err := e.Client(t, Admin).Discovery().RESTClient().Get().RequestURI(uri).Do(t.Context()).Error(); err != nil {
		t.Fatalf("mark the audit log: %v", err)
	}
	var log []byte
	Eventually(t, 10*time.Second, func() error {
		file, err := os.Open(e.AuditLog)
		if err != nil {
			return err
		}
		defer file.Close()
		data, err := io.ReadAll(io.NewSectionReader(file, from, math.MaxInt64-from))
		if err != nil {
			return err
		}
		at := bytes.Index(data, []byte(uri))
		if at < 0 {
			return fmt.Errorf("%s is not in %s", uri, e.AuditLog)
		}
		end := bytes.IndexByte(data[at:], '\n')
		if end < 0 {
			return fmt.Errorf("the last line of %s is not complete", e.AuditLog)
		}
		log = data[:at+end+1]
		return nil
	})
	return log
}
