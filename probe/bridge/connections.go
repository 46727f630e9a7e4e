package bridge

import (
	"sync"

	"github.com/grpc-cnb/health-probe/probe/check"
	"github.com/grpc-cnb/health-probe/probe/check/options"
	"github.com/grpc-cnb/health-probe/probe/lean"
)

// maxServers is how many servers a connection is kept to. A container that has more, one after the other, has them on
// ports that change.
const maxServers = 16

// connections is a [check.Transport] that keeps a connection to each server: a bridge that finds servers by itself may
// ask several, and may find them somewhere else later. The zero value is ready for use.
type connections struct {
	mu   sync.Mutex
	kept map[string]*lean.Kept // by address and transport
}

// Dial implements [check.Transport].
func (c *connections) Dial(o *options.Options) (check.Conn, error) { return c.to(o).Dial(o) }

func (c *connections) to(o *options.Options) *lean.Kept {
	key := o.Addr
	if o.TLS {
		key += " with TLS"
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.kept[key] == nil {
		if len(c.kept) >= maxServers {
			c.closeAll()
		}
		if c.kept == nil {
			c.kept = map[string]*lean.Kept{}
		}
		c.kept[key] = new(lean.Kept)
	}
	return c.kept[key]
}

// close closes all connections as soon as no attempt uses them.
func (c *connections) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closeAll()
}

// closeAll is close for a caller who has locked c.
func (c *connections) closeAll() {
	for _, kept := range c.kept {
		kept.Close()
	}
	c.kept = nil
}
