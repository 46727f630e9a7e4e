package bridge

import (
	"fmt"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/grpc-cnb/health-probe/probe/bridge/linelog"
	"github.com/grpc-cnb/health-probe/probe/http2"
)

// server is what all connections share.
type server struct {
	bridge    target
	questions *questions
	log       *linelog.Log
	metrics   *metrics
	// listed are the services that List has: those that the bridge itself names, and those that the flags name.
	listed                []string
	watches, lists, large limit // calls of Watch and List, and large pages
	stopping              atomic.Bool

	decoding sync.Mutex
	scratch  [maxHead]byte // of the connection that decodes a header block

	mu   sync.Mutex
	away []netip.Addr // callers who were turned away, and of whom the log has a line
}

func newServer(b target, q *questions, log *linelog.Log) *server {
	s := &server{
		bridge: b, questions: q, log: log, metrics: &q.metrics, watches: make(limit, maxWatches),
		lists: make(limit, maxLists), large: make(limit, largePages),
	}
	for _, service := range append([]string{"", "ready", "live"}, b.services()...) {
		if !slices.Contains(s.listed, service) {
			s.listed = append(s.listed, service)
		}
	}
	return s
}

// limit has a slot for each use of something at the same time.
type limit chan struct{}

// take takes a slot, if one is free.
func (l limit) take() bool {
	select {
	case l <- struct{}{}:
		return true
	default:
		return false
	}
}

// free gives a slot back.
func (l limit) free() { <-l }

// decode decodes a header block.
func (s *server) decode(d *http2.Decoder, block []byte, take func(name, value []byte) error) error {
	s.decoding.Lock()
	defer s.decoding.Unlock()
	return d.Decode(block, s.scratch[:0], take)
}

// maxTurnedAway is how many callers the log names who were turned away.
const maxTurnedAway = 8

// turnedAway logs that -allow does not name a caller: if it is the kubelet, its probes fail because of this.
func (s *server) turnedAway(from netip.Addr) {
	s.metrics.notAllowed.Add(1)
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.away) < maxTurnedAway && !slices.Contains(s.away, from) {
		s.away = append(s.away, from)
		s.log.Print(fmt.Sprintf("turned away %v: -allow does not name it", from))
	}
}
