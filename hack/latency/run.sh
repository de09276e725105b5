#!/bin/sh
# Compares "kubectl workspace describe" with "kubectl describe pod" on a slow link, on a
# control plane of its own.
set -eu
cd "$(dirname "$0")/../.."
root=$PWD
dir=$(mktemp -d)
launcher() { go -C hack/controlplane run . "$@"; }
trap 'launcher down --dir "$dir/cluster" >/dev/null 2>&1 || true; rm -rf "$dir"' EXIT
trap 'exit 130' INT TERM

eval "$(launcher up --dir "$dir/cluster" --crds "$root/pkg/api/crds")"
export KUBECONFIG
bin=$(launcher bin)
kubectl=$bin/kubectl
"$kubectl" apply -f test/testdata/workspacekind.yaml -f hack/demo/workspace.yaml >/dev/null
uid=$("$kubectl" get workspace alice-notebook -n team-a -o 'jsonpath={.metadata.uid}')
sed "s/WORKSPACE-UID/$uid/" hack/demo/owned.yaml | "$kubectl" apply -f - >/dev/null
until "$kubectl" get events -n team-a | grep -q FailedMount; do sleep 0.2; done

go build -o "$dir/latency" ./hack/latency
"$dir/latency" "$KUBECONFIG" \
	"$root/bin/kubectl-workspace describe alice-notebook -n team-a" \
	"$kubectl describe pod ws-alice-notebook-x7k2p-0 -n team-a"
