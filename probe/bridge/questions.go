package bridge

import (
	"context"
	"io"
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/grpc-cnb/health-probe/probe/check"
	"github.com/grpc-cnb/health-probe/probe/check/outcome"
)

const (
	// pause is the shortest time between two askings of the same question. The server cannot be made to answer more
	// than a hundred times a second, however often callers ask.
	pause = 10 * time.Millisecond
	// maxForeign is how many questions about services that no flag names are asked at once, and maxForeignOfOne how
	// many of those are one caller's. Questions that the flags ask need no place among these.
	maxForeign, maxForeignOfOne = 16, 4
)

// questions asks the server. Callers who ask the same at the same time share the answer: a question that waits to be
// asked is joined, but never one that has been asked already, so no answer is older than its question.
type questions struct {
	bridge    target
	transport check.Transport
	changes   changes
	foreign   chan struct{} // a place for each question that is foreign and being asked

	mu      sync.Mutex
	queues  map[question]*queue
	callers map[netip.Addr]*caller
}

// queue is the asking of one question, again and again.
type queue struct {
	running bool
	next    *round    // not asked yet; nil where nobody waits
	last    time.Time // when it was asked
}

// round is one asking of a question.
type round struct {
	done    chan struct{} // closed once there is an outcome
	outcome outcome.Outcome
}

// caller counts the foreign questions of one caller.
type caller struct {
	places chan struct{}
	users  int
}

func newQuestions(b target, t check.Transport, log io.Writer) *questions {
	return &questions{
		bridge: b, transport: t, changes: changes{log: log, last: map[question]outcome.Outcome{}},
		foreign: make(chan struct{}, maxForeign),
		queues:  map[question]*queue{}, callers: map[netip.Addr]*caller{},
	}
}

// ask asks the server, and waits for the outcome until ctx is done, whose error it returns.
func (s *questions) ask(ctx context.Context, q question, from netip.Addr) (outcome.Outcome, error) {
	if s.isForeign(q) {
		leave, err := s.enter(ctx, from)
		if err != nil {
			return outcome.Outcome{}, err
		}
		defer leave()
	}
	r := s.join(q)
	select {
	case <-r.done:
		return r.outcome, nil
	case <-ctx.Done():
		return outcome.Outcome{}, ctx.Err()
	}
}

// isForeign reports whether no flag names the service of the question.
func (s *questions) isForeign(q question) bool {
	return q.kind == oneService && !slices.Contains(s.bridge.services(), q.service)
}

// enter waits for a place among the foreign questions of the caller.
func (s *questions) enter(ctx context.Context, from netip.Addr) (leave func(), err error) {
	s.mu.Lock()
	c := s.callers[from]
	if c == nil {
		c = &caller{places: make(chan struct{}, maxForeignOfOne)}
		s.callers[from] = c
	}
	c.users++
	s.mu.Unlock()
	forget := func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if c.users--; c.users == 0 {
			delete(s.callers, from)
		}
	}
	select {
	case c.places <- struct{}{}:
		return func() { <-c.places; forget() }, nil
	case <-ctx.Done():
		forget()
		return nil, ctx.Err()
	}
}

// join returns the next asking of the question.
func (s *questions) join(q question) *round {
	s.mu.Lock()
	defer s.mu.Unlock()
	waiting := s.queues[q]
	if waiting == nil {
		waiting = &queue{}
		s.queues[q] = waiting
	}
	if waiting.next == nil {
		waiting.next = &round{done: make(chan struct{})}
	}
	if !waiting.running {
		waiting.running = true
		go s.run(q, waiting)
	}
	return waiting.next
}

// run asks a question as long as somebody waits.
func (s *questions) run(q question, waiting *queue) {
	for {
		foreign := s.isForeign(q)
		if foreign {
			s.foreign <- struct{}{}
		}
		time.Sleep(time.Until(waiting.last.Add(pause)))
		s.mu.Lock()
		r := waiting.next
		waiting.next, waiting.last = nil, time.Now()
		s.mu.Unlock()
		r.outcome = s.bridge.ask(s.transport, q)
		s.changes.note(q, r.outcome)
		close(r.done)
		if foreign {
			time.Sleep(time.Until(waiting.last.Add(pause))) // so the places bound what is asked in a second
			<-s.foreign
		}
		if !s.goesOn(q, waiting, foreign) {
			return
		}
	}
}

// goesOn reports whether somebody waits for the question to be asked once more. A foreign one is forgotten otherwise,
// since there may be any number of them.
func (s *questions) goesOn(q question, waiting *queue, foreign bool) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	waiting.running = waiting.next != nil
	if foreign && !waiting.running {
		delete(s.queues, q)
	}
	return waiting.running
}
