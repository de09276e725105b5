package main

import (
	"net"
	"net/http"
	"strconv"
	"time"

	"k8s.io/klog/v2"

	cri "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// podServer answers HTTP on the ports that a Pod declares, as its processes
// would: the kubelet's probes are real and need somebody to talk to.
type podServer struct{ server *http.Server }

// servePod listens on the Pod's own loopback address. Where the system has no
// such address (only Linux has all of 127.0.0.0/8) or the port is taken,
// nobody answers, and probes of that port fail.
func (r *Runtime) servePod(ip, sandbox string, config *cri.PodSandboxConfig) *podServer {
	pod := podSubject(config.GetMetadata())
	server := &http.Server{
		ReadHeaderTimeout: 5 * time.Second,
		Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			if !r.running(sandbox) {
				panic(http.ErrAbortHandler) // no process, no answer
			}
			if rule, ok := r.rules.Find(pod, func(r Rule) bool { return r.HTTPStatus != 0 }); ok {
				w.WriteHeader(rule.HTTPStatus)
			}
		}),
	}
	for _, port := range config.PortMappings {
		if port.Protocol != cri.Protocol_TCP || port.ContainerPort == 0 {
			continue
		}
		listener, err := net.Listen("tcp", net.JoinHostPort(ip, strconv.Itoa(int(port.ContainerPort))))
		if err != nil {
			klog.InfoS("Probes of this port will fail", "pod", pod, "err", err)
			continue
		}
		go server.Serve(listener)
	}
	return &podServer{server}
}

// Close stops answering.
func (s *podServer) Close() { s.server.Close() }

// running reports whether any container of a sandbox runs.
func (r *Runtime) running(sandbox string) bool {
	r.RuntimeService.Lock()
	defer r.RuntimeService.Unlock()
	for _, c := range r.RuntimeService.Containers {
		if c.SandboxID == sandbox && c.State == cri.ContainerState_CONTAINER_RUNNING {
			return true
		}
	}
	return false
}
