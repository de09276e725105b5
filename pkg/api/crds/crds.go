// Package crds holds the CustomResourceDefinitions of Workspace and WorkspaceKind, generated from
// pkg/api/v1beta1. They serve tests, the demo cluster, and the defaults of objects that are read from
// files instead of an API server. They are not meant to be installed over those that Kubeflow
// Notebooks ships: the two accept and reject the same, but these carry no descriptions.
package crds

import (
	// For the embedding below.
	_ "embed"
)

// Workspaces is the definition of workspaces.kubeflow.org, as YAML.
//
//go:embed kubeflow.org_workspaces.yaml
var Workspaces []byte

// WorkspaceKinds is the definition of workspacekinds.kubeflow.org, as YAML.
//
//go:embed kubeflow.org_workspacekinds.yaml
var WorkspaceKinds []byte
