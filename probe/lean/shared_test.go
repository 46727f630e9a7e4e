package lean

import (
	"io"
	"net"
	"testing"
)

// The last attempt on a connection that is given up closes it, and a frame may have been read just before.
func TestFrameAfterTheLastAttempt(t *testing.T) {
	t.Parallel()
	near, far := net.Pipe()
	go func() { _, _ = io.Copy(io.Discard, far) }() // ends when near is closed
	c := &conn{sock: polled{near}}
	s := &shared{session: newSession(c.sock), conn: c, users: 1}
	s.retire()
	s.leave()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.send() // as for that frame
	if s.ended == nil {
		t.Error("the connection has not ended")
	}
}
