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

// shared is what all connections share.
type shared struct {
	target    target
	scheduler *scheduler
	log       *linelog.Log
	metrics   *metrics
	// listed are the services of an answer to List: the bridge's own, and those that the flags name.
	listed                     []string
	watches, lists, largePages semaphore
	stopping                   atomic.Bool

	decoding sync.Mutex
	scratch  [maxHead]byte // for the header block that is decoded

	mu       sync.Mutex
	rejected []netip.Addr // callers that the log names
}

func newShared(target target, scheduler *scheduler, log *linelog.Log) *shared {
	s := &shared{
		target: target, scheduler: scheduler, log: log, metrics: &scheduler.metrics,
		watches: make(semaphore, maxWatches), lists: make(semaphore, maxLists),
		largePages: make(semaphore, maxLargePages),
	}
	for _, service := range append([]string{"", "ready", "live"}, target.services()...) {
		if !slices.Contains(s.listed, service) {
			s.listed = append(s.listed, service)
		}
	}
	return s
}

// semaphore bounds how often something is used at the same time.
type semaphore chan struct{}

func (s semaphore) tryAcquire() bool {
	select {
	case s <- struct{}{}:
		return true
	default:
		return false
	}
}

func (s semaphore) release() { <-s }

// decode decodes a header block, of one connection at a time.
func (s *shared) decode(d *http2.Decoder, block []byte, take func(name, value []byte) error) error {
	s.decoding.Lock()
	defer s.decoding.Unlock()
	return d.Decode(block, s.scratch[:0], take)
}

// maxLoggedRejected is how many rejected callers the log names.
const maxLoggedRejected = 8

// noteRejected counts and logs a caller that -allow does not list: the pod's probes fail if the kubelet is rejected.
func (s *shared) noteRejected(from netip.Addr) {
	s.metrics.rejected.Add(1)
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.rejected) < maxLoggedRejected && !slices.Contains(s.rejected, from) {
		s.rejected = append(s.rejected, from)
		s.log.Print(fmt.Sprintf("rejected %v: -allow does not list it", from))
	}
}
