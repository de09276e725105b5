package controller

// Config is what the in-cluster controller takes as flags.
type Config struct {
	// Istio is nil where no VirtualServices are made.
	Istio *Istio
}

// Istio says how Workspaces are reached through Istio.
type Istio struct {
	// Gateway is "namespace/name" of the Gateway.
	Gateway string
	// Hosts are the hosts that the routes are for.
	Hosts []string
	// ClusterDomain ends the host names of Services, "cluster.local" by default.
	ClusterDomain string
}

// DefaultClusterDomain is the domain of Services unless a cluster was set up otherwise.
const DefaultClusterDomain = "cluster.local"
