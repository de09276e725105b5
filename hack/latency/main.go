// Command latency compares commands on a slow link: it puts a proxy that delays every
// message by the same time in either direction before an API server, runs each command
// several times in turn through it, and prints requests, sequential round trips and
// wall time.
//
//	latency KUBECONFIG "COMMAND ARGS" "OTHER-COMMAND ARGS"
package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

const (
	delay = 50 * time.Millisecond
	runs  = 7
)

func main() {
	if len(os.Args) < 3 {
		fmt.Fprintln(os.Stderr, `usage: latency KUBECONFIG "COMMAND ARGS"...`)
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Args[2:]); err != nil {
		fmt.Fprintln(os.Stderr, "latency:", err)
		os.Exit(1)
	}
}

func run(kubeconfig string, commands []string) error {
	link, err := newLink(kubeconfig)
	if err != nil {
		return err
	}
	defer link.server.Close()
	slow, err := link.kubeconfig()
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(filepath.Dir(slow)) }()

	times := make([][]time.Duration, len(commands))
	requests, trips := make([]int, len(commands)), make([]int, len(commands))
	for range runs {
		for i, c := range commands {
			link.reset()
			words := strings.Fields(c)
			cmd := exec.Command(words[0], words[1:]...)
			cmd.Env = append(os.Environ(), "KUBECONFIG="+slow, "HOME="+filepath.Dir(slow), "KUBERC=off")
			begin := time.Now()
			if out, err := cmd.CombinedOutput(); err != nil {
				return fmt.Errorf("%s: %w\n%s", c, err, out)
			}
			times[i] = append(times[i], time.Since(begin))
			requests[i], trips[i] = link.counts()
		}
	}
	fmt.Printf("%v each way, medians of %d runs in turn\n", delay, runs)
	for i, c := range commands {
		slices.Sort(times[i])
		fmt.Printf("%7s  %2d requests  %d round trips one after another  %s\n",
			times[i][runs/2].Round(time.Millisecond), requests[i], trips[i], c)
	}
	if len(commands) == 2 {
		fmt.Printf("ratio %.2f\n", float64(times[0][runs/2])/float64(times[1][runs/2]))
	}
	return nil
}

// link is a slow way to an API server.
type link struct {
	config *rest.Config
	server *httptest.Server

	mu sync.Mutex
	// open is the number of requests under way, chain the length of the longest chain
	// of requests that waited for one another.
	requests, open, chain int
}

func newLink(kubeconfig string) (*link, error) {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return nil, err
	}
	transport, err := rest.TransportFor(config)
	if err != nil {
		return nil, err
	}
	target, err := url.Parse(config.Host)
	if err != nil {
		return nil, err
	}
	l := &link{config: config}
	proxy := httputil.NewSingleHostReverseProxy(target)
	proxy.Transport = transport
	l.server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		l.enter()
		defer l.leave()
		time.Sleep(delay)
		proxy.ServeHTTP(w, r)
		time.Sleep(delay)
	}))
	return l, nil
}

// enter counts a request. One that comes while none is under way must have waited for
// those before it.
func (l *link) enter() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.requests++
	if l.open == 0 {
		l.chain++
	}
	l.open++
}

func (l *link) leave() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.open--
}

func (l *link) reset() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.requests, l.open, l.chain = 0, 0, 0
}

func (l *link) counts() (requests, chain int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.requests, l.chain
}

// kubeconfig writes one for the slow way, in a folder of its own. The proxy carries the
// credentials.
func (l *link) kubeconfig() (string, error) {
	dir, err := os.MkdirTemp("", "latency-")
	if err != nil {
		return "", err
	}
	file := filepath.Join(dir, "config")
	text := fmt.Sprintf(`{apiVersion: v1, kind: Config, current-context: slow,
contexts: [{name: slow, context: {cluster: slow}}],
clusters: [{name: slow, cluster: {server: %q}}]}`, l.server.URL)
	return file, os.WriteFile(file, []byte(text), 0o600)
}
