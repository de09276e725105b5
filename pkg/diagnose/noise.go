package diagnose

import "regexp"

// notRegistered is what a kubelet says about a ConfigMap or Secret of a Pod that it does
// not know yet, or not any more: `object "team-a"/"kube-root-ca.crt" not registered`. It
// has nothing to do with the object (kubernetes#105204).
var notRegistered = regexp.MustCompile(`object "[^"]*"/"[^"]*" not registered`)

// cacheLags is what a kubelet says that has not yet got a ConfigMap or Secret of a Pod from
// the API server, whether it exists or not. It tries again at once.
var cacheLags = regexp.MustCompile(`failed to sync (?:secret|configmap) cache: timed out`)

// tooManyLags is from when on it is not the cache that lags: the kubelet cannot read them.
const tooManyLags = 5

// isNoise recognises Warnings that mean nothing.
func isNoise(e Event) bool {
	return notRegistered.MatchString(e.Message) || cacheLags.MatchString(e.Message) && e.Count < tooManyLags
}
