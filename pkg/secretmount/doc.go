// Package secretmount edits spec.podTemplate.volumes.secrets of a Workspace, the
// list of the Secrets that are mounted into its Pod.
//
// It is pure: a Workspace goes in, an Edit comes out, with what happens to each
// mount and the JSON Patch (RFC 6902) that carries it. Package commit, below this
// one, sends that patch.
//
// A Workspace is handled as the JSON that the server sent and never as a Go type.
// A typed client would drop every field that this program does not know yet, and
// would turn an explicit mode 0 into the default.
//
// The identity of an entry is its mount path: the API declares the list as a map
// with that key, and so refuses a second entry with the same text. The patches rely
// on it. Appending an entry therefore needs no test of the list, and any number of
// people can append at the same moment; taking one out or changing it tests that
// exactly that entry is still where it was.
package secretmount
