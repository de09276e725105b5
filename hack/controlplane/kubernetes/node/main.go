package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	v1 "k8s.io/api/core/v1"
	clientset "k8s.io/client-go/kubernetes"
	typedv1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/record"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/cmd/kubelet/app/options"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	kubeletconfig "k8s.io/kubernetes/pkg/kubelet/apis/config"
	cadvisortest "k8s.io/kubernetes/pkg/kubelet/cadvisor/testing"
	"k8s.io/kubernetes/pkg/kubelet/cm"
	"k8s.io/kubernetes/pkg/kubemark"
)

// nodeIP is the node's address, and so that of Pods on the host's network.
// Without one the kubelet would ask DNS for its own name.
const nodeIP = "127.0.0.1"

func main() {
	name := flag.String("name", "node-a", "name of the Node")
	dir := flag.String("dir", "", "folder for the kubelet's files; its path must be short, there are Unix sockets below it")
	kubeconfig := flag.String("kubeconfig", "", "how to reach the API server as this node")
	rules := flag.String("rules", "", "JSON file with the failures to inject")
	flag.Parse()
	if err := run(context.Background(), *name, *dir, *kubeconfig, &Rules{path: *rules}); err != nil {
		fmt.Fprintln(os.Stderr, "node:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, name, dir, kubeconfig string, rules *Rules) error {
	if err := checkKernelLog(); err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	client, heartbeat, err := clients(kubeconfig)
	if err != nil {
		return err
	}

	socket := filepath.Join(dir, "cri.sock")
	if err := NewRuntime(rules).Serve(socket); err != nil {
		return err
	}
	runtimeService, imageService, err := connect(ctx, "unix://"+socket, 15*time.Second)
	if err != nil {
		return fmt.Errorf("connect to the fake runtime: %w", err)
	}

	flags, config, err := kubeletConfig(name, dir)
	if err != nil {
		return err
	}
	machine := &Machine{Fake: cadvisortest.Fake{NodeName: name}}
	kubelet := kubemark.NewHollowKubelet(flags, config, client, heartbeat, machine, imageService, runtimeService, cm.NewStubContainerManager())
	kubelet.KubeletDeps.Mounter = &Mounter{rules: rules}
	kubelet.KubeletDeps.ProbeManager = nil // the kubelet makes its real one
	kubelet.KubeletDeps.Recorder = eventRecorder(ctx, client, name)
	go setAddresses(ctx, client, name)
	kubelet.Run(ctx) // does not return
	return nil
}

// setAddresses gives the Node its addresses. The kubelet reports none, because
// it does not accept a loopback address (its log says so again and again), but
// it keeps what others set. Without an address no Pod has a hostIP, and one that
// asks for it through the downward API does not start.
func setAddresses(ctx context.Context, client clientset.Interface, name string) {
	patch := fmt.Appendf(nil, `{"status": {"addresses": [{"type": "InternalIP", "address": %q}, {"type": "Hostname", "address": %q}]}}`, nodeIP, name)
	for {
		_, err := client.CoreV1().Nodes().PatchStatus(ctx, name, patch)
		if err == nil {
			return
		}
		klog.V(2).InfoS("Waiting for the Node to set its addresses", "err", err)
		time.Sleep(100 * time.Millisecond)
	}
}

// checkKernelLog says in one line what the kubelet would die of: it watches
// the kernel's log for out-of-memory kills, which some systems keep from users.
func checkKernelLog() error {
	file, err := os.Open("/dev/kmsg")
	if errors.Is(err, fs.ErrPermission) {
		return fmt.Errorf("the kubelet must read the kernel log (%w): allow it with `sudo sysctl kernel.dmesg_restrict=0`", err)
	}
	if err == nil {
		file.Close()
	}
	return nil
}

// clients returns one for general use and one for heartbeats, which must not
// wait behind other requests.
func clients(kubeconfig string) (client, heartbeat *clientset.Clientset, err error) {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return nil, nil, fmt.Errorf("read the kubeconfig: %w", err)
	}
	config.UserAgent, config.ContentType = "kubelet", "application/vnd.kubernetes.protobuf"
	config.QPS, config.Burst = 50, 100 // the kubelet's defaults
	if client, err = clientset.NewForConfig(config); err != nil {
		return nil, nil, err
	}
	config.QPS, config.Timeout = -1, 10*time.Second
	heartbeat, err = clientset.NewForConfig(config)
	return client, heartbeat, err
}

// eventRecorder sends the kubelet's Events to the API server; kubemark throws
// them away.
func eventRecorder(ctx context.Context, client clientset.Interface, node string) record.EventRecorderLogger {
	broadcaster := record.NewBroadcaster(record.WithContext(ctx))
	broadcaster.StartRecordingToSink(&typedv1.EventSinkImpl{Interface: client.CoreV1().Events("")})
	return broadcaster.NewRecorder(legacyscheme.Scheme, v1.EventSource{Component: "kubelet", Host: node})
}

// kubeletConfig undoes what kubemark does for scale tests, so that the node
// behaves like a production one.
func kubeletConfig(name, dir string) (*options.KubeletFlags, *kubeletconfig.KubeletConfiguration, error) {
	// kubemark makes folders of its own in TMPDIR, never to remove them.
	if err := os.Setenv("TMPDIR", dir); err != nil {
		return nil, nil, err
	}
	flags, config := kubemark.GetHollowKubeletConfig(&kubemark.HollowKubeletOptions{NodeName: name, MaxPods: 110})
	flags.RootDirectory = filepath.Clean(dir)
	flags.NodeIP = nodeIP
	config.StaticPodPath = ""
	config.PodLogsDir = filepath.Join(dir, "pod-logs")
	config.EnableServer = false // one port less; there are no logs to serve
	config.ProviderID = ""
	config.ClusterDNS = []string{"10.96.0.10"} // or every Pod gets a MissingClusterDNS Warning
	config.ClusterDomain = "cluster.local"
	config.EnableControllerAttachDetach = true
	config.SerializeImagePulls = false
	config.RegistryPullQPS = 0 // many tests at once must not see "pull QPS exceeded"
	return flags, config, nil
}
