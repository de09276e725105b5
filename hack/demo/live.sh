#!/bin/sh
# Plays "make demo-live": a notebook whose Secret is missing, on a real API server,
# scheduler and kubelet, from the explanation to Running.
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
export PATH="$root/bin:$bin:$PATH"

play() {
	printf '\n$ %s\n' "$*"
	"$@"
}

# What an admin has set up, and what the Workspace controller makes of a Workspace.
kubectl apply -f test/testdata/workspacekind.yaml -f hack/demo/workspace.yaml >/dev/null
uid=$(kubectl get workspace alice-notebook -n team-a -o 'jsonpath={.metadata.uid}')
sed "s/WORKSPACE-UID/$uid/" hack/demo/owned.yaml | kubectl apply -f - >/dev/null

echo '# Alice has made a notebook. It does not start.'
until kubectl get events -n team-a | grep -q FailedMount; do sleep 0.2; done
play kubectl workspace list -n team-a
play kubectl workspace describe alice-notebook -n team-a

echo
echo '# She creates the Secret.'
play kubectl create secret generic minio-creds -n team-a --from-literal=user=alice
play kubectl workspace list -n team-a

echo
echo '# The kubelet tries again within two minutes.'
until kubectl workspace describe alice-notebook -n team-a --exit-code >/dev/null; do sleep 1; done
play kubectl workspace describe alice-notebook -n team-a
