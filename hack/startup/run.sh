#!/bin/sh
# Compares how long "kubectl workspace --help" takes to start with "kubectl options", both
# as the median of many runs in turn, and prints the ratio. Run it on a quiet machine.
set -eu
cd "$(dirname "$0")/../.."
bin=$(go -C hack/controlplane run . bin)
go run ./hack/startup "$PWD/bin/kubectl-workspace --help" "$bin/kubectl options"
