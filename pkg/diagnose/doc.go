// Package diagnose turns Facts into a Diagnosis: what state a Workspace is in, why,
// and what to do about it. It is pure: no client, no clock, no I/O.
//
// # The model
//
// A Workspace climbs a ladder (see Rung): accepted by the controller, Pod created,
// scheduled, volumes mounted, sandbox made, initialised, started, ready. It is stuck
// on exactly one rung, and status says which. Only then are the Events asked why:
//
//   - An Event counts only if it carries the uid of the object at hand, and its time
//     is the latest of its five time fields (see EventTime).
//   - A Warning belongs to a rung. If that rung has been passed since, the Warning is
//     history, however recent it is.
//   - If what a Warning complains about is no longer true, the Workspace is
//     recovering: the Case is asked for what exists now, not the Event.
//   - What could not be read is unknown. It is listed and never counts as absent.
//
// # The parts
//
// New builds a Case, the view of the Facts that rules work on. Rules live in package
// causes; Run applies them and assembles the Diagnosis. The text and the JSON output
// are two views of that one value.
package diagnose
