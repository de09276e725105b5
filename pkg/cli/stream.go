package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"syscall"
)

// outStream is stdout. It remembers the first error, so that an answer of which a part
// is lost never looks like success, whatever wrote it and whether it looked at the error.
type outStream struct {
	to  io.Writer
	err error
}

// Write implements io.Writer.
func (s *outStream) Write(p []byte) (int, error) {
	if s.err != nil {
		return 0, s.err
	}
	n, err := s.to.Write(p)
	s.err = err
	return n, err
}

// Fd is the file descriptor, by which a terminal is recognised; none if it has none.
func (s *outStream) Fd() uintptr {
	if f, ok := s.to.(interface{ Fd() uintptr }); ok {
		return f.Fd()
	}
	return ^uintptr(0)
}

// failure is what keeps the answer from being complete, if anything. A reader that has
// gone, such as head, is no news to anyone: exitError without a message.
func (s *outStream) failure() error {
	var path *fs.PathError
	switch {
	case s.err == nil:
		return nil
	case errors.Is(s.err, syscall.EPIPE):
		return &exitError{code: exitFailed}
	case errors.As(s.err, &path):
		return fmt.Errorf("cannot write the output: %w", path.Err)
	}
	return fmt.Errorf("cannot write the output: %w", s.err)
}
