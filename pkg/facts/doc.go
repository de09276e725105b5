// Package facts holds what is known about one Workspace at one moment: the
// Workspace itself, the objects around it, and for each source whether it could
// be read at all.
//
// The package is data only. Package cluster fills it, package diagnose reasons
// about it. Its central idea is Answer: "the server says this does not exist" and
// "I was not allowed to look" are different answers, and nothing downstream may
// mistake one for the other.
package facts
