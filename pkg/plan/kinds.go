package plan

import (
	"net/http"

	appsv1 "k8s.io/api/apps/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-workspace/kubectl-workspace/pkg/api/v1beta1"
	"github.com/kubectl-workspace/kubectl-workspace/pkg/controller"
)

// The kinds of objects that the controller reads or writes.
var (
	workspaceGVK       = v1beta1.WorkspaceGVK
	kindGVK            = v1beta1.WorkspaceKindGVK
	serviceAccountGVK  = corev1.SchemeGroupVersion.WithKind("ServiceAccount")
	statefulSetGVK     = appsv1.SchemeGroupVersion.WithKind("StatefulSet")
	serviceGVK         = corev1.SchemeGroupVersion.WithKind("Service")
	roleBindingGVK     = rbacv1.SchemeGroupVersion.WithKind("RoleBinding")
	virtualServiceGVK  = controller.VirtualServiceGVK
	podGVK             = corev1.SchemeGroupVersion.WithKind("Pod")
	eventGVK           = corev1.SchemeGroupVersion.WithKind("Event")
	secretGVK          = corev1.SchemeGroupVersion.WithKind("Secret")
	configMapGVK       = corev1.SchemeGroupVersion.WithKind("ConfigMap")
	leaseGVK           = coordinationv1.SchemeGroupVersion.WithKind("Lease")
	reviewGVK          = authorizationv1.SchemeGroupVersion.WithKind("SelfSubjectAccessReview")
	ownedGVKs          = []schema.GroupVersionKind{serviceAccountGVK, statefulSetGVK, serviceGVK, roleBindingGVK, virtualServiceGVK}
	clusterScopedKinds = map[schema.GroupVersionKind]bool{kindGVK: true}
)

// NewScheme knows every kind that the controller handles as a Go type.
func NewScheme() (*runtime.Scheme, error) {
	s := runtime.NewScheme()
	if err := clientgoscheme.AddToScheme(s); err != nil {
		return nil, err
	}
	return s, v1beta1.AddToScheme(s)
}

// newMapper is the static replacement for discovery.
func newMapper() meta.RESTMapper {
	m := meta.NewDefaultRESTMapper(nil)
	for _, gvk := range append([]schema.GroupVersionKind{
		workspaceGVK, kindGVK, podGVK, eventGVK, secretGVK, configMapGVK, leaseGVK,
	}, ownedGVKs...) {
		scope := meta.RESTScopeNamespace
		if clusterScopedKinds[gvk] {
			scope = meta.RESTScopeRoot
		}
		m.Add(gvk, scope)
	}
	m.Add(reviewGVK, meta.RESTScopeRoot)
	return m
}

// NewAPI connects to an API server. No request is sent yet, and none for discovery at all.
func NewAPI(config *rest.Config, httpClient *http.Client, fieldManager string) (client.Client, error) {
	s, err := NewScheme()
	if err != nil {
		return nil, err
	}
	return client.New(config, client.Options{HTTPClient: httpClient, Scheme: s, Mapper: newMapper(), FieldOwner: fieldManager})
}

// newObject returns an empty object of the form in which a kind is kept in memory.
func newObject(s *runtime.Scheme, gvk schema.GroupVersionKind) client.Object {
	if gvk == secretGVK {
		m := &metav1.PartialObjectMetadata{}
		m.SetGroupVersionKind(gvk)
		return m
	}
	if o, err := s.New(gvk); err == nil {
		if object, ok := o.(client.Object); ok {
			return object
		}
	}
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(gvk)
	return u
}

// newList returns an empty list of a kind.
func newList(s *runtime.Scheme, gvk schema.GroupVersionKind) client.ObjectList {
	listGVK := gvk.GroupVersion().WithKind(gvk.Kind + "List")
	if gvk == secretGVK {
		m := &metav1.PartialObjectMetadataList{}
		m.SetGroupVersionKind(listGVK)
		return m
	}
	// Workspaces and their kinds come as they are stored, so that fields which this program
	// does not know can be seen.
	if gvk.Group != v1beta1.GroupName {
		if o, err := s.New(listGVK); err == nil {
			if list, ok := o.(client.ObjectList); ok {
				return list
			}
		}
	}
	u := &unstructured.UnstructuredList{}
	u.SetGroupVersionKind(listGVK)
	return u
}

// resourceOf is the plural that URLs and RBAC rules use.
func resourceOf(gvk schema.GroupVersionKind) string {
	plural, _ := meta.UnsafeGuessKindToResource(gvk)
	return plural.Resource
}
