package secretmount

import (
	"errors"
	"fmt"
	"path"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/util/validation"
)

const (
	// DefaultMode is the mode of the files where none is given; the CRD's default.
	DefaultMode int32 = 0o644
	// maxMode is the CRD's maximum: permission bits only.
	maxMode = 0o777
	// maxPathBytes is the CRD's limit of a mount path.
	maxPathBytes = 4096
	// defaultDirectory holds the mounts for which no path is given. The web UI uses
	// the same.
	defaultDirectory = "/secrets"
)

// Mount is one entry of the list: a Secret as a directory of files.
type Mount struct {
	SecretName string
	// MountPath is where the directory appears in the container.
	MountPath string
	// DefaultMode is the mode of the files; nil where none is given. 0 is a mode.
	DefaultMode *int32
}

// Mode is the mode that the files get: DefaultMode, or 0644 where none is given.
func (m Mount) Mode() int32 {
	if m.DefaultMode == nil {
		return DefaultMode
	}
	return *m.DefaultMode
}

// FormatMode writes a mode as chmod takes it, such as 0644.
func FormatMode(mode int32) string { return fmt.Sprintf("%#04o", mode) }

// Parse reads SECRET[=PATH[:MODE]], the form in which a mount is given on a command
// line. Without a path it is /secrets/SECRET. Without a mode DefaultMode stays nil.
func Parse(arg string) (Mount, error) {
	name, rest, hasPath := strings.Cut(arg, "=")
	if err := checkSecretName(arg, name, hasPath); err != nil {
		return Mount{}, err
	}
	if !hasPath {
		return Mount{SecretName: name, MountPath: path.Join(defaultDirectory, name)}, nil
	}
	if windowsPath.MatchString(rest) {
		return Mount{}, fmt.Errorf("%q: %w", arg, errWindowsPath)
	}
	p, mode, hasMode := strings.Cut(rest, ":")
	if strings.Contains(mode, ":") {
		return Mount{}, fmt.Errorf("%q: a mount path cannot contain a colon; the one colon goes before the mode, as in %s=/secrets/%s:0400", arg, name, name)
	}
	m := Mount{SecretName: name}
	var err error
	if m.MountPath, err = ParsePath(p); err != nil {
		return Mount{}, fmt.Errorf("%q: %w", arg, err)
	}
	if hasMode {
		v, err := ParseMode(mode)
		if err != nil {
			return Mount{}, fmt.Errorf("%q: %w", arg, err)
		}
		m.DefaultMode = &v
	}
	return m, nil
}

// CheckSecretName reports whether a Secret can have this name.
func CheckSecretName(name string) error { return checkSecretName(name, name, false) }

func checkSecretName(arg, name string, hasPath bool) error {
	problems := validation.IsDNS1123Subdomain(name)
	switch {
	case len(problems) == 0:
		return nil
	case name == "" && hasPath:
		return fmt.Errorf("%q has no name before the '='; write SECRET=PATH, such as minio-creds=/secrets/minio-creds", arg)
	case name == "":
		return errors.New("the name of a Secret is empty")
	case strings.HasPrefix(name, "/"):
		return fmt.Errorf("%q is a path, not the name of a Secret; write SECRET=PATH, such as %q", arg, "minio-creds="+name)
	case strings.Contains(name, ":") && !hasPath:
		secret, mode, _ := strings.Cut(name, ":")
		return fmt.Errorf("%q is not the name of a Secret; a mode comes after a path, as in %q, or use --default-mode",
			arg, secret+"="+path.Join(defaultDirectory, secret)+":"+mode)
	case len(name) > validation.DNS1123SubdomainMaxLength:
		return fmt.Errorf("%q is not the name of a Secret: it is longer than %d characters", arg, validation.DNS1123SubdomainMaxLength)
	}
	meant := strings.ReplaceAll(strings.ToLower(name), "_", "-")
	if kind, rest, ok := strings.Cut(meant, "/"); ok && (kind == "secret" || kind == "secrets") {
		meant = rest
	}
	if len(validation.IsDNS1123Subdomain(meant)) == 0 {
		return fmt.Errorf("%q is not the name of a Secret; did you mean %q?", name, meant)
	}
	return fmt.Errorf("%q is not the name of a Secret: names are made of lower-case letters, digits, '-' and '.', "+
		"and begin and end with a letter or digit", name)
}

// windowsPath recognises a path that a shell on Windows has rewritten.
var (
	windowsPath    = regexp.MustCompile(`^[A-Za-z]:[/\\]`)
	errWindowsPath = errors.New("the mount path is one inside the container, such as /secrets/minio-creds, not one of Windows " +
		"(Git Bash rewrites paths; MSYS_NO_PATHCONV=1 stops it)")
)

// ParsePath checks a mount path and cleans it as path.Clean does, so that /a/ and
// /a become the same path: the server and the controller compare paths as text.
func ParsePath(s string) (string, error) {
	switch {
	case s == "":
		return "", errors.New("the mount path is empty; give an absolute path such as /secrets/minio-creds")
	case windowsPath.MatchString(s):
		return "", errWindowsPath
	case s == "~", strings.HasPrefix(s, "~/"):
		return "", fmt.Errorf("mount path %q is not absolute, and '~' means nothing there; write out the home directory of the container, as in %q",
			s, path.Join("/home/jovyan", s[1:]))
	case !strings.HasPrefix(s, "/"):
		return "", fmt.Errorf("mount path %q is not absolute; did you mean %q?", s, path.Clean("/"+s))
	case strings.Contains(s, ":"):
		return "", fmt.Errorf("mount path %q contains a colon, which Kubernetes does not allow", s)
	case !utf8.ValidString(s) || strings.ContainsFunc(s, unicode.IsControl):
		return "", fmt.Errorf("mount path %q contains control characters or is not UTF-8", s)
	}
	clean := path.Clean(s)
	switch {
	case clean == "/":
		return "", fmt.Errorf("mount path %q is the root of the container; give a directory such as /secrets/minio-creds", s)
	case len(clean) > maxPathBytes:
		return "", fmt.Errorf("the mount path has %d bytes, and %d are allowed", len(clean), maxPathBytes)
	}
	return clean, nil
}

// ParseMode reads an octal mode as chmod takes it, with or without a leading 0 or
// 0o: 0 to 0777.
//
// The API holds modes in decimal, so people who have seen "defaultMode: 420" type
// that. Such numbers are refused with the mode that they stand for, also where they
// happen to be octal as well: 420 would be r---w----, which nobody means. Whoever
// does can write 0420.
func ParseMode(s string) (int32, error) {
	digits := s
	explicit := false
	switch {
	case strings.HasPrefix(s, "0o"), strings.HasPrefix(s, "0O"):
		digits, explicit = s[2:], true
	case len(s) > 1 && strings.HasPrefix(s, "0"):
		explicit = true
	}
	if digits == "" || strings.Trim(digits, "0123456789") != "" {
		return 0, fmt.Errorf("mode %q is not an octal number; write it as chmod does, such as 0644 or 0400", s)
	}
	if !explicit {
		if decimal, err := strconv.Atoi(digits); err == nil {
			if meant, ok := decimalModes[decimal]; ok {
				literally := ""
				if strings.Trim(digits, "01234567") == "" {
					literally = fmt.Sprintf(" To get what chmod %s does, write 0%s.", digits, digits)
				}
				return 0, fmt.Errorf("mode %s is the decimal form of %s; modes are octal here: did you mean %s?%s",
					s, FormatMode(meant), FormatMode(meant), literally)
			}
		}
	}
	v, err := strconv.ParseUint(digits, 8, 32)
	switch {
	case errors.Is(err, strconv.ErrSyntax):
		return 0, fmt.Errorf("mode %q is not octal: its digits go from 0 to 7, as in 0644", s)
	case err != nil || v > maxMode:
		return 0, fmt.Errorf("mode %s is out of range: 0 to 0777, as the files of a Secret have no set-uid, set-gid and sticky bits", s)
	}
	return int32(v), nil
}

// decimalModes maps the decimal form of modes that make sense for files to them. 0764
// is not among them: its decimal form 500 is a sensible octal mode itself.
var decimalModes = func() map[int]int32 {
	m := map[int]int32{}
	for _, mode := range []int32{
		0o400, 0o440, 0o444, 0o500, 0o550, 0o555, 0o600, 0o640, 0o644, 0o660, 0o664, 0o666,
		0o700, 0o711, 0o740, 0o744, 0o750, 0o751, 0o755, 0o760, 0o770, 0o774, 0o775, 0o777,
	} {
		m[int(mode)] = mode
	}
	return m
}()
