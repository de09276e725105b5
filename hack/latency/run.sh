#!/bin/sh
# Compares "kubectl workspace describe" with "kubectl describe pod" on a slow link, on a
# control plane of its own.
set -eu
cd "$(dirname "$0")/../.."
. hack/demo/cluster.sh

go build -o "$dir/latency" ./hack/latency
"$dir/latency" "$KUBECONFIG" \
	"$root/bin/kubectl-workspace describe alice-notebook -n team-a" \
	"$bin/kubectl describe pod ws-alice-notebook-x7k2p-0 -n team-a"
