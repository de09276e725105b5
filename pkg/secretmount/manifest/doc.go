// Package manifest edits the mounts of Workspaces in YAML and JSON files without
// touching anything else in them: comments, order, quotes, indentation and line ends
// stay as they are, to the byte.
//
// No YAML library writes back what it has read; the best reorder nothing and keep
// comments, but fold lines and normalise indentation. So the text is parsed for the
// positions only, and each step of the edit's JSON Patch becomes a splice at one place.
//
// That what comes out is right does not rest on the splices. Afterwards the document is
// decoded as kubectl decodes it and compared with what the patch makes of the decoded
// original. Where they differ, as with aliases and merge keys, nothing is written and the
// person is told to edit by hand.
package manifest
