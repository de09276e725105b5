// Package cluster is the one door to Kubernetes.
//
// A Reader answers two questions, "this object" and "these objects", and has two
// implementations: Live talks to the API server of a kubeconfig, Store holds the
// objects of a snapshot, a manifest or an earlier listing. Everything above works
// on a Reader and so gives the same answer, byte for byte, from either.
//
// Three rules are kept here so that nothing above has to think of them:
//
//   - Resources are a fixed table. Nothing is discovered, which saves the round
//     trips that make plugins slow on a far cluster.
//   - Secrets and ConfigMaps are only ever read as metadata. Their data does not
//     enter the process: a live server is asked for PartialObjectMetadata, files
//     are stripped while they are loaded.
//   - A failed read is an error of its own kind, never an empty result. See
//     Gather, which turns it into an Answer.
package cluster
