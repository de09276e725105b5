package cli

import (
	"bytes"
	"io/fs"
	"strings"
	"syscall"
	"testing"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"
)

// fullDisk takes some bytes and then no more.
type fullDisk struct {
	room int
	err  error
}

func (d *fullDisk) Write(p []byte) (int, error) {
	if len(p) <= d.room {
		d.room -= len(p)
		return len(p), nil
	}
	n := d.room
	d.room = 0
	return n, &fs.PathError{Op: "write", Path: "/dev/stdout", Err: d.err}
}

// No command takes an answer for given of which a part was lost.
func TestLostOutput(t *testing.T) {
	const snapshot = " --snapshot ../../testdata/demo"
	lines := []string{
		"describe alice-notebook" + snapshot, "describe -o json" + snapshot, "describe -o yaml" + snapshot,
		"list" + snapshot, "list -o name" + snapshot, "list -o json" + snapshot, "list -o yaml" + snapshot,
		"secrets list" + snapshot, "secrets list -o name" + snapshot, "secrets list -o json" + snapshot, "secrets list -o yaml" + snapshot,
		"secrets list -o custom-columns=S:.secretName" + snapshot, "secrets list -o jsonpath={.items}" + snapshot,
		"secrets add alice-notebook another --dry-run=client" + snapshot, "secrets add alice-notebook another --dry-run=client --diff" + snapshot,
		"secrets add alice-notebook another --dry-run=client -o yaml" + snapshot,
		"secrets add -f testdata/secrets/manifests/alice.yaml --local another",
		"secrets remove alice-notebook minio-creds --dry-run=client" + snapshot,
		"reconcile --once --dry-run=client" + snapshot, "reconcile --once --dry-run=client -o json" + snapshot,
		"snapshot alice-notebook" + snapshot,
		"version", "version -o json", "version -o yaml", "options", "completion bash", "completion zsh", "completion install --dir DIR",
		"--help", "secrets", "describe --help",
	}
	for _, line := range lines {
		t.Run(line, func(t *testing.T) {
			run := func(out *fullDisk) (int, string) {
				var errOut bytes.Buffer
				args := strings.Fields(strings.ReplaceAll(line, "DIR", t.TempDir()))
				code := Run(t.Context(), append(args, "-q"), genericiooptions.IOStreams{In: strings.NewReader(""), Out: out, ErrOut: &errOut}, Build{Version: "v0"})
				return code, errOut.String()
			}
			for _, room := range []int{0, 2} {
				if code, errOut := run(&fullDisk{room, syscall.ENOSPC}); code != 1 || errOut != "error: cannot write the output: no space left on device\n" {
					t.Errorf("room for %d: exit code %d, stderr %q", room, code, errOut)
				}
			}
			if code, errOut := run(&fullDisk{0, syscall.EPIPE}); code != 1 || errOut != "" {
				t.Errorf("a reader that has gone: exit code %d, stderr %q", code, errOut)
			}
		})
	}
	t.Run("with --exit-code a failure is not an answer", func(t *testing.T) {
		var errOut bytes.Buffer
		code := Run(t.Context(), strings.Fields("describe --exit-code"+snapshot),
			genericiooptions.IOStreams{In: strings.NewReader(""), Out: &fullDisk{0, syscall.ENOSPC}, ErrOut: &errOut}, Build{})
		if code != 2 || !strings.HasPrefix(errOut.String(), "error: cannot write") {
			t.Errorf("exit code %d, stderr %q", code, errOut.String())
		}
	})
	t.Run("every command is in the table", func(t *testing.T) {
		var visit func(*cobra.Command)
		visit = func(cmd *cobra.Command) {
			path := strings.TrimPrefix(cmd.CommandPath(), Build{}.call()+" ")
			covered := path == "wait" // needs a cluster, and prints one line as others do
			for _, line := range lines {
				covered = covered || strings.HasPrefix(line+" ", path+" ")
			}
			if !covered && cmd.Runnable() && cmd.HasParent() {
				t.Errorf("%q is missing", path)
			}
			for _, c := range cmd.Commands() {
				visit(c)
			}
		}
		visit(NewCommand(genericiooptions.NewTestIOStreamsDiscard(), Build{}))
	})
}
