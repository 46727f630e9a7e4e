package lean

import (
	"errors"
	"net"
	"os"
	"syscall"
	"testing"
	"time"
)

// A socket keeps to the deadline that was set last.
func TestDeadlineOfSocket(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	addr := &syscall.SockaddrInet4{Port: listener.Addr().(*net.TCPAddr).Port, Addr: [4]byte{127, 0, 0, 1}}
	s, err := connect(syscall.AF_INET, addr, time.Now().Add(time.Minute))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, set := range []struct {
		deadline time.Time
		want     error
	}{{time.Unix(1, 0), os.ErrDeadlineExceeded}, {time.Time{}, nil}, {time.Now().Add(time.Hour), nil}} {
		if err := s.SetDeadline(set.deadline); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Write([]byte("a")); !errors.Is(err, set.want) {
			t.Errorf("with the deadline %v writing ends with %v", set.deadline, err)
		}
	}
}
