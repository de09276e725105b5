package cluster

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"
)

// api is the little that the launcher itself asks the API server.
type api struct {
	server, token string
	client        *http.Client
}

func newAPI(server, token string, ca []byte) *api {
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(ca)
	return &api{server, token, &http.Client{
		Timeout:   5 * time.Second,
		Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}}, // and no proxy
	}}
}

// get reads a path; with into nil only the status counts.
func (a *api) get(ctx context.Context, path string, into any) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, a.server+path, nil)
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+a.token)
	resp, err := a.client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("GET %s: %s", path, resp.Status)
	}
	if into == nil {
		return nil
	}
	return json.Unmarshal(body, into)
}

// nodeReady asks whether a Node is there and Ready.
func (a *api) nodeReady(ctx context.Context, name string) error {
	var node struct {
		Status struct {
			Conditions []struct{ Type, Status string }
		}
	}
	if err := a.get(ctx, "/api/v1/nodes/"+name, &node); err != nil {
		return err
	}
	for _, c := range node.Status.Conditions {
		if c.Type == "Ready" && c.Status == "True" {
			return nil
		}
	}
	return fmt.Errorf("Node %s is not Ready", name)
}

// Healthy asks whether a control plane that should run does.
func Healthy(ctx context.Context, info *Info) error {
	a := newAPI(info.Server, info.Tokens["admin"], info.CA)
	if err := a.get(ctx, "/readyz", nil); err != nil {
		return err
	}
	for _, node := range info.Nodes {
		if err := a.nodeReady(ctx, node); err != nil {
			return err
		}
	}
	return nil
}

// fatal is an error that waiting does not cure.
type fatal struct{ error }

// poll repeats a check until it succeeds.
func poll(ctx context.Context, what string, timeout time.Duration, check func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	for {
		err := check(ctx)
		if err == nil {
			return nil
		}
		if end := (fatal{}); errors.As(err, &end) {
			return end.error
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s: not after %s: %w", what, timeout, err)
		case <-time.After(50 * time.Millisecond):
		}
	}
}
