//go:build !linux

package process

import (
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
)

// identify asks ps when the process started, and what it runs.
func identify(pid int) (string, error) {
	out, err := exec.Command("ps", "-o", "lstart=,comm=", "-p", strconv.Itoa(pid)).Output()
	if err != nil {
		return "", fmt.Errorf("process %d has ended", pid)
	}
	return strings.TrimSpace(string(out)), nil
}

// dieWithParent exists only on Linux; elsewhere the next start finds and ends
// what a killed launcher left.
func dieWithParent(*syscall.SysProcAttr) {}
