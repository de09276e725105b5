// Package test holds the end-to-end tests: the real binary, started by the real kubectl
// as a plugin, against a real API server, scheduler and kubelet.
//
// The scenarios in testdata/script read like a session at a terminal. See commands.go
// for what they can call beside kubectl. What is easier said in Go, such as many writers
// at once or the server's audit log, is in the _test.go files.
package test
