// Package crdgen exists for the go.mod beside it: the versions of k8s.io/api and k8s.io/apimachinery
// whose types our CustomResourceDefinitions embed.
//
// A WorkspaceKind contains core/v1 types (volumes, probes, affinity, security contexts), so the schema
// generated from pkg/api/v1beta1 depends on the version of k8s.io/api: a newer one adds fields. The
// published WorkspaceKind was generated with v0.31, and ours must accept and reject exactly what
// that one does. The plugin itself talks to clusters through a much newer client library. One go.mod
// cannot hold both versions, therefore generate.sh compiles the API package against this one.
//
// Do not upgrade these versions because newer ones exist. Upgrade them when the published
// definitions have moved; `make crd-compare` tells which version fits.
package crdgen

import (
	// The packages that pkg/api/v1beta1 imports, so that `go mod tidy` keeps their modules.
	_ "k8s.io/api/core/v1"
	_ "k8s.io/apimachinery/pkg/apis/meta/v1"
	_ "k8s.io/apimachinery/pkg/runtime"
	_ "k8s.io/apimachinery/pkg/runtime/schema"
)
