// Command node is the test node of the local control plane: the real kubelet
// over a container runtime that only pretends.
//
// Everything a person sees of a failing Pod is written by the kubelet: Events,
// container statuses, back-offs, mount errors. So the kubelet here is the real
// one, with its volume manager, image manager, Pod workers and probes; only
// what is below the container runtime interface (CRI) is fake. No container is
// ever started and no image ever pulled.
//
//   - main.go     configures the kubelet as a production node has it
//   - runtime.go  the fake runtime, with failures injected by rules
//   - rules.go    the rules file
//   - serve.go    answers HTTP probes of Pods
//   - mount.go    mount failures
//   - machine.go  the size of the pretended machine
package main
