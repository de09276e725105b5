package diagnose

import "regexp"

// notRegistered is what a kubelet says about a ConfigMap or Secret of a Pod that it does
// not know yet, or not any more: `object "team-a"/"kube-root-ca.crt" not registered`. It
// has nothing to do with the object (kubernetes#105204).
var notRegistered = regexp.MustCompile(`object "[^"]*"/"[^"]*" not registered`)

// isNoise recognises Warnings that mean nothing.
func isNoise(e Event) bool { return notRegistered.MatchString(e.Message) }
