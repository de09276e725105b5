package flock

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestLockExcludes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	if Held(path) {
		t.Fatal("a lock that nobody took is held")
	}
	first, err := Try(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Try(path); !errors.Is(err, ErrLocked) {
		t.Fatalf("second Try: got %v, want ErrLocked", err)
	}
	if !Held(path) {
		t.Fatal("a lock that is taken is not held")
	}
	first.Release()
	second, err := Try(path)
	if err != nil {
		t.Fatalf("Try after Release: %v", err)
	}
	second.Release()
}

// A waiter that got hold of a removed lock file must not believe it holds the lock.
func TestLockSurvivesRemoval(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	first, err := Try(path)
	if err != nil {
		t.Fatal(err)
	}
	got := make(chan *Lock)
	go func() {
		lock, err := Wait(path)
		if err != nil {
			t.Error(err)
		}
		got <- lock
	}()
	select {
	case <-got:
		t.Fatal("Wait returned while the lock was held")
	case <-time.After(50 * time.Millisecond):
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	first.Release()
	lock := <-got
	defer lock.Release()
	if _, err := Try(path); !errors.Is(err, ErrLocked) {
		t.Fatalf("Try beside the waiter: got %v, want ErrLocked", err)
	}
}
