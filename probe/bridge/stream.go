package bridge

import (
	"fmt"
	"time"

	"github.com/grpc-cnb/health-probe/probe/check/outcome"
)

// want is what a stream needs to go on.
type want uint8

const (
	wantsNone    want = iota // the stream is free
	wantsMessage             // the rest of the message
	wantsCheck
	wantsList
	wantsWatch
	wantsPage
	wantsStatus // a page called as a gRPC method
)

// stream is a request until the answer is sent. A connection of HTTP/1.1 has one stream at a time.
type stream struct {
	conn     *conn
	id       uint32 // 0 in HTTP/1.1
	wants    want
	request  request
	ended    bool      // the request is complete
	deadline time.Time // for the message or the answer, zero for none
	window   int64     // how much DATA the caller takes

	message  [5 + maxRequest]byte // message[:got] has arrived, with its prefix
	got      int
	headCost int // what the request's head has cost of the allowance

	waiting bool // for the answer to a question
	// round is the stream's next round, and answer the ended one. The scheduler locks both.
	round, answer *round

	permit semaphore // that the call holds, nil for none
	watch  watchCall
	list   listCall
}

// open begins a request, whose message has to arrive within requestTimeout.
func (st *stream) open(id uint32, r *request, ended bool) {
	st.id, st.request, st.ended, st.got, st.headCost = id, *r, ended, 0, 0
	st.wants, st.deadline = wantsMessage, time.Now().Add(requestTimeout)
}

func (st *stream) ask(service string) {
	s := st.conn.shared
	st.waiting = true
	st.conn.pending.Add(1)
	s.scheduler.join(st, s.target.question(service))
}

// timeout is how long a request waits for its answer: as long as the caller sets, and otherwise a little longer than
// the server may take, since a round may start a little after the question.
func (st *stream) timeout() time.Duration {
	if st.request.timeout > 0 {
		return st.request.timeout
	}
	longest := min(st.conn.shared.target.longest(), maxCallTimeout)
	return longest + longest/spread + 50*time.Millisecond
}

// close frees a stream, and what the request holds.
func (st *stream) close() {
	if st.waiting {
		st.waiting = false
		st.conn.pending.Add(-1)
		st.conn.shared.scheduler.leave(st)
	}
	if st.permit != nil {
		st.permit.release()
	}
	st.permit, st.watch, st.list, st.wants = nil, watchCall{}, listCall{}, wantsNone
}

// due returns the stream's next deadline.
func (st *stream) due() time.Time {
	if st.wants == wantsWatch && !st.waiting {
		return earliest(st.deadline, st.watch.again)
	}
	return st.deadline
}

// advance goes on with a request after the answer or the deadline.
func (st *stream) advance(now time.Time) error {
	if st.wants == wantsNone {
		return nil
	}
	if st.waiting {
		if r := st.conn.shared.scheduler.endedRound(st); r != nil {
			st.waiting = false
			st.conn.pending.Add(-1)
			st.conn.earn(st.headCost)
			st.headCost = 0
			return st.answered(r)
		}
	}
	switch {
	case st.wants == wantsWatch && st.conn.shared.stopping.Load():
		return st.fail(codeUnavailable, "the bridge ends")
	case !st.deadline.IsZero() && !now.Before(st.deadline):
		return st.expire()
	case st.wants == wantsWatch && !st.waiting && !now.Before(st.watch.again):
		st.ask(st.watch.service)
	}
	return nil
}

// answered goes on with the server's answer.
func (st *stream) answered(r *round) error {
	s := st.conn.shared
	status, _ := r.status()
	s.metrics.addAnswer(status)
	switch st.wants {
	case wantsStatus:
		return st.answerStatus(status)
	case wantsCheck:
		return st.answerCheck(r)
	case wantsList:
		return st.answerList(r)
	case wantsWatch:
		return st.answerWatch(r)
	}
	return st.sendPage(s.page(r, st.request.json))
}

func (st *stream) expire() error {
	if st.wants == wantsPage {
		text := "error: no answer in time"
		if flag, limit := st.conn.shared.target.Options.Budget.Limit(); limit > 0 {
			text = fmt.Sprintf("error: no answer within %s=%v", flag, limit)
		}
		return st.sendPage(errorPage(503, text))
	}
	return st.fail(outcome.CodeDeadlineExceeded, "no answer within the timeout")
}
