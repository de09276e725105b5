// Package controller is the logic of the Workspace controller: which objects a Workspace and
// its WorkspaceKind call for, how far the existing ones have drifted from that, and what the
// status should say.
//
// The rules are those of the in-cluster controller of Kubeflow Notebooks v2, learned from its
// behaviour on a real API server (testdata/parity holds the recordings). Where this package
// differs on purpose, docs/parity.md says so; nothing else may differ.
//
// Builders (serviceaccount.go, statefulset.go, service.go, rolebinding.go,
// virtualservice.go), the comparison with existing objects (defaults.go, drift.go) and the
// status (state.go, status.go) are pure: values in, values out. [WorkspaceReconciler] and
// [WorkspaceKindReconciler] put them in order over a client. What kind of client that is,
// live, dry run or in memory, they do not know.
package controller
