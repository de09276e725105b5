package causes

import (
	"regexp"
	"strings"
)

// The kinds of image failure, which are also the ids of their rules.
const (
	imageNotFound    = "image-not-found"
	imageForbidden   = "image-pull-unauthorized"
	imageRateLimited = "image-pull-rate-limited"
	imageTLS         = "image-pull-tls-error"
	imageUnreachable = "image-registry-unreachable"
	imagePlatform    = "image-platform-mismatch"
	imageName        = "image-name-invalid"
	imageDiskFull    = "image-pull-node-disk-full"
	imageFailed      = "image-pull-failed"
)

// pullPatterns tell the kinds of image failure apart, in this order: messages nest, and
// the innermost error is the cause. "failed to authorize: … dial tcp: i/o timeout" is no
// matter of credentials, "no match for platform in manifest: not found" no missing image.
//
// The wordings are those of containerd (core/remotes/docker, since 1.2), of
// containers/image as in CRI-O, of docker up to 20.10 through dockershim, and of the
// registries behind them (Docker Hub, quay.io, Harbor, ECR, Artifact Registry, ACR).
var pullPatterns = []struct {
	kind    string
	pattern *regexp.Regexp
}{
	{imageName, regexp.MustCompile(`invalidimagename|invalid reference format|couldn't parse image (name|reference)|failed to apply default image tag|failed to parse (image name|reference)|must be lowercase|short-name (resolution enforced|"[^"]*" did not resolve)`)},
	{imageNotFound, regexp.MustCompile(`errimageneverpull|not present with pull policy of never`)},
	{imageDiskFull, regexp.MustCompile(`no space left on device|disk quota exceeded|not enough (disk )?space|insufficient (disk )?space`)},
	{imagePlatform, regexp.MustCompile(`no match for platform|no matching manifest for|no image found in (manifest list|image index) for|cannot be used on this platform|does not match the (specified|detected host) platform|exec format error`)},
	// "failed size validation" is what a caching proxy makes of the answer to a throttled
	// request. "pull QPS exceeded" is the kubelet's own limit (registryPullQPS).
	{imageRateLimited, regexp.MustCompile(`toomanyrequests|too many requests|(^|[\s=\[(])429\b|rate ?limit|rate exceeded|throttl|pull qps exceeded|failed size validation|quota exceeded`)},
	{imageTLS, regexp.MustCompile(`x509|\btls: |\btls handshake (failure|error)|certificate (signed by|has expired|is not valid|is not trusted|verify failed)|server gave http response to https client|http: server gave http`)},
	{imageUnreachable, regexp.MustCompile(`no such host|server misbehaving|name resolution|i/o timeout|dial (tcp|udp)|connection (refused|reset|timed out)|no route to host|network is unreachable|deadline exceeded|timeout exceeded|handshake timeout|request canceled|context canceled|timed out|unexpected eof|: eof\b|bad gateway|service unavailable|gateway time-?out|registryunavailable|proxy authentication required|(^|[\s=\[(])(407|50[0234])\b`)},
	// With several credentials the kubelet lists what came of each. Who is told that there is
	// no such image was let in; that the others were not is beside the point.
	{imageNotFound, regexp.MustCompile(`^[^\[]*\[.*: not found, (?:rpc error|failed to pull)`)},
	{imageForbidden, regexp.MustCompile(`unauthorized|authentication required|authorization (failed|token has expired)|not authorized|insufficient_scope|failed to authorize|no basic auth credentials|error getting credentials|access (to the resource )?(is )?(denied|forbidden)|\bdenied: |: denied(?:[;,\]]|$)|resource is denied|accessdenied|incorrect username|invalid username|bad credentials|invalid_grant|forbidden|(^|[\s=\[(])40[13]\b`)},
	// Nothing that the registry could have or not have: the node has lost layers that it
	// believes to have, or a proxy sent a page instead of the image.
	{"", regexp.MustCompile(`get reader from content store|unexpected media type`)},
	{imageNotFound, regexp.MustCompile(`not found|manifest[ _]unknown|name[ _]unknown|blob[ _]unknown|unknown (manifest|blob)|not known to registry|does not exist|no such image|was deleted or has expired|no such manifest|(^|[\s=\[(])404\b`)},
}

// pullKind tells what kind of failure a message about an image reports; empty if the
// message does not say. The image's name is left out of the comparison, since it may
// hold any word.
func pullKind(message, image string) string {
	m := strings.ToLower(withoutImage(message, image))
	for _, p := range pullPatterns {
		if p.pattern.MatchString(m) {
			return p.kind
		}
	}
	return ""
}

// withoutImage takes an image reference, and the repository in it, out of a message.
func withoutImage(message, image string) string {
	if image == "" {
		return message
	}
	message = strings.ReplaceAll(message, image, "IMAGE")
	if repository := repositoryOf(image); len(repository) > 3 {
		message = strings.ReplaceAll(message, repository, "IMAGE")
	}
	return message
}

// repositoryOf is an image reference without registry, tag and digest.
func repositoryOf(image string) string {
	image, _, _ = strings.Cut(image, "@")
	if host := registryOf(image); strings.HasPrefix(image, host+"/") {
		image = image[len(host)+1:]
	}
	if i := strings.LastIndex(image, ":"); i > strings.LastIndex(image, "/") {
		image = image[:i]
	}
	return image
}

// registryOf is the registry that an image reference leads to. Its first component is
// one only if it looks like a host (distribution/reference).
func registryOf(image string) string {
	first, _, more := strings.Cut(image, "/")
	if more && (strings.ContainsAny(first, ".:") || first == "localhost") {
		return first
	}
	return "docker.io"
}

// pullWrappings is what kubelet, runtime and client library put around an error.
var pullWrappings = regexp.MustCompile(`^(?i:(failed to pull|back-off pulling|failed to pull and unpack|failed to inspect|failed to apply default|failed to resolve) (image tag|image|reference) "[^"]*":|errimagepull:|error:|error response from daemon:|failed to do request:|rpc error: code = \w+ desc =)`)

// pullReason is the innermost part of a message about an image that still makes sense on
// its own; empty if the message gives no reason.
func pullReason(message string) string {
	message = strings.TrimSpace(message)
	for {
		loc := pullWrappings.FindStringIndex(message)
		if loc == nil || loc[1] == 0 {
			return shorten(message)
		}
		message = strings.TrimSpace(message[loc[1]:])
	}
}

// pullSymptoms are messages that say only that a pull failed.
var pullSymptoms = regexp.MustCompile(`^(?i:(Error: )?(ErrImagePull|ImagePullBackOff|ErrImageNeverPull|InvalidImageName|ImageInspectError|RegistryUnavailable|SignatureValidationFailed)|Back-off pulling image "[^"]*"|Failed to pull image "[^"]*"(: rpc error: code = \w+ desc =)?)$`)

// longestQuote is what a sentence can bear.
const longestQuote = 160

// shorten cuts a quote to a length that a sentence can bear. Errors are wrapped from the
// outside, so that it is the end that says what happened.
func shorten(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	for rest := s; ; {
		if len(rest) <= longestQuote {
			return rest
		}
		_, inner, ok := strings.Cut(rest, ": ")
		if !ok || len(inner) < len("EOF") {
			return string([]rune(rest)[:min(longestQuote, len([]rune(rest)))]) + "…"
		}
		rest = inner
	}
}

// quote marks somebody else's words. It escapes nothing: that is up to whoever prints.
func quote(s string) string {
	for _, mark := range []string{`"`, `'`} {
		if !strings.Contains(s, mark) {
			return mark + s + mark
		}
	}
	return "“" + s + "”"
}

var (
	lookupPattern   = regexp.MustCompile(`lookup ([^\s:]+)`)
	urlHostPattern  = regexp.MustCompile(`https?://([^/"\s]+)`)
	dialHostPattern = regexp.MustCompile(`dial (?:tcp|udp) ([^\s:]+:\d+|\[[^\]\s]+\]:\d+)`)
)

// hostIn is the host that a node could not talk to, according to a message; empty if it
// names none.
func hostIn(message string) string {
	for _, p := range []*regexp.Regexp{lookupPattern, urlHostPattern, dialHostPattern} {
		if m := p.FindStringSubmatch(message); m != nil {
			return m[1]
		}
	}
	return ""
}
