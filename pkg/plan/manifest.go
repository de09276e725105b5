package plan

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"maps"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-workspace/kubectl-workspace/pkg/api/v1beta1"
	"github.com/kubectl-workspace/kubectl-workspace/pkg/cluster"
	"github.com/kubectl-workspace/kubectl-workspace/pkg/controller"
)

// LoadSnapshot fills the Cluster with what a snapshot holds. It returns notes on what the
// snapshot does not say and is taken not to exist.
func (c *Cluster) LoadSnapshot(ctx context.Context, from cluster.Reader) ([]string, error) {
	c.snapshot = from
	var notes, unsaid []string
	for _, gvk := range append([]schema.GroupVersionKind{workspaceGVK, kindGVK, podGVK, eventGVK, secretGVK, configMapGVK}, ownedGVKs...) {
		items, err := from.List(ctx, resource(gvk), cluster.ListOptions{})
		if errors.Is(err, cluster.ErrNotInSnapshot) {
			if gvk == serviceAccountGVK || gvk == statefulSetGVK || gvk == serviceGVK || gvk == podGVK {
				unsaid = append(unsaid, resourceOf(gvk))
			}
			continue
		}
		if err != nil {
			notes = append(notes, fmt.Sprintf("%s: %v", resourceOf(gvk), err))
			continue
		}
		for i := range items {
			u := &items[i]
			if err := applyDefaults(u); err != nil {
				return nil, err
			}
			if u.GetUID() == "" {
				u.SetUID(inventedUID(gvk, u))
			}
			if err := c.take(gvk, u); err != nil {
				return nil, err
			}
			if set, _, _ := c.find(identity{gvk, client.ObjectKeyFromObject(u)}); set != nil && gvk == statefulSetGVK {
				// One that was written by hand has not been through an API server.
				controller.DefaultTemplate(&set.(*appsv1.StatefulSet).Spec.Template)
			}
		}
	}
	if len(unsaid) > 0 {
		notes = append(notes, fmt.Sprintf("the snapshot does not say which %s there are: taken to be none", strings.Join(unsaid, ", ")))
	}
	return notes, nil
}

func resource(gvk schema.GroupVersionKind) cluster.Resource {
	return cluster.Resource{
		GroupVersionResource: gvk.GroupVersion().WithResource(resourceOf(gvk)), Kind: gvk.Kind,
		Namespaced: !clusterScopedKinds[gvk], MetadataOnly: gvk == secretGVK,
	}
}

// inventedUID is the uid of an object of a file that has none; the same for the same object.
func inventedUID(gvk schema.GroupVersionKind, o metav1.Object) types.UID {
	sum := sha256.Sum256([]byte(gvk.String() + "/" + o.GetNamespace() + "/" + o.GetName()))
	return types.UID(fmt.Sprintf("%x-%x-%x-%x-%x", sum[:4], sum[4:6], sum[6:8], sum[8:10], sum[10:16]))
}

// ParseManifest reads Workspaces and WorkspaceKinds, also those in lists. Objects without a
// namespace are of the given one.
func ParseManifest(name string, in io.Reader, namespace string) ([]*unstructured.Unstructured, error) {
	var out []*unstructured.Unstructured
	reader := utilyaml.NewYAMLReader(bufio.NewReader(in))
	for n := 1; ; n++ {
		doc, err := reader.Read()
		if errors.Is(err, io.EOF) {
			if len(out) == 0 {
				return nil, fmt.Errorf("%s has no Workspace or WorkspaceKind in it", name)
			}
			return out, nil
		}
		if err == nil {
			err = parseDocument(doc, namespace, &out)
		}
		if err != nil {
			return nil, fmt.Errorf("%s, document %d: %w", name, n, err)
		}
	}
}

func parseDocument(doc []byte, namespace string, out *[]*unstructured.Unstructured) error {
	if len(bytes.TrimSpace(doc)) == 0 {
		return nil
	}
	asJSON, err := yaml.YAMLToJSON(doc)
	if err != nil {
		line, _, _ := strings.Cut(err.Error(), "\n")
		return fmt.Errorf("neither YAML nor JSON: %s", line)
	}
	if bytes.Equal(asJSON, []byte("null")) {
		return nil
	}
	u := &unstructured.Unstructured{}
	if err := u.UnmarshalJSON(asJSON); err != nil {
		return fmt.Errorf("not a Kubernetes object: %w", err)
	}
	if u.IsList() {
		return u.EachListItem(func(item runtime.Object) error {
			return takeManifest(item.(*unstructured.Unstructured), namespace, out)
		})
	}
	return takeManifest(u, namespace, out)
}

func takeManifest(u *unstructured.Unstructured, namespace string, out *[]*unstructured.Unstructured) error {
	switch u.GroupVersionKind() {
	case workspaceGVK:
		if u.GetNamespace() == "" {
			u.SetNamespace(namespace)
		}
	case kindGVK:
		u.SetNamespace("")
	default:
		return fmt.Errorf("%s %s %s: only Workspaces and WorkspaceKinds of %s can be laid over a cluster",
			u.GetAPIVersion(), u.GetKind(), u.GetName(), v1beta1.GroupVersion)
	}
	if u.GetName() == "" {
		return fmt.Errorf("%s without a name", u.GetKind())
	}
	*out = append(*out, u)
	return nil
}

// Overlay lays a manifest over the cluster, as if it had been applied: its spec replaces that
// of an existing object, its labels and annotations are added. In Server mode the API server
// validates and defaults it first.
func (c *Cluster) Overlay(ctx context.Context, u *unstructured.Unstructured) error {
	gvk := u.GroupVersionKind()
	id := identity{gvk, client.ObjectKeyFromObject(u)}
	merged := &unstructured.Unstructured{}
	merged.SetGroupVersionKind(gvk)
	err := c.Get(ctx, id.key, merged)
	exists := err == nil
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("cannot read %s: %w", id, err)
	}
	if !exists {
		merged = u.DeepCopy()
		delete(merged.Object, "status")
	} else {
		merged.Object["spec"] = u.DeepCopy().Object["spec"]
		merged.SetLabels(mergedMap(merged.GetLabels(), u.GetLabels()))
		merged.SetAnnotations(mergedMap(merged.GetAnnotations(), u.GetAnnotations()))
	}
	if c.mode == Server {
		if err := c.overlayRemote(ctx, merged, exists); err != nil {
			return fmt.Errorf("%s: the API server would not accept it: %w", id, err)
		}
	}
	if err := applyDefaults(merged); err != nil {
		return err
	}
	if !exists {
		merged.SetUID(inventedUID(gvk, merged))
		merged.SetResourceVersion(c.version())
		merged.SetCreationTimestamp(metav1.NewTime(c.now()))
	}
	c.noteUnknownFields(id, merged)
	c.remember(id, true)
	return c.put(gvk, merged)
}

func (c *Cluster) overlayRemote(ctx context.Context, u *unstructured.Unstructured, exists bool) error {
	sent := u.DeepCopy()
	var err error
	if exists {
		err = c.api.Update(ctx, sent, client.DryRunAll)
	} else {
		err = c.api.Create(ctx, sent, client.DryRunAll)
	}
	if apierrors.IsForbidden(err) {
		return nil // who may not write it may still ask what would happen
	}
	if err == nil {
		u.Object["spec"] = sent.Object["spec"]
	}
	return err
}

func mergedMap(a, b map[string]string) map[string]string {
	if len(a)+len(b) == 0 {
		return nil
	}
	out := map[string]string{}
	maps.Copy(out, a)
	maps.Copy(out, b)
	return out
}

// Objects returns a Workspace and what it owns, as they are after the run.
func (c *Cluster) Objects(namespace, name string) ([]*unstructured.Unstructured, error) {
	list := []ownedObject{}
	if o, _, _ := c.find(identity{workspaceGVK, client.ObjectKey{Namespace: namespace, Name: name}}); o != nil {
		list = append(list, ownedObject{identity{workspaceGVK, client.ObjectKeyFromObject(o)}, o})
	}
	var out []*unstructured.Unstructured
	for _, o := range append(list, c.owned(namespace, name)...) {
		u := &unstructured.Unstructured{}
		u.SetGroupVersionKind(o.id.gvk)
		if err := copyInto(o.object, u); err != nil {
			return nil, fmt.Errorf("%s: %w", o.id, err)
		}
		u.SetGroupVersionKind(o.id.gvk)
		if strings.HasPrefix(u.GetResourceVersion(), plannedVersion) {
			u.SetResourceVersion("")
		}
		out = append(out, u)
	}
	return out, nil
}
