package bridge

import (
	"io"
	"net"
	"sync"
	"testing"
)

// front passes connections on to a server, and can cut them all.
type front struct {
	addr string
	mu   sync.Mutex
	open []net.Conn
	all  int
}

func newFront(t *testing.T, server string) *front {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	f := &front{addr: listener.Addr().String()}
	go func() {
		for {
			near, err := listener.Accept()
			if err != nil {
				return
			}
			far, err := net.Dial("tcp", server)
			if err != nil {
				_ = near.Close()
				continue
			}
			f.mu.Lock()
			f.open = append(f.open, near, far)
			f.all++
			f.mu.Unlock()
			pass := func(to, from net.Conn) {
				_, _ = io.Copy(to, from)
				_, _ = to.Close(), from.Close()
			}
			go pass(near, far)
			go pass(far, near)
		}
	}()
	return f
}

// cut closes all connections.
func (f *front) cut() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, conn := range f.open {
		_ = conn.Close()
	}
	f.open = nil
}

// made returns how many connections there were.
func (f *front) made() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.all
}
