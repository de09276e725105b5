#!/bin/sh
# Plays "make demo": the everyday commands on a snapshot of a small cluster. Nothing is
# installed and nothing is contacted.
set -eu
cd "$(dirname "$0")/../.."

# kubectl finds the plugin on PATH as "kubectl workspace"; here it is called directly, so
# that the demo runs without kubectl.
play() {
	printf '\n$ kubectl workspace %s\n' "$*"
	bin/kubectl-workspace "$@" --snapshot testdata/demo
}

echo '# Three notebooks. What is the matter with alice'\''s?'
play list
play describe alice-notebook

echo
echo '# Which Secrets does it mount, and what would another one look like?'
play secrets list alice-notebook
play secrets add alice-notebook git-token=/secrets/git:0400 --dry-run=client
