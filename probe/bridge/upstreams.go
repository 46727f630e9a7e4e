package bridge

import (
	"sync"

	"github.com/grpc-cnb/health-probe/probe/check"
	"github.com/grpc-cnb/health-probe/probe/check/options"
	"github.com/grpc-cnb/health-probe/probe/lean"
)

// maxUpstreams is how many servers have a kept connection. A container with more servers over time has changing ports.
const maxUpstreams = 16

// upstreams is a [check.Transport] that keeps a connection to each server: a bridge that searches for servers may ask
// several, whose addresses may change. The zero value is ready for use.
type upstreams struct {
	mu    sync.Mutex
	conns map[string]*lean.Kept // by address and transport
}

// Dial implements [check.Transport].
func (u *upstreams) Dial(o *options.Options) (check.Conn, error) { return u.connTo(o).Dial(o) }

func (u *upstreams) connTo(o *options.Options) *lean.Kept {
	key := o.Addr
	if o.TLS {
		key += " with TLS"
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.conns[key] == nil {
		if len(u.conns) >= maxUpstreams {
			u.closeAll()
		}
		if u.conns == nil {
			u.conns = map[string]*lean.Kept{}
		}
		u.conns[key] = new(lean.Kept)
	}
	return u.conns[key]
}

// close closes each connection as soon as no attempt uses it.
func (u *upstreams) close() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.closeAll()
}

// closeAll is close with u locked.
func (u *upstreams) closeAll() {
	for _, kept := range u.conns {
		kept.Close()
	}
	u.conns = nil
}
