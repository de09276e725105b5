#!/bin/sh
# Prints the coverage of each package by the tests of all packages, and fails if one of
# the named packages has less than the given percentage:
#   hack/coverage.sh 90 pkg/diagnose pkg/secretmount
# Generated code does not count.
set -eu
cd "$(dirname "$0")/.."
minimum=$1
shift
profile=$(mktemp)
trap 'rm -f "$profile"' EXIT
log=$(${GO:-go} test -coverpkg=./pkg/... -coverprofile="$profile" ./pkg/... 2>&1) || { echo "$log" >&2; exit 1; }
# A line of the profile is "file:from,to statements count"; each test binary adds its own.
awk -v minimum="$minimum" -v held="$*" '
	BEGIN { n = split(held, names, " "); for (i = 1; i <= n; i++) must[names[i]] = 1 }
	/^mode:/ || /\/zz_generated/ { next }
	{ statements[$1] = $2; if ($3 > 0) covered[$1] = 1 }
	END {
		for (block in statements) {
			package = block
			sub(/^.*kubectl-workspace\/kubectl-workspace\//, "", package)
			sub(/\/[^\/]*$/, "", package)
			all[package] += statements[block]
			if (block in covered) hit[package] += statements[block]
		}
		for (package in all) {
			percent = 100 * hit[package] / all[package]
			low = (package in must) && percent < minimum
			printf "%6.1f %%  %s%s\n", percent, package, low ? "  (must reach " minimum " %)" : "" | "sort -k3"
			failed = failed || low
			delete must[package]
		}
		close("sort -k3")
		for (package in must) { print "no coverage of " package; failed = 1 }
		exit failed
	}' "$profile"
