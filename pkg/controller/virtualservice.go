package controller

import (
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-workspace/kubectl-workspace/pkg/api/v1beta1"
)

// VirtualServiceGVK is Istio's route. It is handled without Istio's Go types: this program sets
// a dozen of its fields and would otherwise link protobuf definitions for hundreds.
var VirtualServiceGVK = schema.GroupVersionKind{Group: "networking.istio.io", Version: "v1", Kind: "VirtualService"}

// buildVirtualService returns the route from Istio's gateway to the Service of that name. The
// text of an error ends up in the status of the Workspace.
func buildVirtualService(w *v1beta1.Workspace, kind *v1beta1.WorkspaceKind, image *v1beta1.ImageConfigValue,
	service string, istio Istio,
) (*unstructured.Unstructured, error) {
	host := fmt.Sprintf("%s.%s.svc.%s", service, w.Namespace, istio.ClusterDomain)
	t := newTemplates(w, image.Spec.Ports)
	ports := map[v1beta1.PortId]*v1beta1.WorkspaceKindPort{}
	for i := range kind.Spec.PodTemplate.Ports {
		p := &kind.Spec.PodTemplate.Ports[i]
		ports[p.ID] = p
	}
	var routes []any
	for _, p := range image.Spec.Ports {
		defined := ports[p.ID]
		if defined == nil || defined.Protocol != v1beta1.PortProtocolHTTP {
			continue
		}
		route := map[string]any{
			"match": []any{map[string]any{"uri": map[string]any{"prefix": connectPath(w, p.ID)}}},
			"route": []any{map[string]any{"destination": map[string]any{
				"host": host, "port": map[string]any{"number": int64(p.Port)},
			}}},
		}
		if proxy := defined.HTTPProxy; proxy != nil {
			if proxy.RemovePathPrefix {
				route["rewrite"] = map[string]any{"uri": "/"}
			}
			if proxy.RequestHeaders != nil {
				request, err := headerOperations(proxy.RequestHeaders, t)
				if err != nil {
					return nil, err
				}
				route["headers"] = map[string]any{"request": request}
			}
		}
		routes = append(routes, route)
	}
	spec := map[string]any{"gateways": []any{istio.Gateway}, "hosts": asList(istio.Hosts)}
	if len(routes) > 0 {
		spec["http"] = routes
	}
	out := &unstructured.Unstructured{Object: map[string]any{"spec": spec}}
	out.SetGroupVersionKind(VirtualServiceGVK)
	meta := ownedMeta(w)
	out.SetNamespace(meta.Namespace)
	out.SetLabels(meta.Labels)
	out.SetOwnerReferences(meta.OwnerReferences)
	out.SetGenerateName(generateName(w.Name, maxServiceName))
	return out, nil
}

func headerOperations(h *v1beta1.RequestHeaders, t templates) (map[string]any, error) {
	out := map[string]any{}
	for _, op := range []struct {
		name   string
		values map[string]string
	}{{"set", h.Set}, {"add", h.Add}} {
		if len(op.values) == 0 {
			continue
		}
		rendered := map[string]any{}
		for _, header := range slices.Sorted(maps.Keys(op.values)) { // the first error is always the same one
			value, err := t.render(op.values[header])
			if err != nil {
				return nil, fmt.Errorf("failed to render requestHeaders.%s %q: %w", op.name, header, err)
			}
			rendered[header] = value
		}
		out[op.name] = rendered
	}
	if len(h.Remove) > 0 {
		out["remove"] = asList(h.Remove)
	}
	return out, nil
}

func asList(s []string) []any {
	out := make([]any, 0, len(s))
	for _, v := range s {
		out = append(out, v)
	}
	return out
}
