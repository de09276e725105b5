// Command scale measures kubectl workspace reconcile --once -A over many Workspaces.
//
//	go run ./hack/scale --cluster DIR --plugin bin/kubectl-workspace [--workspaces 1000] [--namespaces 20]
//
// DIR is the folder of a control plane that hack/controlplane has started. The Workspaces are paused: the controller
// makes all their objects, but no Pods, which would measure the node instead. A label keeps the runs to them, in case
// others use the control plane too. Everything is removed at the end.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/kubectl-workspace/kubectl-workspace/pkg/api/v1beta1"
)

var namespaces = schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}

func main() {
	cluster := flag.String("cluster", "", "folder of the control plane")
	plugin := flag.String("plugin", "bin/kubectl-workspace", "the binary to measure")
	workspaces := flag.Int("workspaces", 1000, "how many Workspaces")
	spread := flag.Int("namespaces", 20, "over how many namespaces")
	flag.Parse()
	if err := run(context.Background(), *cluster, *plugin, *workspaces, *spread); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, cluster, plugin string, workspaces, spread int) (err error) {
	var state struct {
		Info struct {
			Kubeconfigs map[string]string `json:"kubeconfigs"`
			AuditLog    string            `json:"auditLog"`
		} `json:"info"`
	}
	data, err := os.ReadFile(filepath.Join(cluster, "controlplane.json"))
	if err != nil {
		return err
	}
	if err := json.Unmarshal(data, &state); err != nil {
		return err
	}
	kubeconfig := state.Info.Kubeconfigs["admin"]
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return err
	}
	config.QPS = -1
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, remove(ctx, client, spread)) }()
	fmt.Printf("creating %d Workspaces in %d namespaces\n", workspaces, spread)
	if err := create(ctx, client, workspaces, spread); err != nil {
		return err
	}
	for _, pass := range []string{"first pass", "no-op pass", "no-op pass"} {
		if err := measure(pass, plugin, kubeconfig, state.Info.AuditLog); err != nil {
			return err
		}
	}
	return nil
}

// id tells the objects of this run from those of another, which may still be going away.
var id = strconv.FormatInt(time.Now().Unix(), 36)

func namespace(i int) string { return fmt.Sprintf("scale-%s-%02d", id, i) }

func kindName() string { return "scale-" + id }

func object(apiVersion, kind, ns, name string, spec map[string]any) *unstructured.Unstructured {
	u := &unstructured.Unstructured{Object: map[string]any{}}
	u.SetAPIVersion(apiVersion)
	u.SetKind(kind)
	u.SetNamespace(ns)
	u.SetName(name)
	if spec != nil {
		u.Object["spec"] = spec
	}
	return u
}

func create(ctx context.Context, client dynamic.Interface, workspaces, spread int) error {
	option := func(id string, spec map[string]any) map[string]any {
		return map[string]any{"spawner": map[string]any{"default": id}, "values": []any{
			map[string]any{"id": id, "spawner": map[string]any{"displayName": id}, "spec": spec}}}
	}
	asset := map[string]any{"url": "https://static.example.com/lab.svg"}
	kind := object(v1beta1.GroupVersion.String(), "WorkspaceKind", "", kindName(), map[string]any{
		"spawner": map[string]any{"displayName": "Lab", "description": "For measuring", "icon": asset, "logo": asset},
		"podTemplate": map[string]any{
			"volumeMounts":   map[string]any{"home": "/home/alice"},
			"ports":          []any{map[string]any{"id": "lab", "protocol": "HTTP", "defaultDisplayName": "Lab"}},
			"serviceAccount": map[string]any{"clusterRoles": []any{map[string]any{"name": "view"}}},
			"options": map[string]any{
				"imageConfig": option("lab", map[string]any{"image": "registry.example.com/lab:1", "ports": []any{map[string]any{"id": "lab", "port": int64(8888)}}}),
				"podConfig":   option("tiny", map[string]any{}),
			},
		},
	})
	if _, err := client.Resource(v1beta1.WorkspaceKindGVR).Create(ctx, kind, metav1.CreateOptions{}); err != nil {
		return err
	}
	for i := range spread {
		if _, err := client.Resource(namespaces).Create(ctx, object("v1", "Namespace", "", namespace(i), nil), metav1.CreateOptions{}); err != nil {
			return err
		}
	}
	errs := make([]error, workspaces)
	var group sync.WaitGroup
	slots := make(chan struct{}, 16)
	for i := range workspaces {
		group.Add(1)
		slots <- struct{}{}
		go func() {
			defer func() { <-slots; group.Done() }()
			ns := namespace(i % spread)
			w := object(v1beta1.GroupVersion.String(), "Workspace", ns, fmt.Sprintf("alice-%04d", i), map[string]any{
				"kind": kindName(), "paused": true, "podTemplate": map[string]any{
					"options": map[string]any{"imageConfig": "lab", "podConfig": "tiny"},
					"volumes": map[string]any{"home": "alice-home"},
				},
			})
			w.SetLabels(map[string]string{"scale": id})
			_, errs[i] = client.Resource(v1beta1.WorkspaceGVR).Namespace(ns).Create(ctx, w, metav1.CreateOptions{})
		}()
	}
	group.Wait()
	return errors.Join(errs...)
}

func remove(ctx context.Context, client dynamic.Interface, spread int) error {
	var errs []error
	for i := range spread {
		errs = append(errs, client.Resource(namespaces).Delete(ctx, namespace(i), metav1.DeleteOptions{}))
	}
	errs = append(errs, client.Resource(v1beta1.WorkspaceKindGVR).Delete(ctx, kindName(), metav1.DeleteOptions{}))
	// The finalizer holds it while there are Workspaces; if it is gone already, so much the better.
	_, _ = client.Resource(v1beta1.WorkspaceKindGVR).Patch(ctx, kindName(), "application/merge-patch+json",
		[]byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{})
	return errors.Join(errs...)
}

func measure(pass, plugin, kubeconfig, auditLog string) error {
	cmd := exec.Command(plugin, "reconcile", "--once", "-q", "-A", "-l", "scale="+id, "--kubeconfig", kubeconfig)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, os.Stderr
	start := time.Now()
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s: %w\n%s", pass, err, tail(out.Bytes()))
	}
	took := time.Since(start)
	time.Sleep(time.Second) // the server writes its log a moment after it has answered
	requests, err := countRequests(auditLog, start)
	if err != nil {
		return err
	}
	peak := int64(0)
	if usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		peak = usage.Maxrss / 1024
	}
	fmt.Printf("%-12s %6.1f s %6d requests %5d MB   %s", pass, took.Seconds(), requests, peak, tail(out.Bytes()))
	return nil
}

// countRequests counts those of the plugin since a time. The server begins a new file when one is
// large, so all of them are looked into.
func countRequests(auditLog string, since time.Time) (int, error) {
	files, err := filepath.Glob(strings.TrimSuffix(auditLog, ".log") + "*.log")
	if err != nil {
		return 0, err
	}
	count := 0
	for _, name := range files {
		if info, err := os.Stat(name); err != nil || info.ModTime().Before(since) {
			continue
		}
		log, err := os.ReadFile(name)
		if err != nil {
			return 0, err
		}
		for line := range bytes.Lines(log) {
			if !bytes.Contains(line, []byte(`"userAgent":"kubectl-workspace/`)) {
				continue
			}
			var event struct {
				Received time.Time `json:"requestReceivedTimestamp"`
			}
			if json.Unmarshal(line, &event) == nil && !event.Received.Before(since) {
				count++
			}
		}
	}
	return count, nil
}

// tail is the last line.
func tail(out []byte) []byte {
	lines := bytes.Split(bytes.TrimRight(out, "\n"), []byte("\n"))
	return append(lines[len(lines)-1], '\n')
}
