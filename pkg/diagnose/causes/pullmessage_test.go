package causes

import (
	"strings"
	"testing"
	"unicode/utf8"
)

const image = "registry.example.com/team/lab:1.2"

func TestPullKind(t *testing.T) {
	for name, c := range map[string]struct{ message, want string }{
		"containerd, no tag":             {`rpc error: code = NotFound desc = failed to pull and unpack image "registry.example.com/team/lab:1.2": failed to resolve reference "registry.example.com/team/lab:1.2": registry.example.com/team/lab:1.2: not found`, imageNotFound},
		"docker, no tag":                 {`rpc error: code = Unknown desc = Error response from daemon: manifest for registry.example.com/team/lab:1.2 not found: manifest unknown: manifest unknown`, imageNotFound},
		"CRI-O, no tag":                  {`rpc error: code = Unknown desc = reading manifest 1.2 in registry.example.com/team/lab: manifest unknown: Requested image not found`, imageNotFound},
		"quay, expired tag":              {`initializing source docker://registry.example.com/team/lab:1.2: reading manifest 1.2: manifest unknown: Tag 1.2 was deleted or has expired. To pull, revive via time machine`, imageNotFound},
		"ECR, no repository":             {`rpc error: code = NotFound desc = name unknown: The repository with name 'team/lab' does not exist in the registry with id '1'`, imageNotFound},
		"status 404":                     {`failed to resolve reference: unexpected status from HEAD request to https://registry.example.com/v2/team/lab/manifests/1.2: 404 Not Found`, imageNotFound},
		"never pull":                     {`Container image "registry.example.com/team/lab:1.2" is not present with pull policy of Never`, imageNotFound},
		"docker hub, private or missing": {`Error response from daemon: pull access denied for team/lab, repository does not exist or may require 'docker login'`, imageForbidden},
		"containerd, scope":              {`pull access denied, repository does not exist or may require authorization: server message: insufficient_scope: authorization failed`, imageForbidden},
		"CRI-O, unauthorized":            {`initializing source docker://registry.example.com/team/lab:1.2: reading manifest 1.2: unauthorized: access to the requested resource is not authorized`, imageForbidden},
		"ECR, no credentials":            {`Error response from daemon: Get https://1.dkr.ecr.eu-west-1.amazonaws.com/v2/team/lab/manifests/1.2: no basic auth credentials`, imageForbidden},
		"ECR, expired":                   {`denied: Your authorization token has expired. Reauthenticate and try again.`, imageForbidden},
		"Artifact Registry":              {`failed to authorize: failed to fetch oauth token: unexpected status from GET request to https://europe-docker.pkg.dev/v2/token: 403 Forbidden`, imageForbidden},
		"ACR":                            {`failed to authorize: failed to fetch anonymous token: unexpected status: 401 Unauthorized`, imageForbidden},
		"credential helper":              {`error getting credentials - err: exec: "docker-credential-x": executable file not found in $PATH`, imageForbidden},
		"docker hub limit":               {`toomanyrequests: You have reached your pull rate limit. You may increase the limit by authenticating`, imageRateLimited},
		"containerd limit":               {`failed to copy: httpReadSeeker: failed open: unexpected status code https://registry-1.docker.io/v2/team/lab/manifests/sha256:aa: 429 Too Many Requests - Server message: toomanyrequests`, imageRateLimited},
		"limit while authorizing":        {`failed to authorize: failed to fetch anonymous token: unexpected status: 429 Too Many Requests`, imageRateLimited},
		"limit behind a proxy":           {`failed commit on ref "unknown-sha256:aa": failed size validation: 1 != 2: failed precondition`, imageRateLimited},
		"the kubelet's own limit":        {`pull QPS exceeded`, imageRateLimited},
		"unknown authority":              {`failed to do request: Head "https://registry.example.com/v2/": tls: failed to verify certificate: x509: certificate signed by unknown authority`, imageTLS},
		"expired certificate":            {`Get "https://registry.example.com/v2/": x509: certificate has expired or is not yet valid`, imageTLS},
		"plain HTTP":                     {`Get "https://registry.example.com/v2/": http: server gave HTTP response to HTTPS client`, imageTLS},
		"TLS alert":                      {`Get "https://registry.example.com/v2/": remote error: tls: handshake failure`, imageTLS},
		"no such host":                   {`failed to do request: Head "https://registry.example.com/v2/team/lab/manifests/1.2": dial tcp: lookup registry.example.com on 10.0.0.2:53: no such host`, imageUnreachable},
		"refused":                        {`dial tcp 10.0.0.9:443: connect: connection refused`, imageUnreachable},
		"timeout while authorizing":      {`failed to authorize: failed to fetch anonymous token: Get "https://auth.docker.io/token": dial tcp 10.0.0.9:443: i/o timeout`, imageUnreachable},
		"handshake timeout":              {`Get "https://registry.example.com/v2/": net/http: TLS handshake timeout`, imageUnreachable},
		"docker, client timeout":         {`Get https://registry.example.com/v2/: net/http: request canceled while waiting for connection (Client.Timeout exceeded while awaiting headers)`, imageUnreachable},
		"gateway":                        {`received unexpected HTTP status: 503 Service Unavailable`, imageUnreachable},
		"containerd, platform":           {`rpc error: code = NotFound desc = failed to pull and unpack image "registry.example.com/team/lab:1.2": no match for platform in manifest: not found`, imagePlatform},
		"docker, platform":               {`no matching manifest for linux/arm64/v8 in the manifest list entries`, imagePlatform},
		"CRI-O, platform":                {`choosing an image from manifest list docker://registry.example.com/team/lab:1.2: no image found in manifest list for architecture arm64, variant "v8", OS linux`, imagePlatform},
		"windows":                        {`image operating system "windows" cannot be used on this platform`, imagePlatform},
		"upper case":                     {`InvalidImageName: Failed to apply default image tag "Registry/Lab": couldn't parse image name "Registry/Lab": invalid reference format: repository name (Registry/Lab) must be lowercase`, imageName},
		"CRI-O, short name, enforced":    {`rpc error: code = Unknown desc = short-name resolution enforced but cannot prompt without a TTY`, imageName},
		"CRI-O, short name, no registry": {`rpc error: code = Unknown desc = short-name "lab:1.2" did not resolve to an alias and no unqualified-search registries are defined in "/etc/containers/registries.conf"`, imageName},
		"DNS, though of a name":          {`dial tcp: lookup short-name.example.com: Temporary failure in name resolution`, imageUnreachable},
		"layers lost on the node":        {`rpc error: code = NotFound desc = failed to pull and unpack image "registry.example.com/team/lab:1.2": failed to unpack image on snapshotter overlayfs: failed to extract layer sha256:aa: failed to get reader from content store: content digest sha256:bb: not found`, ""},
		"a page of a proxy":              {`rpc error: code = NotFound desc = failed to pull and unpack image "registry.example.com/team/lab:1.2": failed to unpack image on snapshotter overlayfs: unexpected media type text/html for sha256:aa: not found`, ""},
		"disk full":                      {`failed to extract layer sha256:aa: write /var/lib/containerd/x: no space left on device`, imageDiskFull},
		"docker, disk full":              {`failed to register layer: Error processing tar file(exit status 1): write /usr/lib/x.so: no space left on device`, imageDiskFull},
		"let in, and not there":          {`[rpc error: code = NotFound desc = failed to resolve reference "registry.example.com/team/lab:1.2": registry.example.com/team/lab:1.2: not found, failed to pull and unpack image: failed to authorize: failed to fetch anonymous token: unexpected status: 401 Unauthorized]`, imageNotFound},
		"CRI-O, GHCR":                    {`unable to pull image or OCI artifact: pull image err: initializing source docker://registry.example.com/team/lab:1.2: reading manifest 1.2: denied; artifact err: get manifest: denied`, imageForbidden},
		"only a symptom":                 {`Back-off pulling image "registry.example.com/team/lab:1.2"`, ""},
		"unknown":                        {`failed to convert: media type "application/vnd.docker.distribution.manifest.v1+prettyjws" is no longer supported`, ""},
		"401 in a digest":                {`failed to copy sha256:401429`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			if got := pullKind(c.message, image); got != c.want {
				t.Errorf("pullKind = %q, want %q", got, c.want)
			}
		})
	}
}

// The name of an image may hold the very words that tell failures apart.
func TestPullKindIgnoresTheImagesName(t *testing.T) {
	const image = "registry.example.com/x509/unauthorized-429:not-found"
	if got := pullKind(`Back-off pulling image "`+image+`"`, image); got != "" {
		t.Errorf("pullKind = %q", got)
	}
}

func TestPullReason(t *testing.T) {
	for in, want := range map[string]string{
		`Failed to pull image "a/b:5000": rpc error: code = Unknown desc = Error response from daemon: unauthorized: authentication required`:                                    "unauthorized: authentication required",
		`Back-off pulling image "a:1": ErrImagePull: rpc error: code = NotFound desc = failed to pull and unpack image "a:1": failed to resolve reference "a:1": a:1: not found`: "a:1: not found",
		`Failed to apply default image tag "A": couldn't parse image name "A": invalid reference format`:                                                                         `couldn't parse image name "A": invalid reference format`,
		`Failed to pull image "x:1": rpc error: code = Unknown desc = no matching manifest for linux/arm64/v8 in the manifest list entries`:                                      "no matching manifest for linux/arm64/v8 in the manifest list entries",
		``: "",
	} {
		if got := pullReason(in); got != want {
			t.Errorf("pullReason(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestShortenKeepsTheEnd(t *testing.T) {
	long := "failed to copy: " + strings.Repeat("x", 200) + ": read /a\n: 403 Forbidden"
	if got := shorten(long); got != "read /a : 403 Forbidden" {
		t.Errorf("shorten = %q", got)
	}
	if got := shorten(strings.Repeat("ä", 300)); !utf8.ValidString(got) || len([]rune(got)) > longestQuote+1 {
		t.Errorf("shorten = %q", got)
	}
}

func TestReferences(t *testing.T) {
	for in, want := range map[string][2]string{
		"busybox":       {"docker.io", "busybox"},
		"vendor/app:1":  {"docker.io", "vendor/app"},
		"localhost/app": {"localhost", "app"},
		"registry.example.com:5000/a/b:2@sha256:aa": {"registry.example.com:5000", "a/b"},
		"": {"docker.io", ""},
	} {
		if got := [2]string{registryOf(in), repositoryOf(in)}; got != want {
			t.Errorf("%q = %v, want %v", in, got, want)
		}
	}
}

func TestHostIn(t *testing.T) {
	for in, want := range map[string]string{
		`Get "https://r.example.com/v2/": dial tcp: lookup auth.example.com on 10.0.0.2:53: no such host`: "auth.example.com",
		`Head "https://r.example.com:5000/v2/": x509: bad`:                                                "r.example.com:5000",
		`dial tcp 10.0.0.9:443: connect: connection refused`:                                              "10.0.0.9:443",
		`not found`: "",
	} {
		if got := hostIn(in); got != want {
			t.Errorf("hostIn(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestPullSecretsIn(t *testing.T) {
	if got := pullSecretsIn("Unable to retrieve some image pull secrets (a, b); attempting to pull the image may not succeed."); strings.Join(got, "+") != "a+b" {
		t.Errorf("pullSecretsIn = %v", got)
	}
	if got := pullSecretsIn("anything else"); got != nil {
		t.Errorf("pullSecretsIn = %v", got)
	}
}

func FuzzPullMessage(f *testing.F) {
	for _, s := range []string{"", `Failed to pull image "x`, `rpc error: code = X desc = : : :`, "\xff\x00", `lookup `, strings.Repeat(": ", 200)} {
		f.Add(s, image)
	}
	f.Fuzz(func(t *testing.T, message, image string) {
		pullKind(message, image)
		imageIn(message)
		hostIn(message)
		pullSecretsIn(message)
		quote(message)
		if got := pullReason(message); utf8.ValidString(message) && !utf8.ValidString(got) {
			t.Errorf("%q is no UTF-8", got)
		}
	})
}
