// Package v1beta1 holds the Go types of the two resources of Kubeflow Notebooks v2, API version
// kubeflow.org/v1beta1.
//
// A [Workspace] (namespaced, short name ws) is one person's notebook server. It names a
// [WorkspaceKind] (cluster-scoped, short name wsk), which is the platform team's template: which
// images and which Pod sizes can be chosen, which ports are served, what every Pod gets in addition.
// A controller turns the pair into a StatefulSet of one Pod and what belongs to it.
//
// # Why the types are declared here
//
// The project that owns this API does not publish its Go types as an importable module, so they are
// declared again, from its published CustomResourceDefinitions. The definitions generated from
// this package (see pkg/api/crds) accept and reject exactly what the published ones do; `make
// crd-compare` proves it.
//
// # What survives a round trip
//
// Objects are read from a cluster, changed and written back, so decoding into these types and
// encoding again must not change what an object says:
//
//   - An explicit zero is kept where it means something else than absence. [SecretMount.DefaultMode]
//     is a pointer because mode 0 is valid and the API server would replace an absent mode by 420.
//   - A boolean or number whose default in the API is its zero value is a plain value, always written:
//     objects from an API server carry it anyway, and false or 0 is what absence means.
//   - Empty lists and maps in spec are kept ("omitzero": only nil is left out). In status, which only
//     the controller writes, empty lists are left out, as it does itself.
//   - The structures embedded from core/v1 (volumes, probes, affinity, …) follow the rules of those
//     types: empty strings and lists are dropped, and quantities are written in canonical form
//     (0.25 becomes 250m).
//   - Fields that these types do not know are lost. Where somebody else's object is edited, edit it as
//     unstructured data, or send a patch.
//
// # Markers
//
// Lines that begin with +kubebuilder are instructions for controller-gen and end up as validation
// in the CustomResourceDefinitions. Descriptions do not: see hack/crdgen.
//
// +kubebuilder:object:generate=true
// +groupName=kubeflow.org
package v1beta1
