#!/bin/sh
# Plays "make demo-live": a notebook whose Secret is missing, on a real API server,
# scheduler and kubelet, from the explanation to Running.
set -eu
cd "$(dirname "$0")/../.."
. hack/demo/cluster.sh

play() {
	printf '\n$ %s\n' "$*"
	"$@"
}

echo '# Alice has made a notebook. It does not start.'
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
