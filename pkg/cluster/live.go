package cluster

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

const (
	// pageSize is the number of objects asked for in one request, kubectl's own
	// default (--chunk-size).
	pageSize = 500
	// readTimeout bounds one read where the user gave no --request-timeout, so that
	// one silent source ends up as "could not check" and not as a hanging command.
	readTimeout = 30 * time.Second
)

// Live reads from and writes to the API server of a kubeconfig.
type Live struct {
	dynamic  dynamic.Interface
	version  discovery.DiscoveryInterface
	metadata metadata.Interface
	host     string
	context  string
	now      func() time.Time
}

// NewLive connects with the user's kubeconfig flags. Nothing is sent yet.
// userAgent is "kubectl-workspace/VERSION"; warnings takes those that the server sends.
func NewLive(flags *genericclioptions.ConfigFlags, userAgent string, warnings rest.WarningHandler) (*Live, error) {
	loader := flags.ToRawKubeConfigLoader()
	raw, err := loader.RawConfig()
	if err != nil {
		return nil, loadError(err)
	}
	if t := deref(flags.Timeout); t != "" {
		if _, err := clientcmd.ParseTimeout(t); err != nil {
			return nil, fmt.Errorf("--request-timeout %q is not a time to wait; give a duration such as 30s or 5m", t)
		}
	}
	if len(raw.Clusters) == 0 && deref(flags.APIServer) == "" && os.Getenv("KUBERNETES_SERVICE_HOST") == "" {
		// Without this, client-go falls back to localhost:8080 and reports a refused
		// connection, which sends people looking in the wrong place.
		return nil, errors.New("no kubeconfig found: set KUBECONFIG or --kubeconfig, or read a file with --snapshot")
	}
	config, err := flags.ToRESTConfig()
	if err != nil {
		return nil, kubeconfigError(err)
	}
	config.UserAgent = userAgent
	config.WarningHandler = warnings
	// The server's own priority and fairness limits us; a client-side limit would
	// only serialise the few requests that are meant to run in parallel.
	config.QPS = -1
	if config.Timeout == 0 {
		config.Timeout = readTimeout
	}
	httpClient, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, kubeconfigError(err)
	}
	current := raw.CurrentContext
	if name := deref(flags.Context); name != "" {
		current = name
	}
	return newLive(config, httpClient, current)
}

func newLive(config *rest.Config, httpClient *http.Client, contextName string) (*Live, error) {
	dyn, err := dynamic.NewForConfigAndClient(config, httpClient)
	if err != nil {
		return nil, kubeconfigError(err)
	}
	meta, err := metadata.NewForConfigAndClient(config, httpClient)
	if err != nil {
		return nil, kubeconfigError(err)
	}
	version, err := discovery.NewDiscoveryClientForConfigAndClient(config, httpClient)
	if err != nil {
		return nil, kubeconfigError(err)
	}
	return &Live{dynamic: dyn, version: version, metadata: meta, host: config.Host, context: contextName, now: time.Now}, nil
}

// loadError says which file is no kubeconfig. What client-go says of one that is of another
// format quotes Go types.
func loadError(err error) error {
	text := err.Error()
	for _, sign := range []string{": couldn't get version/kind", ": json: cannot unmarshal", ": v1.Config"} {
		if file, _, ok := strings.Cut(text, sign); ok {
			return fmt.Errorf("cannot load the kubeconfig: %s: it is not a kubeconfig", file)
		}
	}
	return fmt.Errorf("cannot load the kubeconfig: %w", err)
}

// kubeconfigError says which part of the kubeconfig is wrong and where to look.
func kubeconfigError(err error) error {
	if clientcmd.IsContextNotFound(err) {
		return fmt.Errorf("%w (kubectl config get-contexts lists them)", err)
	}
	return fmt.Errorf("the kubeconfig cannot be used: %w", err)
}

func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// Now returns the time of the local clock.
func (l *Live) Now() time.Time { return l.now() }

// Get implements Reader.
func (l *Live) Get(ctx context.Context, r Resource, namespace, name string) (*unstructured.Unstructured, error) {
	if !r.Namespaced {
		namespace = ""
	}
	if r.MetadataOnly {
		m, err := l.metadata.Resource(r.GroupVersionResource).Namespace(namespace).Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return nil, err
		}
		return metadataObject(r, m)
	}
	return l.dynamic.Resource(r.GroupVersionResource).Namespace(namespace).Get(ctx, name, metav1.GetOptions{})
}

// List implements Reader. It follows pages until the end.
func (l *Live) List(ctx context.Context, r Resource, opts ListOptions) ([]unstructured.Unstructured, error) {
	list := metav1.ListOptions{Limit: pageSize, LabelSelector: opts.labelSelector().String()}
	if opts.About != nil {
		list.FieldSelector = fields.Set{"involvedObject.kind": opts.About.Kind, "involvedObject.name": opts.About.Name}.String()
	}
	var items []unstructured.Unstructured
	for {
		var next string
		if r.MetadataOnly {
			page, err := l.metadata.Resource(r.GroupVersionResource).Namespace(opts.Namespace).List(ctx, list)
			if err != nil {
				return nil, err
			}
			for i := range page.Items {
				u, err := metadataObject(r, &page.Items[i])
				if err != nil {
					return nil, err
				}
				items = append(items, *u)
			}
			next = page.Continue
		} else {
			page, err := l.dynamic.Resource(r.GroupVersionResource).Namespace(opts.Namespace).List(ctx, list)
			if err != nil {
				return nil, err
			}
			items = append(items, page.Items...)
			next = page.GetContinue()
		}
		if next == "" {
			return items, nil
		}
		list.Continue = next
	}
}

// IsComplete implements Reader: a list that the server has served is whole.
func (l *Live) IsComplete(Resource, ListOptions) bool { return true }

// ServerVersion asks the API server for its version; empty if it does not tell.
func (l *Live) ServerVersion() string {
	v, err := l.version.ServerVersion()
	if err != nil {
		return ""
	}
	return v.GitVersion
}

// PatchOptions qualify one write.
type PatchOptions struct {
	// DryRun asks the server to do everything but to store the result.
	DryRun bool
	// FieldManager is recorded by the server as the author of the changed fields.
	FieldManager string
}

// PatchWorkspace sends a JSON Patch (RFC 6902) and returns the Workspace as the
// server answers it.
func (l *Live) PatchWorkspace(ctx context.Context, namespace, name string, patch []byte, opts PatchOptions) (*unstructured.Unstructured, error) {
	o := metav1.PatchOptions{FieldManager: opts.FieldManager}
	if opts.DryRun {
		o.DryRun = []string{metav1.DryRunAll}
	}
	return l.dynamic.Resource(Workspaces.GroupVersionResource).Namespace(namespace).Patch(ctx, name, types.JSONPatchType, patch, o)
}

// metadataObject gives a metadata-only answer the shape of the object it is about.
func metadataObject(r Resource, m *metav1.PartialObjectMetadata) (*unstructured.Unstructured, error) {
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(m)
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", r.Kind, m.Name, err)
	}
	u := &unstructured.Unstructured{Object: content}
	u.SetGroupVersionKind(r.GVK())
	return u, nil
}
