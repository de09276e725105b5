package cli

import (
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-workspace/kubectl-workspace/pkg/cluster"
	"github.com/kubectl-workspace/kubectl-workspace/pkg/render"
)

// factory gives the commands what they share: the streams, the flags of every
// command, and the way to the cluster that these flags choose.
type factory struct {
	genericiooptions.IOStreams
	build  Build
	config *genericclioptions.ConfigFlags

	snapshots []string
	now       string
	color     choice
	quiet     bool
}

func newFactory(streams genericiooptions.IOStreams, build Build) *factory {
	return &factory{
		IOStreams: streams,
		build:     build,
		config:    genericclioptions.NewConfigFlags(true),
		color:     newChoice(render.ColorAuto, render.ColorAlways, render.ColorNever),
	}
}

func (f *factory) addGlobalFlags(flags *pflag.FlagSet) {
	f.config.AddFlags(flags)
	flags.StringArrayVar(&f.snapshots, "snapshot", nil,
		"Read this file or directory of manifests instead of a cluster ('-' is stdin); may be given several times. Nothing is contacted.")
	flags.StringVar(&f.now, "now", "", "With --snapshot: the time that ages are relative to (RFC 3339), instead of the time of capture.")
	flags.Var(&f.color, "color", "Colour the output: "+f.color.list()+".")
	flags.BoolVarP(&f.quiet, "quiet", "q", false, "Print no notes and warnings on stderr.")
}

// session is the cluster that one command works on.
type session struct {
	cluster.Reader
	// live is nil if the cluster is a snapshot.
	live *cluster.Live
	// namespace is the one that -n or the kubeconfig chooses.
	namespace string
	build     Build
}

// open connects to what the flags choose. No request is sent yet.
func (f *factory) open() (*session, error) {
	if ns := *f.config.Namespace; ns != "" && len(validation.IsDNS1123Label(ns)) > 0 {
		return nil, fmt.Errorf("-n %q is not the name of a namespace: names are made of lower-case letters, digits and '-', "+
			"and begin and end with a letter or digit", ns)
	}
	if len(f.snapshots) > 0 {
		return f.openSnapshot()
	}
	if f.now != "" {
		return nil, fmt.Errorf("--now goes with --snapshot: a live cluster has its own clock")
	}
	live, err := cluster.NewLive(f.config, f.build.userAgent(), &serverWarnings{factory: f})
	if err != nil {
		return nil, err
	}
	namespace, _, err := f.config.ToRawKubeConfigLoader().Namespace()
	if err != nil {
		return nil, fmt.Errorf("cannot tell the namespace from the kubeconfig: %w", err)
	}
	return &session{Reader: live, live: live, namespace: namespace, build: f.build}, nil
}

func (f *factory) openSnapshot() (*session, error) {
	var now time.Time
	if f.now != "" {
		var err error
		if now, err = time.Parse(time.RFC3339, f.now); err != nil {
			return nil, fmt.Errorf("--now %q is not a time such as 2026-01-15T12:00:00Z", f.now)
		}
	}
	store, err := cluster.OpenSnapshot(f.snapshots, f.In, now)
	if err != nil {
		return nil, err
	}
	for _, skipped := range store.Skipped {
		f.note("Warning: skipped %v", skipped)
	}
	s := &session{Reader: store, namespace: *f.config.Namespace, build: f.build}
	if s.namespace == "" {
		s.namespace = store.DefaultNamespace()
	}
	return s, nil
}

// explain makes an error of a read or a write fit to end the command.
func (s *session) explain(err error) error {
	if s.live != nil {
		return s.live.Explain(err)
	}
	return err
}

// note prints a remark that is not part of the answer, unless -q.
func (f *factory) note(format string, args ...any) {
	if !f.quiet {
		fmt.Fprintln(f.ErrOut, render.Safe(f.build.asCalled(fmt.Sprintf(format, args...))))
	}
}

// serverWarnings prints the warnings that an API server sends with its answers, each once.
type serverWarnings struct {
	*factory
	told sync.Map
}

// HandleWarningHeader implements rest.WarningHandler. 299 is the code of Kubernetes' own.
func (w *serverWarnings) HandleWarningHeader(code int, _, message string) {
	if _, again := w.told.LoadOrStore(message, true); code == 299 && message != "" && !again {
		w.note("Warning: %s", message)
	}
}

// painter returns the colours for a stream.
func (f *factory) painter(out io.Writer) render.Painter {
	return render.NewPainter(f.color.value, out)
}
