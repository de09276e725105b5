#!/usr/bin/env bash
# Reads the output of `go test -cover` and prints a table. Fails if a test failed,
# or if one of the named packages has less than the given percentage:
#   go test -cover ./... | hack/coverage.sh 90 pkg/diagnose pkg/secretmount
set -euo pipefail
minimum=$1
shift
awk -v minimum="$minimum" -v held="$*" '
	BEGIN { n = split(held, names, " "); for (i = 1; i <= n; i++) must[names[i]] = 1 }
	/^(FAIL|---)/ { print; failed = 1 }
	match($0, /coverage: [0-9.]+%/) {
		percent = substr($0, RSTART + 10, RLENGTH - 11)
		name = ($1 == "ok") ? $2 : $1
		sub(/^.*kubectl-workspace\/kubectl-workspace\//, "", name)
		low = (name in must) && percent + 0 < minimum
		printf "%6.1f %%  %s%s\n", percent, name, low ? "  (must reach " minimum " %)" : ""
		failed = failed || low
		delete must[name]
	}
	END {
		for (name in must) { print "no coverage of " name; failed = 1 }
		exit failed
	}'
