package lean

import (
	"errors"
	"io"
	"syscall"
	"testing"
)

// once fails as a socket does: with the cause once, and then with the end of the stream.
type once struct{ err error }

func (o *once) Read([]byte) (int, error) {
	err := o.err
	o.err = io.EOF
	return 0, err
}

// A peer that does not answer keepalive any more ends the connection with ETIMEDOUT.
func TestFrameReaderKeepsTheCause(t *testing.T) {
	t.Parallel()
	_, err := newFrameReader(&once{syscall.ETIMEDOUT}).next()
	if !errors.Is(err, syscall.ETIMEDOUT) || reason(err) != "connection timed out" {
		t.Errorf("error is %v, want %v", err, syscall.ETIMEDOUT)
	}
}
