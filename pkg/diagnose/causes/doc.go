// Package causes is the catalogue: every kind of cause that the program knows, one
// Rule each, in files by group. docs/causes.md is generated from it.
//
// To add a cause, add a Rule to the group's list at its rank (the rule that comes
// first wins), a fixture that it must match and a near miss that it must not.
//
// Rules share three habits. What exists is asked of the Facts, where "could not be
// read" is not "absent". An Event is somebody's word: a cause that rests on one alone
// is Likely, and its summary says whose word it is. No rule knows a name from a
// fixture.
package causes
