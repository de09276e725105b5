package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-workspace/kubectl-workspace/pkg/render"
)

// Exit codes. Commands with --exit-code add their own meaning for 1 and then use 2
// for failures, as kubectl diff does.
const (
	exitOK          = 0
	exitFailed      = 1
	exitUsage       = 2
	exitInterrupted = 130 // 128 + SIGINT, what a shell reports for an interrupted command
)

// exitError ends the program with a code. A nil err prints nothing: the output
// already says it all.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit code %d", e.code)
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

// Run executes one command line (without the program's name) and returns the exit
// code. Errors are printed to streams.ErrOut, once, as "error: …".
func Run(ctx context.Context, args []string, streams genericiooptions.IOStreams, build Build) int {
	out := &outStream{to: streams.Out}
	streams.Out = out
	root := NewCommand(streams, build)
	root.SetArgs(args)
	cmd, err := root.ExecuteContextC(ctx)
	if lost := out.failure(); lost != nil {
		err = lost
	}
	err = withExitCode(cmd, err)
	var exit *exitError
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &exit) && exit.err == nil:
		return exit.code
	case ctx.Err() != nil:
		fmt.Fprintln(streams.ErrOut, "interrupted")
		return exitInterrupted
	}
	code := exitFailed
	if exit != nil {
		code, err = exit.code, exit.err
	}
	for _, e := range joined(err) {
		fmt.Fprintf(streams.ErrOut, "error: %s\n", render.Safe(build.asCalled(strings.TrimSpace(e.Error()))))
	}
	return code
}

// joined takes apart what errors.Join has joined.
func joined(err error) []error {
	if j, ok := err.(interface{ Unwrap() []error }); ok {
		var all []error
		for _, e := range j.Unwrap() {
			all = append(all, joined(e)...)
		}
		return all
	}
	return []error{err}
}

// withExitCode gives an error the exit code that tells it from an answer, where the
// user has asked for that with --exit-code.
func withExitCode(cmd *cobra.Command, err error) error {
	var exit *exitError
	if f := cmd.Flags().Lookup("exit-code"); err == nil || f == nil || f.Value.String() != "true" || errors.As(err, &exit) {
		return err
	}
	return &exitError{exitUsage, err}
}
