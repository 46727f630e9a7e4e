package lean

import (
	"io"
	"net"
	"testing"
	"time"
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

// A bridge asks the server over a new connection each minute, as its documentation says.
func TestConnectionIsKeptForAMinute(t *testing.T) {
	t.Parallel()
	for age, want := range map[time.Duration]bool{0: true, 50 * time.Second: true, 61 * time.Second: false} {
		s := &shared{session: &session{}, born: time.Now().Add(-age)}
		if got := s.enter(credentialFiles{}); got != want {
			t.Errorf("a connection that is %v old is used: %t, want %t", age, got, want)
		}
	}
}
