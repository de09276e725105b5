// Command kubectl-workspace is a kubectl plugin for Kubeflow Notebooks Workspaces.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/go-logr/logr"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	// Credential plugins of the kubeconfig: exec, oidc and the like.
	_ "k8s.io/client-go/plugin/pkg/client/auth"
	"k8s.io/klog/v2"

	"github.com/kubectl-workspace/kubectl-workspace/pkg/cli"
)

// Stamped by the linker in releases.
var version, commit, date string

func main() {
	os.Exit(run())
}

func run() int {
	// What client-go logs is for its developers; its errors are returned.
	klog.SetLogger(logr.Discard())
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	// The first signal asks the command to end; another one ends the program.
	context.AfterFunc(ctx, stop)
	streams := genericiooptions.IOStreams{In: os.Stdin, Out: os.Stdout, ErrOut: os.Stderr}
	build := cli.NewBuild(version, commit, date)
	build.Program = cli.Program(os.Args[0])
	return cli.Run(ctx, os.Args[1:], streams, build)
}
