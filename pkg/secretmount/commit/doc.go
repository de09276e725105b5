// Package commit carries an edit of a Workspace to the server, whatever happens on
// the way.
//
// A write can fail because somebody else was faster, because the server is busy, or
// because the connection broke after the server had already done what it was asked
// for. Write deals with all of them the same way: read again, plan again on what is
// there now, send again, until it worked, cannot work, or takes too long.
package commit
