# Sourced by the scripts that play on a control plane of their own, in the repository's root:
# starts one that ends with the script, sets KUBECONFIG, and puts the control plane's kubectl
# and the plugin first on PATH. Then makes a notebook whose Secret is missing, and waits
# until the kubelet says so. $dir is a folder that goes with the script.
root=$PWD
dir=$(mktemp -d)
launcher() { go -C hack/controlplane run . "$@"; }
trap 'launcher down --dir "$dir/cluster" >/dev/null 2>&1 || true; rm -rf "$dir"' EXIT
trap 'exit 130' INT TERM

eval "$(launcher up --dir "$dir/cluster" --crds "$root/pkg/api/crds")"
export KUBECONFIG
bin=$(launcher bin)
export PATH="$root/bin:$bin:$PATH"

# What an admin has set up, and what the Workspace controller makes of a Workspace.
kubectl apply -f test/testdata/workspacekind.yaml -f hack/demo/workspace.yaml >/dev/null
controller() { kubectl workspace reconcile alice-notebook --once -n team-a -q >/dev/null; }
controller
until kubectl get events -n team-a | grep -q FailedMount; do sleep 0.2; done
controller
