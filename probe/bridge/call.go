package bridge

import (
	"encoding/binary"
	"fmt"
	"time"

	"github.com/grpc-cnb/health-probe/probe/check/outcome"
	"github.com/grpc-cnb/health-probe/probe/lean"
)

// beginCall begins a call of the health service, of which the head has come.
func (st *stream) beginCall() error {
	switch r := &st.request; {
	case r.method != methodPost:
		return st.fail(codeInternal, "gRPC calls are POST")
	case r.badTimeout:
		return st.fail(codeInternal, "the call has a malformed grpc-timeout")
	case !r.resource.isCall():
		// Load balancers may take UNIMPLEMENTED for a sign of health, as those of AWS do by default.
		return st.fail(outcome.CodeNotFound, "the bridge has grpc.health.v1.Health, /healthz, /readyz and /livez only")
	case st.ended:
		return st.endMessage()
	}
	return nil
}

// receive takes a part of a call's message.
func (st *stream) receive(part []byte) error {
	if st.wants != wantsMessage {
		return nil // it has its message, and no call has two
	}
	n := copy(st.message[st.got:], part)
	if st.got += n; st.got < 5 {
		return nil
	}
	message, whole, failed := messageOf(st.message[:st.got])
	if failed != nil {
		return st.fail(failed.Code, failed.Message)
	}
	if !whole {
		return nil
	}
	return st.call(message)
}

// messageOf returns the message in what has come of a call: its prefix of five bytes, and more.
func messageOf(b []byte) (message []byte, whole bool, failed *outcome.RPCError) {
	size := binary.BigEndian.Uint32(b[1:])
	switch {
	case b[0] != 0:
		return nil, false, &outcome.RPCError{
			Code: outcome.CodeUnimplemented, Message: "the bridge takes no compressed messages",
		}
	case size > maxRequest:
		return nil, false, &outcome.RPCError{
			Code:    codeResourceExhausted,
			Message: fmt.Sprintf("message of %d bytes is over the limit of %d", size, maxRequest),
		}
	case len(b) < 5+int(size):
		return nil, false, nil
	}
	return b[5 : 5+size], true, nil
}

// endMessage is called when the caller has sent all.
func (st *stream) endMessage() error {
	st.ended = true
	_, isPage := st.request.resource.isPage()
	switch {
	case st.wants != wantsMessage:
		return nil
	case st.got == 0 && isPage:
		return st.call(nil)
	case st.got < 5:
		return st.fail(codeInternal, "the call has no message")
	}
	return st.fail(codeInternal, "the call's message is cut off")
}

// call makes the call whose message has come. That of a page says nothing.
func (st *stream) call(message []byte) error {
	service, isPage := st.request.resource.isPage()
	wrong := st.conn.server.bridge.notOwner(st.request.owner)
	if !isPage {
		asked, failed := serviceOf(message)
		if failed != nil {
			return st.fail(failed.Code, failed.Message)
		}
		if service, wrong = st.conn.server.bridge.ownService(asked); st.request.resource == resourceList {
			wrong = "" // it asks for nobody
		}
	}
	if wrong != "" {
		return st.fail(outcome.CodeNotFound, wrong)
	}
	st.deadline = time.Now().Add(st.wait())
	if isPage {
		st.wants = wantsStatus
		st.ask(service)
		return nil
	}
	switch st.request.resource {
	case resourceCheck:
		st.wants = wantsCheck
		st.ask(service)
	case resourceList:
		if st.list.hasSlot = st.conn.server.lists.take(); !st.list.hasSlot {
			return st.fail(codeResourceExhausted, "too many calls of List")
		}
		st.wants = wantsList
		st.ask(st.list.next(st.conn.server))
	default:
		st.watch.service = service
		if st.watch.hasSlot = st.conn.server.watches.take(); !st.watch.hasSlot {
			return st.fail(codeResourceExhausted, "too many calls of Watch")
		}
		st.wants = wantsWatch
		if st.request.timeout == 0 {
			st.deadline = time.Time{}
		}
		st.ask(service)
	}
	return nil
}

// serviceOf returns the service of a HealthCheckRequest.
func serviceOf(message []byte) (string, *outcome.RPCError) {
	service, err := lean.ParseCheckRequest(message)
	switch {
	case err != nil:
		return "", &outcome.RPCError{Code: codeInvalidArgument, Message: err.Error()}
	case len(service) > maxService:
		return "", &outcome.RPCError{
			Code: codeInvalidArgument, Message: fmt.Sprintf("service name is over the limit of %d bytes", maxService),
		}
	}
	return service, nil
}

// statusOf returns the status that an outcome means. It is SERVING only if the server has just said so. unknown tells
// that the server does not know the service.
func statusOf(q question, ended outcome.Outcome) (status outcome.Status, unknown bool) {
	if ended.Passes() {
		return outcome.StatusServing, false
	}
	if answers := ended.Report.Answers; q.kind == oneService && len(answers) == 1 {
		switch a := answers[0]; {
		case a.IsUnknownService():
			return outcome.StatusServiceUnknown, true
		case a.Err == nil:
			return a.Status, false
		}
	}
	return outcome.StatusNotServing, false
}

// answerStatus answers a call of a page, for callers that see nothing but its gRPC status.
func (st *stream) answerStatus(status outcome.Status) error {
	if status != outcome.StatusServing {
		return st.fail(codeUnavailable, "the status is "+status.String()+": GET this path for the cause")
	}
	return st.succeed(lean.AppendCheckResponse(nil, status))
}

// answerCheck answers Health/Check.
func (st *stream) answerCheck(r *round) error {
	status, unknown := statusOf(r.of.topic.question, r.outcome)
	if unknown {
		return st.fail(outcome.CodeNotFound, "unknown service")
	}
	return st.succeed(lean.AppendCheckResponse(nil, status))
}

// listing is a call of List: it has the services that the bridge itself names, and those that the flags name.
type listing struct {
	hasSlot  bool // among the calls of List
	services int  // how many are in the answer
	answer   []byte
}

// next returns the service to ask for.
func (l *listing) next(s *server) string { return s.listed[l.services] }

// answerList takes the status of one service, and answers Health/List after the last.
func (st *stream) answerList(r *round) error {
	s, l := st.conn.server, &st.list
	status, _ := statusOf(r.of.topic.question, r.outcome)
	l.answer = lean.AppendListEntry(l.answer, s.bridge.ownName(l.next(s)), status)
	if l.services++; l.services < len(s.listed) {
		st.ask(l.next(s))
		return nil
	}
	return st.succeed(l.answer)
}

// watching is a call of Watch: the server is asked once in a while, and each change is sent.
type watching struct {
	hasSlot bool // among the calls of Watch
	service string
	sent    bool // a status was sent, the last of them being this
	status  outcome.Status
	again   time.Time // when the server is asked again
}

// answerWatch sends a status that has changed.
func (st *stream) answerWatch(r *round) error {
	w := &st.watch
	w.again = time.Now().Add(watchPeriod)
	status, _ := statusOf(r.of.topic.question, r.outcome)
	if w.sent && status == w.status {
		return nil
	}
	w.status = status
	if err := st.send(!w.sent, lean.AppendCheckResponse(nil, status)); err != nil {
		return err
	}
	w.sent = st.wants == wantsWatch // it may have ended
	return nil
}
