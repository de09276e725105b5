package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	cri "k8s.io/cri-api/pkg/apis/runtime/v1"
	fakeremote "k8s.io/cri-client/pkg/fake"
)

// defaultImageUID is the user of every image: not root, or Pods with
// runAsNonRoot would fail with CreateContainerConfigError.
const defaultImageUID = 1000

// Runtime is a container runtime that only keeps books, and fails where a rule
// says so.
//
// Failures are injected here, behind a gRPC server, and not by a wrapper inside
// the kubelet's process: the kubelet's own CRI client then turns them into the
// very messages that a production node shows.
type Runtime struct {
	*fakeremote.RemoteRuntime
	rules *Rules

	mu      sync.Mutex
	servers map[string]*podServer // by sandbox id
}

// NewRuntime returns a runtime that is ready to serve.
func NewRuntime(rules *Rules) *Runtime {
	r := &Runtime{RemoteRuntime: fakeremote.NewFakeRemoteRuntime(), rules: rules, servers: map[string]*podServer{}}
	r.RuntimeService.FakeStatus = &cri.RuntimeStatus{Conditions: []*cri.RuntimeCondition{
		{Type: cri.RuntimeReady, Status: true},
		{Type: cri.NetworkReady, Status: true},
	}}
	r.ImageService.SetFakeImageSize(900 << 20) // the kubelet refuses images of no size
	r.ImageService.SetFakeFilesystemUsage([]*cri.FilesystemUsage{{
		Timestamp: time.Now().UnixNano(), FsId: &cri.FilesystemIdentifier{Mountpoint: "/"},
		UsedBytes: &cri.UInt64Value{Value: diskUsed}, InodesUsed: &cri.UInt64Value{Value: 1000},
	}})
	return r
}

// Serve answers the kubelet on a Unix socket until the process ends.
func (r *Runtime) Serve(socket string) error {
	listener, err := net.Listen("unix", socket)
	if err != nil {
		return fmt.Errorf("listen for the kubelet: %w", err)
	}
	server := grpc.NewServer()
	cri.RegisterRuntimeServiceServer(server, r)
	cri.RegisterImageServiceServer(server, r)
	go server.Serve(listener)
	return nil
}

// failure is how a runtime reports an error: code Unknown, as containerd does.
func failure(message string) error { return status.Error(codes.Unknown, message) }

func podSubject(m *cri.PodSandboxMetadata) Subject {
	return Subject{Namespace: m.GetNamespace(), Pod: m.GetName()}
}

func imageName(spec *cri.ImageSpec) string {
	if name := spec.GetUserSpecifiedImage(); name != "" {
		return name
	}
	return spec.GetImage()
}

// container returns what rules see of a container that was created.
func (r *Runtime) container(id string) Subject {
	r.RuntimeService.Lock()
	defer r.RuntimeService.Unlock()
	c, ok := r.RuntimeService.Containers[id]
	if !ok {
		return Subject{}
	}
	s := Subject{Image: imageName(c.Image), Container: c.Metadata.GetName()}
	if sandbox, ok := r.RuntimeService.Sandboxes[c.SandboxID]; ok {
		s.Namespace, s.Pod = sandbox.Metadata.GetNamespace(), sandbox.Metadata.GetName()
	}
	return s
}

// ImageStatus adds the image's user, and hides images that must not be there.
func (r *Runtime) ImageStatus(ctx context.Context, req *cri.ImageStatusRequest) (*cri.ImageStatusResponse, error) {
	s := Subject{Image: imageName(req.Image)}
	if _, hidden := r.rules.Find(s, func(r Rule) bool { return r.PullError != "" }); hidden {
		return &cri.ImageStatusResponse{}, nil
	}
	resp, err := r.RemoteRuntime.ImageStatus(ctx, req)
	if err != nil || resp.Image == nil {
		return resp, err
	}
	uid := int64(defaultImageUID)
	if rule, ok := r.rules.Find(s, func(r Rule) bool { return r.ImageUID != nil }); ok {
		uid = *rule.ImageUID
	}
	image := resp.Image
	return &cri.ImageStatusResponse{Image: &cri.Image{
		Id: image.Id, RepoTags: image.RepoTags, Size: image.Size, Spec: image.Spec, Pinned: image.Pinned,
		Uid: &cri.Int64Value{Value: uid},
	}}, nil
}

// PullImage takes its time, then fails or not.
func (r *Runtime) PullImage(ctx context.Context, req *cri.PullImageRequest) (*cri.PullImageResponse, error) {
	s := podSubject(req.SandboxConfig.GetMetadata())
	s.Image = imageName(req.Image)
	if rule, ok := r.rules.Find(s, func(r Rule) bool { return r.PullDelay.Duration > 0 }); ok {
		select {
		case <-time.After(rule.PullDelay.Duration):
		case <-ctx.Done():
			return nil, failure(fmt.Sprintf("failed to pull and unpack image %q: %v", s.Image, ctx.Err()))
		}
	}
	if rule, ok := r.rules.Find(s, func(r Rule) bool { return r.PullError != "" }); ok {
		return nil, failure(rule.PullError)
	}
	return r.RemoteRuntime.PullImage(ctx, req)
}

// RunPodSandbox gives the Pod an address of its own, on loopback: whatever
// probes the Pod must never send traffic out of this machine.
func (r *Runtime) RunPodSandbox(ctx context.Context, req *cri.RunPodSandboxRequest) (*cri.RunPodSandboxResponse, error) {
	s := podSubject(req.Config.GetMetadata())
	if rule, ok := r.rules.Find(s, func(r Rule) bool { return r.SandboxError != "" }); ok {
		return nil, failure(rule.SandboxError)
	}
	r.mu.Lock() // one at a time, so that no two choose the same address
	defer r.mu.Unlock()
	ip, err := r.freeIP()
	if err != nil {
		return nil, failure(err.Error())
	}
	resp, err := r.RemoteRuntime.RunPodSandbox(ctx, req)
	if err != nil {
		return nil, err
	}
	r.RuntimeService.Lock()
	r.RuntimeService.Sandboxes[resp.PodSandboxId].Network = &cri.PodSandboxNetworkStatus{Ip: ip}
	r.RuntimeService.Unlock()
	r.servers[resp.PodSandboxId] = r.servePod(ip, resp.PodSandboxId, req.Config)
	return resp, nil
}

// freeIP returns the lowest of 127.0.0.2–254 that no sandbox uses.
func (r *Runtime) freeIP() (string, error) {
	r.RuntimeService.Lock()
	defer r.RuntimeService.Unlock()
	used := map[string]bool{}
	for _, sandbox := range r.RuntimeService.Sandboxes {
		if sandbox.State == cri.PodSandboxState_SANDBOX_READY {
			used[sandbox.Network.GetIp()] = true
		}
	}
	for i := 2; i <= 254; i++ {
		if ip := fmt.Sprintf("127.0.0.%d", i); !used[ip] {
			return ip, nil
		}
	}
	return "", errors.New("no IP addresses available in range set: 127.0.0.2-127.0.0.254")
}

// StopPodSandbox also stops answering probes.
func (r *Runtime) StopPodSandbox(ctx context.Context, req *cri.StopPodSandboxRequest) (*cri.StopPodSandboxResponse, error) {
	r.mu.Lock()
	if server := r.servers[req.PodSandboxId]; server != nil {
		server.Close()
		delete(r.servers, req.PodSandboxId)
	}
	r.mu.Unlock()
	return r.RemoteRuntime.StopPodSandbox(ctx, req)
}

// CreateContainer fails or not.
func (r *Runtime) CreateContainer(ctx context.Context, req *cri.CreateContainerRequest) (*cri.CreateContainerResponse, error) {
	s := podSubject(req.SandboxConfig.GetMetadata())
	s.Image, s.Container = imageName(req.Config.GetImage()), req.Config.GetMetadata().GetName()
	if rule, ok := r.rules.Find(s, func(r Rule) bool { return r.CreateError != "" }); ok {
		return nil, failure(rule.CreateError)
	}
	return r.RemoteRuntime.CreateContainer(ctx, req)
}

// StartContainer fails or not, and arranges for the container's end.
func (r *Runtime) StartContainer(ctx context.Context, req *cri.StartContainerRequest) (*cri.StartContainerResponse, error) {
	s := r.container(req.ContainerId)
	if rule, ok := r.rules.Find(s, func(r Rule) bool { return r.StartError != "" }); ok {
		// As containerd leaves it: exited, and never started.
		r.exit(req.ContainerId, 128, "StartError", rule.StartError)
		return nil, failure(rule.StartError)
	}
	resp, err := r.RemoteRuntime.StartContainer(ctx, req)
	if err != nil {
		return nil, err
	}
	if rule, ok := r.rules.Find(s, func(r Rule) bool { return r.Exit != nil }); ok {
		reason := rule.Exit.Reason
		switch {
		case reason != "":
		case rule.Exit.Code == 0:
			reason = "Completed"
		default:
			reason = "Error"
		}
		time.AfterFunc(rule.Exit.After.Duration, func() { r.exit(req.ContainerId, rule.Exit.Code, reason, "") })
	}
	return resp, nil
}

// StopContainer leaves a container as one that obeyed the signal to stop.
func (r *Runtime) StopContainer(_ context.Context, req *cri.StopContainerRequest) (*cri.StopContainerResponse, error) {
	r.exit(req.ContainerId, 0, "Completed", "")
	return &cri.StopContainerResponse{}, nil
}

// exit marks a container as exited; the kubelet notices within a second. A
// container that is gone or has exited before is left as it is.
func (r *Runtime) exit(id string, code int32, reason, message string) {
	r.RuntimeService.Lock()
	defer r.RuntimeService.Unlock()
	c, ok := r.RuntimeService.Containers[id]
	if !ok || c.State == cri.ContainerState_CONTAINER_EXITED {
		return
	}
	c.State, c.FinishedAt = cri.ContainerState_CONTAINER_EXITED, time.Now().UnixNano()
	c.ExitCode, c.Reason, c.Message = code, reason, message
}

// ExecSync answers exec probes.
func (r *Runtime) ExecSync(ctx context.Context, req *cri.ExecSyncRequest) (*cri.ExecSyncResponse, error) {
	if rule, ok := r.rules.Find(r.container(req.ContainerId), func(r Rule) bool { return r.Exec != nil }); ok {
		return &cri.ExecSyncResponse{ExitCode: rule.Exec.Code, Stdout: []byte(rule.Exec.Output)}, nil
	}
	return &cri.ExecSyncResponse{}, nil
}
