package check

import (
	"slices"
	"sync"
	"time"

	"github.com/grpc-cnb/health-probe/probe/sockets"
)

// Memory keeps the findings of searches for a program with repeated searches: the servers, and the names of all
// sockets. A search asks the kept servers until a server has gone, or the container's sockets have changed: a server
// with a later start may matter more. The zero value is ready for use.
type Memory struct {
	mu      sync.Mutex
	servers []*server
	listed  []string
	at      time.Time // of the list
}

// listPeriod is the shortest time between two lists of the sockets. A list of 2,000 sockets takes ten times the CPU
// time of a question, and a bridge may be asked a hundred questions a second.
const listPeriod = time.Second

func (m *Memory) remember(servers []*server, listed []string, at time.Time) {
	if m != nil {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.servers, m.listed, m.at = servers, listed, at
	}
}

// recall returns the servers, or none if the container's sockets have changed.
func (m *Memory) recall() []*server {
	if m == nil {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.servers) > 0 && time.Since(m.at) >= listPeriod {
		m.at = time.Now()
		if found, _ := sockets.Own(); !slices.Equal(names(found), m.listed) {
			m.servers = nil
		}
	}
	return m.servers
}

// names returns the names of sockets in order.
func names(found []sockets.Socket) (all []string) {
	for _, s := range found {
		all = append(all, s.Addr)
	}
	slices.Sort(all)
	return all
}
