package secretmount

import (
	"path"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	tests := map[string]struct {
		arg  string
		want string // secret, path and mode
		err  string // part of the message
	}{
		"name only":               {arg: "minio-creds", want: "minio-creds /secrets/minio-creds none"},
		"dotted name":             {arg: "a.b-c", want: "a.b-c /secrets/a.b-c none"},
		"path":                    {arg: "a=/x", want: "a /x none"},
		"path is cleaned":         {arg: "a=/x//y/../z/", want: "a /x/z none"},
		"two slashes":             {arg: "a=//x", want: "a /x none"},
		"equals sign in path":     {arg: "a=/x=y", want: "a /x=y none"},
		"mode":                    {arg: "a=/x:0400", want: "a /x 0400"},
		"mode 0":                  {arg: "a=/x:0", want: "a /x 0000"},
		"no name":                 {arg: "=/x", err: `has no name before the '='`},
		"nothing":                 {arg: "", err: "the name of a Secret is empty"},
		"capitals":                {arg: "Minio", err: `"Minio" is not the name of a Secret`},
		"path for a name":         {arg: "/x", err: "is a path, not the name of a Secret"},
		"resource and name":       {arg: "secret/a", err: `"secret/a" is not the name of a Secret`},
		"long name":               {arg: strings.Repeat("a", 254), err: "longer than 253"},
		"mode without path":       {arg: "a:0400", err: "as in \"a=/secrets/a:0400\""},
		"empty path":              {arg: "a=", err: "the mount path is empty"},
		"empty path, mode":        {arg: "a=:0400", err: "the mount path is empty"},
		"relative path":           {arg: "a=x/y", err: `did you mean "/x/y"?`},
		"root":                    {arg: "a=/", err: "is the root of the container"},
		"root in disguise":        {arg: "a=/x/..", err: "is the root of the container"},
		"long path":               {arg: "a=/" + strings.Repeat("x", 4096), err: "4097 bytes"},
		"longest path":            {arg: "a=/" + strings.Repeat("x", 4095), want: "a /" + strings.Repeat("x", 4095) + " none"},
		"colon in path":           {arg: "a=/x:y:0400", err: "cannot contain a colon"},
		"newline in path":         {arg: "a=/x\ny", err: "control characters"},
		"not UTF-8":               {arg: "a=/x\xff", err: "not UTF-8"},
		"path of Windows":         {arg: `a=C:\creds`, err: "inside the container"},
		"path made by Git Bash":   {arg: "a=C:/Program Files/Git/creds", err: "MSYS_NO_PATHCONV"},
		"empty mode":              {arg: "a=/x:", err: `mode "" is not an octal number`},
		"decimal mode":            {arg: "a=/x:420", err: "did you mean 0644?"},
		"mode with a wrong digit": {arg: "a=/x:0888", err: "digits go from 0 to 7"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			m, err := Parse(tc.arg)
			if tc.err != "" {
				if err == nil || !strings.Contains(err.Error(), tc.err) {
					t.Fatalf("error %v, want one that says %q", err, tc.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			mode := "none"
			if m.DefaultMode != nil {
				mode = FormatMode(*m.DefaultMode)
			}
			if got := m.SecretName + " " + m.MountPath + " " + mode; got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

func TestParseMode(t *testing.T) {
	for in, want := range map[string]int32{
		"644": 0o644, "0644": 0o644, "0o644": 0o644, "0O644": 0o644, "0": 0, "000": 0, "7": 7, "777": 0o777, "0777": 0o777,
		"400": 0o400, "0420": 0o420, "0o420": 0o420, "500": 0o500, "0511": 0o511, "00644": 0o644,
	} {
		if got, err := ParseMode(in); err != nil || got != want {
			t.Errorf("ParseMode(%q) = %#o, %v; want %#o", in, got, err, want)
		}
	}
	for in, want := range map[string]string{
		"420": "To get what chmod 420 does, write 0420", "511": "did you mean 0777?", "256": "did you mean 0400?", "384": "did you mean 0600?",
		"493": "did you mean 0755?", "0888": "0 to 7", "899": "0 to 7", "1000": "out of range", "1777": "out of range", "4755": "out of range",
		"77777777777777777777": "out of range", "-1": "not an octal number", "+644": "not an octal number", "u+r": "not an octal number",
		"0x1ff": "not an octal number", "0b1": "not an octal number", "6_44": "not an octal number", " 644": "not an octal number",
		"": "not an octal number", "0o": "not an octal number", "rw-r--r--": "not an octal number", "٦٤٤": "not an octal number",
	} {
		if _, err := ParseMode(in); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("ParseMode(%q): error %v, want one that says %q", in, err, want)
		}
	}
}

func TestFormatModeIsReadBack(t *testing.T) {
	for mode := range int32(maxMode + 1) {
		if got, err := ParseMode(FormatMode(mode)); err != nil || got != mode {
			t.Fatalf("mode %#o is written %s and read %#o, %v", mode, FormatMode(mode), got, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{"a", "a=/x", "a=/x:0400", "=", "/\n", "\n:7", "a=//:0o7", "a=/x/../..", "a:7", "a=C:\\x", "a=/\u202e:0"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, arg string) {
		m, err := Parse(arg)
		if err != nil {
			if strings.TrimSpace(err.Error()) == "" || strings.Contains(err.Error(), "\n") {
				t.Errorf("the message is not one line: %q", err)
			}
			return
		}
		if m.MountPath != path.Clean(m.MountPath) || len(m.MountPath) < 2 || len(m.MountPath) > maxPathBytes || m.MountPath[0] != '/' || m.MountPath[1] == '/' {
			t.Errorf("path %q", m.MountPath)
		}
		if mode := m.Mode(); mode < 0 || mode > maxMode {
			t.Errorf("mode %#o", mode)
		}
		again, err := Parse(m.SecretName + "=" + m.MountPath + ":" + FormatMode(m.Mode()))
		if err != nil || again.SecretName != m.SecretName || again.MountPath != m.MountPath || again.Mode() != m.Mode() {
			t.Errorf("%q is read as %+v, and that as %+v, %v", arg, m, again, err)
		}
	})
}
