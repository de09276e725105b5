#!/bin/sh
# Compares how long TAB takes after "kubectl workspace describe", which kubectl hands to the
# plugin, with TAB after "kubectl get pods": medians of many runs in turn, and their ratio,
# on a control plane of its own. Run it on a quiet machine.
set -eu
cd "$(dirname "$0")/../.."
. hack/demo/cluster.sh

mkdir "$dir/path"
ln -s "$root/bin/kubectl-workspace" "$dir/path/"
export PATH="$dir/path:$PATH"
kubectl-workspace completion install --dir "$dir/path" >/dev/null
go build -o "$dir/startup" ./hack/startup
"$dir/startup" "$bin/kubectl __complete workspace describe -n team-a ''" "$bin/kubectl __complete get pods -n team-a ''"
