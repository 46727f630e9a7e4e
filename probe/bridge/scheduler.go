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

// scheduler asks the server, in rounds: a round asks a question for all callers who wait. A caller never joins a round
// that has started, so no answer is older than its question. The next round starts at once, unless the question was
// asked too often, or too many of its rounds are under way: the answer takes as long as the server does, however many
// callers ask.
type scheduler struct {
	target    target
	transport check.Transport
	outcomes  outcomeLog
	metrics   metrics
	// maxOfQuestion is how many rounds of one question may be under way.
	maxOfQuestion int

	mu        sync.Mutex // of the fields below, and of the rounds of streams
	queues    map[queueKey]*queue
	blocked   []*queue // foreign queues whose next round waits for another to end
	foreign   int      // foreign rounds under way
	foreignOf map[netip.Addr]int
}

// queueKey identifies a queue: a question, and the caller if the question is foreign. Callers share no foreign rounds,
// so none waits because of another's questions.
type queueKey struct {
	question
	foreign bool
	from    netip.Addr
}

// queue is the rounds of one question.
type queue struct {
	key      queueKey
	next     *round // waits for its turn; nil if nobody waits
	underWay []*round
	timer    *time.Timer // starts the next round
	// steadyStart is when the next round may start without using the burst; lastStart is when the last one started.
	steadyStart, lastStart time.Time
}

// round asks a question once, for all waiting streams.
type round struct {
	queue   *queue
	began   time.Time
	waiters map[*stream]bool
	outcome outcome.Outcome
}

func newScheduler(target target, transport check.Transport, log *linelog.Log) *scheduler {
	named := len(target.services()) + 3 // 3 more by kind: ready, live and what the flags say
	return &scheduler{
		target: target, transport: transport, outcomes: outcomeLog{log: log, last: map[question]outcome.Outcome{}},
		maxOfQuestion: max(2, min(maxRoundsOfQuestion, maxRounds/named)),
		queues:        map[queueKey]*queue{}, foreignOf: map[netip.Addr]int{},
	}
}

// isForeign reports whether no flag names the service of the question.
func (s *scheduler) isForeign(q question) bool {
	return q.kind == oneService && !slices.Contains(s.target.services(), q.service)
}

// join has a stream wait for the next round of a question. The answer wakes the stream's connection.
func (s *scheduler) join(st *stream, asked question) {
	key := queueKey{question: asked}
	if key.foreign = s.isForeign(asked); key.foreign {
		key.from = st.conn.from
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	q := s.queues[key]
	if q == nil {
		q = &queue{key: key}
		s.queues[key] = q
	}
	if q.next == nil {
		q.next = &round{queue: q, waiters: map[*stream]bool{}}
	}
	st.round, q.next.waiters[st] = q.next, true
	s.start(q)
}

// leave has a stream wait no longer.
func (s *scheduler) leave(st *stream) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := st.round
	if st.round, st.answer = nil, nil; r == nil {
		return
	}
	if delete(r.waiters, st); len(r.waiters) == 0 && r.queue.next == r { // it waits for its turn
		r.queue.next = nil
		s.forget(r.queue)
	}
}

// forget deletes a foreign queue that is empty: callers may ask any number of foreign questions. s is locked.
func (s *scheduler) forget(q *queue) {
	if !q.key.foreign || q.next != nil || len(q.underWay) > 0 {
		return
	}
	delete(s.queues, q.key)
	s.blocked = slices.DeleteFunc(s.blocked, func(other *queue) bool { return other == q })
}

// endedRound returns the round that answers a stream, nil if none has ended yet.
func (s *scheduler) endedRound(st *stream) *round {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := st.answer
	st.answer = nil
	return r
}

// start starts the next round of a queue, or arranges for the start as soon as the limits allow. s is locked.
func (s *scheduler) start(q *queue) {
	if q.next == nil || q.timer != nil {
		return
	}
	if q.key.foreign {
		if s.foreign >= maxForeign || s.foreignOf[q.key.from] >= maxForeignOfCaller || len(q.underWay) > 0 {
			if !slices.Contains(s.blocked, q) {
				s.blocked = append(s.blocked, q)
			}
			return
		}
		s.foreign++
		s.foreignOf[q.key.from]++
	} else if len(q.underWay) >= s.maxOfQuestion {
		return // the end of a round starts the next
	}
	now := time.Now()
	if wait := q.delay(now); wait > 0 && !q.key.foreign {
		q.timer = time.AfterFunc(wait, func() {
			s.mu.Lock()
			defer s.mu.Unlock()
			q.timer = nil
			s.start(q)
		})
		return
	}
	r := q.next
	r.began, q.lastStart, q.next = now, now, nil
	q.steadyStart = latest(q.steadyStart, now).Add(minInterval)
	q.underWay = append(q.underWay, r)
	go s.run(q, r)
}

// delay returns how long until the next round may start, by the generic cell rate algorithm.
func (q *queue) delay(now time.Time) time.Duration {
	begins := q.steadyStart.Add(-(burst - 1) * minInterval)
	if len(q.underWay) > 0 {
		// The rounds under way are spread over the time that the server takes, as far as known.
		begins = latest(begins, q.lastStart.Add(now.Sub(q.underWay[0].began)/spread))
	}
	return begins.Sub(now)
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// run asks the server, and answers the streams that wait.
func (s *scheduler) run(q *queue, r *round) {
	r.outcome = s.target.ask(s.transport, q.key.question)
	s.metrics.addCheck(time.Since(r.began))
	s.outcomes.note(q.key.question, r.outcome)
	s.deliver(r)
	if q.key.foreign {
		time.Sleep(time.Until(r.began.Add(minInterval))) // with maxForeign, this bounds the questions per second
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	q.underWay = slices.DeleteFunc(q.underWay, func(other *round) bool { return other == r })
	if q.key.foreign {
		s.foreignEnded(q.key.from)
	}
	s.start(q)
	s.forget(q)
}

// deliver answers the streams that wait for a round.
func (s *scheduler) deliver(r *round) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for st := range r.waiters {
		st.round, st.answer = nil, r
		st.conn.wake()
	}
	r.waiters = nil
}

// foreignEnded counts a foreign round as ended, and starts a blocked one: of the caller with the fewest foreign rounds
// under way and, of several, the one that has waited longest. s is locked.
func (s *scheduler) foreignEnded(from netip.Addr) {
	s.foreign--
	if s.foreignOf[from]--; s.foreignOf[from] == 0 {
		delete(s.foreignOf, from)
	}
	best := -1
	for i, q := range s.blocked {
		if q.next != nil && len(q.underWay) == 0 &&
			(best < 0 || s.foreignOf[q.key.from] < s.foreignOf[s.blocked[best].key.from]) {
			best = i
		}
	}
	if best >= 0 {
		q := s.blocked[best]
		s.blocked = slices.Delete(s.blocked, best, best+1)
		s.start(q)
	}
}

// status returns the status that a round's outcome means, and whether the server does not know the service. SERVING is
// always the server's own answer.
func (r *round) status() (status outcome.Status, unknown bool) {
	if r.outcome.Passes() {
		return outcome.StatusServing, false
	}
	if answers := r.outcome.Report.Answers; r.queue.key.kind == oneService && len(answers) == 1 {
		switch a := answers[0]; {
		case a.IsUnknownService():
			return outcome.StatusServiceUnknown, true
		case a.Err == nil:
			return a.Status, false
		}
	}
	return outcome.StatusNotServing, false
}
