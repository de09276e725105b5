package cluster

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// apply is `kubectl apply`; the server validates well enough, so kubectl need
// not fetch all schemas to do it too.
var apply = []string{"apply", "--server-side", "--force-conflicts", "--validate=false"}

// kubectl runs the kubectl that was built, as admin, apart from all settings
// that the user may have.
func kubectl(ctx context.Context, info *Info, stdin []byte, args ...string) error {
	cmd := exec.CommandContext(ctx, filepath.Join(info.BinDir, "kubectl"), append(args, "--cache-dir", filepath.Join(info.Dir, "kubectl-cache"))...)
	cmd.Env = append(os.Environ(), "KUBECONFIG="+info.Kubeconfigs["admin"], "KUBERC=off", "HTTPS_PROXY=", "https_proxy=")
	cmd.Stdin = bytes.NewReader(stdin)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("kubectl %s: %w: %s", strings.Join(args, " "), err, bytes.TrimSpace(out))
	}
	return nil
}

// ApplyCRDs applies the CRDs of a folder and waits until they are served.
func ApplyCRDs(ctx context.Context, info *Info, dir string) error {
	files, err := crdFiles(dir)
	if err != nil {
		return err
	}
	if err := kubectl(ctx, info, nil, append(slices.Clone(apply), files...)...); err != nil {
		return err
	}
	return kubectl(ctx, info, nil, append([]string{"wait", "--for=condition=Established", "--timeout=60s"}, files...)...)
}

// crdFiles lists the YAML files of a folder as -f arguments. A kustomization
// may lie beside CRDs; it is not for kubectl apply.
func crdFiles(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("read the CRDs: %w", err)
	}
	var args []string
	for _, entry := range entries {
		name := entry.Name()
		if ext := filepath.Ext(name); (ext == ".yaml" || ext == ".yml") && !strings.HasPrefix(name, "kustomiz") {
			args = append(args, "-f", filepath.Join(dir, name))
		}
	}
	if args == nil {
		return nil, errors.New("no CRDs: there is no .yaml file in " + dir)
	}
	return args, nil
}
