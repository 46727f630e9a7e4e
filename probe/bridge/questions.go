package bridge

import (
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/grpc-cnb/health-probe/probe/bridge/linelog"
	"github.com/grpc-cnb/health-probe/probe/check"
	"github.com/grpc-cnb/health-probe/probe/check/outcome"
)

// questions asks the server. A caller joins an asking that has not begun, and never one that has, so no answer is older
// than its question. The next asking begins at once, unless the same was asked too often, or is under way too often: so
// a caller gets his answer after the time that the server takes, whoever else asks.
type questions struct {
	bridge    target
	transport check.Transport
	changes   changes
	metrics   metrics
	// ofOne is how many askings of one question may be under way.
	ofOne int

	mu      sync.Mutex // of all that follows, and of what streams have to do with rounds
	queues  map[topic]*queue
	waiting []*queue // foreign, and with a round that waits for a place
	foreign int      // askings that are foreign and under way
	callers map[netip.Addr]int
}

// topic is what has a queue of its own: a question, and the caller if no flag names the service. Callers do not share
// the latter, so none waits because of how much another asks.
type topic struct {
	question
	foreign bool
	from    netip.Addr
}

// queue is the asking of one question, again and again.
type queue struct {
	topic    topic
	next     *round // has not begun; nil if nobody waits
	underWay []*round
	timer    *time.Timer // begins the next one
	// free is when the next may begin without a burst; last is when the last one began.
	free, last time.Time
}

// round is one asking of a question.
type round struct {
	of      *queue
	began   time.Time
	first   *stream // who waits for it, linked by their next and previous
	outcome outcome.Outcome
}

func newQuestions(b target, t check.Transport, log *linelog.Log) *questions {
	named := len(b.services()) + 3 // the others are those of the kinds
	return &questions{
		bridge: b, transport: t, changes: changes{log: log, last: map[question]outcome.Outcome{}},
		ofOne:  max(2, min(maxAskingsOfOne, maxAskings/named)),
		queues: map[topic]*queue{}, callers: map[netip.Addr]int{},
	}
}

// isForeign reports whether no flag names the service of the question.
func (s *questions) isForeign(q question) bool {
	return q.kind == oneService && !slices.Contains(s.bridge.services(), q.service)
}

// join has a stream wait for the next asking of a question. Its connection is woken when there is an answer.
func (s *questions) join(st *stream, q question) {
	about := topic{question: q}
	if about.foreign = s.isForeign(q); about.foreign {
		about.from = st.conn.from
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	waiting := s.queues[about]
	if waiting == nil {
		waiting = &queue{topic: about}
		s.queues[about] = waiting
	}
	if waiting.next == nil {
		waiting.next = &round{of: waiting}
	}
	waiting.next.add(st)
	s.begin(waiting)
}

// leave ends the waiting of a stream.
func (s *questions) leave(st *stream) {
	s.mu.Lock()
	defer s.mu.Unlock()
	st.answer = nil
	r := st.round
	if r == nil {
		return
	}
	if r.remove(st); r.first == nil && r.of.next == r { // nobody waits for it, and it has not begun
		r.of.next = nil
		s.forget(r.of)
	}
}

// forget lets go of a queue that is foreign, of which there may be any number, if nobody waits in it. s is locked.
func (s *questions) forget(q *queue) {
	if !q.topic.foreign || q.next != nil || len(q.underWay) > 0 {
		return
	}
	delete(s.queues, q.topic)
	s.waiting = slices.DeleteFunc(s.waiting, func(other *queue) bool { return other == q })
}

// take returns the answer that a stream waits for, if there is one.
func (s *questions) take(st *stream) *round {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := st.answer
	st.answer = nil
	return r
}

// add and remove are for those who wait. Questions are locked.
func (r *round) add(st *stream) {
	st.round, st.previous, st.next = r, nil, r.first
	if r.first != nil {
		r.first.previous = st
	}
	r.first = st
}

func (r *round) remove(st *stream) {
	if st.previous != nil {
		st.previous.next = st.next
	} else {
		r.first = st.next
	}
	if st.next != nil {
		st.next.previous = st.previous
	}
	st.round, st.previous, st.next = nil, nil, nil
}

// begin begins the next asking of a queue, or sees to it that it begins as soon as it may. s is locked.
func (s *questions) begin(q *queue) {
	if q.next == nil || q.timer != nil {
		return
	}
	if q.topic.foreign {
		if s.foreign >= maxForeign || s.callers[q.topic.from] >= maxForeignOfOne || len(q.underWay) > 0 {
			if !slices.Contains(s.waiting, q) {
				s.waiting = append(s.waiting, q)
			}
			return
		}
		s.foreign++
		s.callers[q.topic.from]++
	} else if len(q.underWay) >= s.ofOne {
		return // the end of one of them begins the next
	}
	now := time.Now()
	if wait := q.early(now); wait > 0 && !q.topic.foreign {
		q.timer = time.AfterFunc(wait, func() {
			s.mu.Lock()
			defer s.mu.Unlock()
			q.timer = nil
			s.begin(q)
		})
		return
	}
	r := q.next
	r.began, q.last, q.next = now, now, nil
	q.free = latest(q.free, now).Add(pause)
	q.underWay = append(q.underWay, r)
	go s.run(q, r)
}

// early returns how long it takes until the next asking may begin.
func (q *queue) early(now time.Time) time.Duration {
	begins := q.free.Add(-(burst - 1) * pause)
	if len(q.underWay) > 0 {
		// Those under way are spread over the time that the server takes, as far as it is known.
		begins = latest(begins, q.last.Add(now.Sub(q.underWay[0].began)/spread))
	}
	return begins.Sub(now)
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// run asks, and hands the outcome to those who wait.
func (s *questions) run(q *queue, r *round) {
	r.outcome = s.bridge.ask(s.transport, q.topic.question)
	s.metrics.addCheck(time.Since(r.began))
	s.changes.note(q.topic.question, r.outcome)
	s.end(r)
	if q.topic.foreign {
		time.Sleep(time.Until(r.began.Add(pause))) // so the places bound what is asked in a second
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	q.underWay = slices.DeleteFunc(q.underWay, func(other *round) bool { return other == r })
	if q.topic.foreign {
		s.release(q.topic.from)
	}
	s.begin(q)
	s.forget(q)
}

// end hands the outcome of a round to those who wait for it.
func (s *questions) end(r *round) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for st := r.first; st != nil; st = r.first {
		r.remove(st)
		st.answer = r
		st.conn.wake()
	}
}

// release frees the place of a foreign asking, for the caller who has the fewest of them, and of these for the one who
// waits longest. s is locked.
func (s *questions) release(from netip.Addr) {
	s.foreign--
	if s.callers[from]--; s.callers[from] == 0 {
		delete(s.callers, from)
	}
	best := -1
	for i, q := range s.waiting {
		if q.next != nil && len(q.underWay) == 0 &&
			(best < 0 || s.callers[q.topic.from] < s.callers[s.waiting[best].topic.from]) {
			best = i
		}
	}
	if best >= 0 {
		q := s.waiting[best]
		s.waiting = slices.Delete(s.waiting, best, best+1)
		s.begin(q)
	}
}
