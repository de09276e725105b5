#!/bin/sh
# Makes all of a release but the signatures, without publishing anything; then builds the
# same commit in another folder with an empty build cache, and compares the binaries. With
# ALL=1 it does so for every platform, else for this machine's.
set -eu
cd "$(dirname "$0")/../.."
GO=${GO:-go}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
trap 'exit 130' INT TERM

started=$(date +%s)
stage() { printf '\n==> [%ss] %s\n' $(($(date +%s) - started)) "$1"; }

if [ -n "$(git status --porcelain)" ]; then
	echo 'there are changes that are not committed: a commit is what is built twice and compared' >&2
	exit 1
fi

stage 'goreleaser, from its pinned module (minutes the first time)'
goreleaser=$($GO tool -modfile=hack/tools/goreleaser/go.mod -n goreleaser)
# goreleaser asks for a tag and a remote, which not every clone has.
export GORELEASER_CURRENT_TAG="${GORELEASER_CURRENT_TAG:-$(git describe --tags --abbrev=0 2>/dev/null || echo v0.0.0)}"
export GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=remote.origin.url GIT_CONFIG_VALUE_0=https://github.com/kubectl-workspace/kubectl-workspace.git

stage 'check of .goreleaser.yaml'
"$goreleaser" check

stage 'a release of every platform'
"$goreleaser" release --snapshot --clean --skip=sign,publish --timeout=4h # a cold build cache on two cores takes its time

stage 'the same commit in another folder, with an empty build cache'
git clone --quiet --no-hardlinks . "$dir/elsewhere"
(
	cd "$dir/elsewhere"
	[ -n "${ALL:-}" ] || set -- --single-target
	GOCACHE=$dir/cache "$goreleaser" build --snapshot --clean --skip=before --timeout=4h "$@"
)

stage 'comparison'
compared=0
for other in "$dir"/elsewhere/dist/*/kubectl-workspace*; do
	this=dist/${other#"$dir/elsewhere/dist/"}
	if ! cmp "$this" "$other"; then
		echo "two builds of one commit differ: $this" >&2
		exit 1
	fi
	echo "identical: $this"
	compared=$((compared + 1))
done
[ "$compared" -gt 0 ] || { echo 'nothing was compared' >&2; exit 1; }

stage 'artefacts'
for f in dist/kubectl-workspace_*.* dist/checksums.txt dist/krew/*.yaml dist/*/kubectl-workspace*; do
	printf '%10d  %s\n' "$(wc -c <"$f")" "$f"
done
