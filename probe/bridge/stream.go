package bridge

import (
	"fmt"
	"time"

	"github.com/grpc-cnb/health-probe/probe/check/outcome"
)

// want is what a stream waits for.
type want uint8

const (
	wantsNone    want = iota // it is free
	wantsMessage             // the rest of its message
	wantsCheck
	wantsList
	wantsWatch
	wantsPage
	wantsStatus // of gRPC: that of a page
)

// stream is a request of a connection until it is answered. A connection of HTTP/1.1 has one at a time.
type stream struct {
	conn     *conn
	id       uint32 // 0 in HTTP/1.1
	wants    want
	request  request
	ended    bool      // the caller has sent all of it
	deadline time.Time // for the message or the answer, zero for none
	window   int64     // what the caller takes of DATA

	message [5 + maxRequest]byte // message[:got] has come, with its prefix
	got     int
	cost    int // what its head has cost, and what is given back with the answer

	// asks tells that there is a question whose answer has not been taken. Questions are locked for what follows it:
	// the asking that the stream waits for, among others who do, and the one that answers it.
	asks           bool
	round, answer  *round
	next, previous *stream

	watch watching
	list  listing
}

// reset prepares a stream for another connection.
func (st *stream) reset(c *conn) { *st = stream{conn: c} }

// open begins a request. A call that sets no time ends when the message should have come.
func (st *stream) open(id uint32, r *request, ended bool) {
	st.id, st.request, st.ended, st.got, st.cost = id, *r, ended, 0, 0
	st.wants, st.deadline = wantsMessage, time.Now().Add(requestTimeout)
}

// ask asks the server.
func (st *stream) ask(service string) {
	s := st.conn.server
	st.asks = true
	st.conn.asking.Add(1)
	s.questions.join(st, s.bridge.question(service))
}

// wait is how long a request waits for its answer: as long as its caller says, and otherwise a little longer than the
// server may take, since an asking may begin a little after the question.
func (st *stream) wait() time.Duration {
	if st.request.timeout > 0 {
		return st.request.timeout
	}
	longest := min(st.conn.server.bridge.longest(), maxCallTimeout)
	return longest + longest/spread + 50*time.Millisecond
}

// free ends a request, and what waits for it.
func (st *stream) free() {
	if st.asks {
		st.asks = false
		st.conn.asking.Add(-1)
		st.conn.server.questions.leave(st)
	}
	if st.watch.hasSlot {
		st.conn.server.watches.free()
	}
	if st.list.hasSlot {
		st.conn.server.lists.free()
	}
	st.watch, st.list, st.wants = watching{}, listing{}, wantsNone
}

// due returns when the stream has something to do by itself.
func (st *stream) due() time.Time {
	if st.wants == wantsWatch && !st.asks {
		return earliest(st.deadline, st.watch.again)
	}
	return st.deadline
}

// attend does what there is to do for a request: its answer has come, or its time is up.
func (st *stream) attend(now time.Time) error {
	if st.wants == wantsNone {
		return nil
	}
	if st.asks {
		if r := st.conn.server.questions.take(st); r != nil {
			st.asks = false
			st.conn.asking.Add(-1)
			st.conn.earn(st.cost)
			st.cost = 0
			return st.answered(r)
		}
	}
	switch {
	case st.wants == wantsWatch && st.conn.server.stopping.Load():
		return st.fail(codeUnavailable, "the bridge ends")
	case !st.deadline.IsZero() && !now.Before(st.deadline):
		return st.expire()
	case st.wants == wantsWatch && !st.asks && !now.Before(st.watch.again):
		st.ask(st.watch.service)
	}
	return nil
}

// answered goes on with the answer of the server.
func (st *stream) answered(r *round) error {
	s := st.conn.server
	status, _ := statusOf(r.of.topic.question, r.outcome)
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

// expire ends a request whose time is up.
func (st *stream) expire() error {
	if st.wants == wantsPage {
		text := "error: no answer in time"
		if flag, limit := st.conn.server.bridge.Options.Budget.Limit(); limit > 0 {
			text = fmt.Sprintf("error: no answer within %s=%v", flag, limit)
		}
		return st.sendPage(errorPage(503, text))
	}
	return st.fail(outcome.CodeDeadlineExceeded, "no answer within the timeout")
}
