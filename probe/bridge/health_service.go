package bridge

import (
	"encoding/binary"
	"fmt"
	"time"

	"github.com/grpc-cnb/health-probe/probe/check/outcome"
	"github.com/grpc-cnb/health-probe/probe/lean"
)

// beginCall checks the head of a call.
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

// receive adds a part of a call's message, and makes the call after the last one.
func (st *stream) receive(part []byte) error {
	if st.wants != wantsMessage {
		return nil // after the only message of the call
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

// messageOf returns the message after its prefix of five bytes, and whether all of the message is there.
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

// endMessage handles the end of a request.
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

// call asks the server for a call. The message of a page is ignored.
func (st *stream) call(message []byte) error {
	service, isPage := st.request.resource.isPage()
	wrong := st.conn.shared.target.notOwner(st.request.owner)
	if !isPage {
		asked, failed := serviceOf(message)
		if failed != nil {
			return st.fail(failed.Code, failed.Message)
		}
		if service, wrong = st.conn.shared.target.ownService(asked); st.request.resource == resourceList {
			wrong = "" // List names no service
		}
	}
	if wrong != "" {
		return st.fail(outcome.CodeNotFound, wrong)
	}
	st.deadline = time.Now().Add(st.timeout())
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
		if !st.acquire(st.conn.shared.lists) {
			return st.fail(codeResourceExhausted, "too many calls of List")
		}
		st.wants = wantsList
		st.ask(st.list.next(st.conn.shared))
	default:
		if !st.acquire(st.conn.shared.watches) {
			return st.fail(codeResourceExhausted, "too many calls of Watch")
		}
		st.wants, st.watch.service = wantsWatch, service
		if st.request.timeout == 0 {
			st.deadline = time.Time{}
		}
		st.ask(service)
	}
	return nil
}

// acquire takes a permit for the call, if one is free.
func (st *stream) acquire(s semaphore) bool {
	if !s.tryAcquire() {
		return false
	}
	st.permit = s
	return true
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

// answerStatus answers a page called as a gRPC method, for callers who see the gRPC status only.
func (st *stream) answerStatus(status outcome.Status) error {
	if status != outcome.StatusServing {
		return st.fail(codeUnavailable, "the status is "+status.String()+": GET this path for the cause")
	}
	return st.succeed(lean.AppendCheckResponse(nil, status))
}

func (st *stream) answerCheck(r *round) error {
	status, unknown := r.status()
	if unknown {
		return st.fail(outcome.CodeNotFound, "unknown service")
	}
	return st.succeed(lean.AppendCheckResponse(nil, status))
}

// listCall is a call of List, which asks for each service in turn.
type listCall struct {
	services int // how many are in the answer
	answer   []byte
}

// next returns the service to ask for.
func (l *listCall) next(s *shared) string { return s.listed[l.services] }

// answerList adds the status of a service, and sends the answer after the last one.
func (st *stream) answerList(r *round) error {
	s, l := st.conn.shared, &st.list
	status, _ := r.status()
	l.answer = lean.AppendListEntry(l.answer, s.target.ownName(l.next(s)), status)
	if l.services++; l.services < len(s.listed) {
		st.ask(l.next(s))
		return nil
	}
	return st.succeed(l.answer)
}

// watchCall is a call of Watch, which asks the server at intervals.
type watchCall struct {
	service string
	sent    bool           // a status was sent
	status  outcome.Status // the last one sent
	again   time.Time      // when to ask the server again
}

// answerWatch sends a status if it differs from the last.
func (st *stream) answerWatch(r *round) error {
	w := &st.watch
	w.again = time.Now().Add(watchPeriod)
	status, _ := r.status()
	if w.sent && status == w.status {
		return nil
	}
	w.status = status
	if err := st.send(!w.sent, lean.AppendCheckResponse(nil, status)); err != nil {
		return err
	}
	w.sent = st.wants == wantsWatch // sending may have ended the call
	return nil
}
