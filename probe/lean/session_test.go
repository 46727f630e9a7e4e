package lean

import (
	"syscall"
	"testing"
)

// brokenWire is a connection that cannot be written to any more.
type brokenWire struct{ *wire }

func (brokenWire) Write([]byte) (int, error) { return 0, syscall.EPIPE }

func TestAnswerOfServerThatHungUpIsRead(t *testing.T) {
	t.Parallel()
	in := appendFrame(nil, frameSettings, 0, 0, nil)
	in = appendFrame(in, frameHeaders, flagEndHeaders|flagEndStream, 1,
		encodeHeaders([]header{{":status", "200"}, {"content-type", "application/grpc"}, {"grpc-status", "5"}}))
	s := newSession(brokenWire{newWire(in, 0)})
	call := newStream(nil, envelope(nil, false))
	s.add(call)
	if err := s.run(func() bool { return call.done }); err != nil {
		t.Fatal(err)
	}
	if call.code != 5 {
		t.Errorf("code is %d, want 5", call.code)
	}
}
