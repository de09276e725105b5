// Package flock is a lock between processes: an advisory lock on a file, which
// the kernel releases when its holder dies, in whatever way.
package flock

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// ErrLocked says that another process holds the lock.
var ErrLocked = errors.New("locked by another process")

// Lock is a lock that is held.
type Lock struct{ file *os.File }

// Try takes the lock, or fails with ErrLocked at once.
func Try(path string) (*Lock, error) { return take(path, syscall.LOCK_EX|syscall.LOCK_NB) }

// Wait takes the lock as soon as it is free.
func Wait(path string) (*Lock, error) { return take(path, syscall.LOCK_EX) }

// Held reports whether any process holds the lock. It does not create the file.
func Held(path string) bool {
	if _, err := os.Stat(path); err != nil {
		return false
	}
	lock, err := Try(path)
	if err == nil {
		lock.Release()
	}
	return errors.Is(err, ErrLocked)
}

// Release frees the lock. The file stays.
func (l *Lock) Release() { l.file.Close() }

func take(path string, how int) (*Lock, error) {
	for {
		file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
		if err != nil {
			return nil, fmt.Errorf("lock: %w", err)
		}
		for {
			if err = syscall.Flock(int(file.Fd()), how); err != syscall.EINTR {
				break
			}
		}
		if err != nil {
			file.Close()
			if err == syscall.EWOULDBLOCK {
				return nil, ErrLocked
			}
			return nil, fmt.Errorf("lock %s: %w", path, err)
		}
		// The holder before us may have removed the file: a lock on a file that
		// nobody can open any more excludes nobody.
		mine, err1 := file.Stat()
		now, err2 := os.Stat(path)
		if err1 == nil && err2 == nil && os.SameFile(mine, now) {
			return &Lock{file}, nil
		}
		file.Close()
	}
}
