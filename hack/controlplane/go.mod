// The launcher of the local control plane. It needs the standard library only:
// what it starts lives in the modules below, kubernetes/ and etcd/.
module github.com/kubectl-workspace/kubectl-workspace/hack/controlplane

go 1.26.0
