// Package render holds everything that a person sees: terminal-safe text, colours,
// tables and the text form of a Diagnosis. It takes results, never a client.
package render
