package process

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestIdentity(t *testing.T) {
	me, err := Identify(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	if !me.Alive() {
		t.Error("this process is not alive")
	}
	other := ID{PID: me.PID, Start: me.Start + "0"}
	if other.Alive() {
		t.Error("another process with the same number passes for this one")
	}
	other.Stop(time.Millisecond) // must not end this test
	ID{}.Stop(time.Millisecond)  // nor its process group, which is what pid 0 means
}

func TestStop(t *testing.T) {
	cases := map[string]string{
		"obedient":  "sleep 60",
		"obstinate": "trap '' TERM; while :; do sleep 0.1; done",
	}
	for name, script := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			child, err := Start("sh", filepath.Join(t.TempDir(), "log"), "", "/bin/sh", "-c", script)
			if err != nil {
				t.Fatal(err)
			}
			if !child.Alive() {
				t.Fatal("not alive after its start")
			}
			time.Sleep(100 * time.Millisecond) // let the shell set its trap
			child.Stop(300 * time.Millisecond)
			if child.Alive() {
				t.Error("alive after Stop")
			}
			<-child.Done()
		})
	}
}

func TestErrQuotesTheLog(t *testing.T) {
	child, err := Start("etcd", filepath.Join(t.TempDir(), "log"), "", "/bin/sh", "-c", "echo starting; echo error: no disk; echo bye; exit 3")
	if err != nil {
		t.Fatal(err)
	}
	got := child.Err().Error()
	for _, want := range []string{"etcd", "exit status 3", "error: no disk"} {
		if !strings.Contains(got, want) {
			t.Errorf("got %q, want %q in it", got, want)
		}
	}
	if !child.Logged("starting") || child.Logged("stopping") {
		t.Error("Logged is wrong")
	}
}
