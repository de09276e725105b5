#!/bin/sh
# Shows how large the binary of a release is, and which modules make it so: code and data,
# without the tables of the linker that grow with them.
set -eu
cd "$(dirname "$0")/../.."
GO=${GO:-go}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

for cgo in 0 1; do
	CGO_ENABLED=$cgo $GO build -trimpath -ldflags '-s -w' -o "$dir/stripped" ./cmd/kubectl-workspace
	printf '%6.1f MB with CGO_ENABLED=%s\n' "$(wc -c <"$dir/stripped" | awk '{print $1/1e6}')" $cgo
done
CGO_ENABLED=0 $GO build -trimpath -o "$dir/binary" ./cmd/kubectl-workspace
echo 'code and data by module:'
$GO list -deps -f '{{with .Module}}{{.Path}}{{end}}' ./cmd/kubectl-workspace | sort -u >"$dir/modules"
$GO tool nm -size "$dir/binary" | awk -v modules="$dir/modules" '
BEGIN { while ((getline m < modules) > 0) known[m] = 1 }
# Zero bytes are not in the file. nm takes one large buffer of them for data.
$3 ~ /[Bb]/ || $2 !~ /^[0-9]+$/ || $4 == "crypto/internal/fips140/drbg.memory" { next }
{
	path = $4; sub(/[(\[].*/, "", path); owner = "Go"
	for (p = path; p != ""; ) {
		if (p in known) { owner = p; break }
		if (!sub(/[\/.][^\/.]*$/, "", p)) break
	}
	size[owner] += $2
}
END { for (o in size) printf "%8.2f MB  %s\n", size[o] / 1e6, o }' | sort -rn | head -20
