#!/bin/sh
# Plays "make demo": the three jobs of the plugin on a real API server, scheduler and kubelet,
# from a notebook that does not start to one with another Secret in its Pod.
set -eu
cd "$(dirname "$0")/../.."
echo '==> starting the control plane, with a notebook whose Secret is missing'
. hack/demo/cluster.sh
kubectl config set-context --current --namespace=team-a >/dev/null
kubectl create secret generic git-token --from-literal=token=0123 >/dev/null

say() { printf '\n# %s\n' "$@"; }
play() {
	printf '\n$ %s\n' "$*"
	"$@"
}

say 'Alice has made a notebook. Why does it not start?'
play kubectl workspace list
play kubectl workspace describe alice-notebook

say 'She creates the Secret. The kubelet tries again within two minutes.'
play kubectl create secret generic minio-creds --from-literal=user=alice
play kubectl workspace wait alice-notebook
play kubectl workspace describe alice-notebook

say 'She wants her token for Git in it too.'
play kubectl workspace secrets add alice-notebook git-token=/secrets/git:0400
play kubectl workspace secrets list alice-notebook

say 'No Workspace controller runs here. What would it do, were it to run now?'
play kubectl workspace reconcile alice-notebook --once --dry-run=server

say 'The same from here, and not as a dry run.'
play kubectl workspace reconcile alice-notebook --once
play kubectl workspace wait alice-notebook
play kubectl workspace secrets list alice-notebook
