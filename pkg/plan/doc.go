// Package plan runs the controller against a cluster of its own making and records what it
// does.
//
// A [Cluster] stands between the controller and the API server. It answers reads from memory,
// which a handful of lists has filled, so that the number of requests does not grow with that
// of the Workspaces. Writes go where the [Mode] says: to the API server, to the API server as
// a dry run, or nowhere. In every mode the result is kept in memory, and what is read later is
// what was written before: one code path, and a second run over the same Cluster finds nothing
// left to do.
//
// A [Runner] reconciles Workspaces and WorkspaceKinds against a Cluster and returns the [Plan]:
// what was (or would be) written, field by field.
package plan
