#!/bin/sh
# Generates the deep-copy functions of pkg/api/v1beta1 and the CustomResourceDefinitions in
# pkg/api/crds.
#
#   generate.sh           writes them
#   generate.sh --check   writes nothing; fails, and shows the difference, if they are out of date
set -eu

root=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM

# The API package is compiled against the k8s.io/api version of this directory's go.mod, not against
# the main module's (doc.go tells why). It imports nothing else of the main module, so a copy next to
# that go.mod will do. An alternative go.mod by -modfile would not: the library with which
# controller-gen loads packages breaks on it.
api=$work/src/v1beta1
mkdir -p "$api"
cp "$root/hack/crdgen/go.mod" "$root/hack/crdgen/go.sum" "$work/src"
for file in "$root"/pkg/api/v1beta1/*.go; do
	case $file in
	*_test.go | */zz_generated.*) ;;
	*) cp "$file" "$api" ;;
	esac
done

go build -C "$root/hack/tools" -o "$work/controller-gen" sigs.k8s.io/controller-tools/cmd/controller-gen

# No descriptions in the definitions (maxDescLen=0): nine tenths of them would be core/v1's, over 200 kB
# of text that nobody here reads. Ours are for tests, the demo and the defaults of objects in files. A
# cluster that runs Kubeflow Notebooks has the published definitions, and `kubectl explain` shows
# those; the meaning of our own fields is in the Go documentation.
out=$work/out
mkdir -p "$out"
(cd "$work/src" && "$work/controller-gen" paths=./v1beta1 \
	object output:object:dir="$out" \
	crd:maxDescLen=0 output:crd:dir="$out")

if [ "${1-}" = --check ]; then
	stale=0
	for file in "$out"/*; do
		case $file in
		*.go) current=$root/pkg/api/v1beta1/${file##*/} ;;
		*) current=$root/pkg/api/crds/${file##*/} ;;
		esac
		diff -u "$current" "$file" || stale=1
	done
	[ $stale = 0 ] || echo "generated files are out of date: run hack/crdgen/generate.sh" >&2
	exit $stale
fi
cp "$out"/*.go "$root/pkg/api/v1beta1/"
cp "$out"/*.yaml "$root/pkg/api/crds/"
