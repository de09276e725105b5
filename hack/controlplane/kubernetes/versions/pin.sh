#!/usr/bin/env bash
# Pins the newest patch of a minor version of Kubernetes: versions/pin.sh 1.36
# writes 1.36.mod and 1.36.sum. The version of ../go.mod is pinned there.
set -euo pipefail
cd "$(dirname "$0")"
minor=${1:?usage: pin.sh MINOR, such as 1.36}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/node"
# `go mod tidy` looks at the files of every build tag. Of those that are for
# 1.37 and newer only, the imports would raise what older versions are made of.
cp ../node/*.go "$work/node"
(cd "$work/node" && grep -lE '^//go:build !before_' -- *.go | xargs rm)

export GOFLAGS=-mod=mod GOWORK=off
cd "$work"
version=$(go list -m -f '{{.Version}}' "k8s.io/kubernetes@v$minor")
staging=v0.${version#v1.}
upstream=$(go mod download -json "k8s.io/kubernetes@$version" | sed -n 's/.*"GoMod": "\(.*\)",/\1/p')
{
	cat <<-MOD
		// Kubernetes $minor, for \`make test K8S=$minor\`; written by pin.sh. The
		// replacements are explained in ../go.mod.
		module github.com/kubectl-workspace/kubectl-workspace/hack/controlplane/kubernetes

		$(grep '^go ' "$upstream")

		$(grep '^godebug ' "$upstream")

		tool (
			k8s.io/kubernetes/cmd/kube-apiserver
			k8s.io/kubernetes/cmd/kube-controller-manager
			k8s.io/kubernetes/cmd/kube-scheduler
			k8s.io/kubernetes/cmd/kubectl
		)

		require k8s.io/kubernetes $version

		replace (
	MOD
	sed -n 's#^\t\(k8s.io/[a-z-]*\) => .*#\t\1 => \1 '"$staging#p" "$upstream"
	echo ')'
} >go.mod
go mod tidy
mv go.mod "$OLDPWD/$minor.mod"
mv go.sum "$OLDPWD/$minor.sum"
echo "pinned $version"
