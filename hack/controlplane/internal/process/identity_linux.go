package process

import (
	"fmt"
	"os"
	"strings"
	"syscall"
)

// identify reads when the process started, in clock ticks since this boot.
func identify(pid int) (string, error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return "", err
	}
	// "pid (name) state ppid …"; the name may hold spaces and parentheses.
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	if len(fields) < 20 || fields[0] == "Z" || fields[0] == "X" {
		return "", fmt.Errorf("process %d has ended", pid)
	}
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return "", err
	}
	return strings.TrimSpace(string(boot)) + "/" + fields[19], nil
}

// dieWithParent lets the kernel kill a child when its parent is gone. Strictly,
// when the parent's *thread* is gone; Go ends a thread only if a goroutine that
// was locked to it ends, and nothing here locks one.
func dieWithParent(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGKILL }
