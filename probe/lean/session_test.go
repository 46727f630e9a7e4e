package lean

import (
	"syscall"
	"testing"

	"github.com/grpc-cnb/health-probe/probe/http2"
)

// brokenWire is a connection that cannot be written to any more.
type brokenWire struct{ *wire }

func (brokenWire) Write([]byte) (int, error) { return 0, syscall.EPIPE }

// notFound is what a server sends that answers the first call with the status 5.
func notFound() []byte {
	in := http2.AppendFrame(nil, http2.FrameSettings, 0, 0, nil)
	return http2.AppendFrame(in, http2.FrameHeaders, http2.FlagEndHeaders|http2.FlagEndStream, 1,
		encodeHeaders([]header{{":status", "200"}, {"content-type", "application/grpc"}, {"grpc-status", "5"}}))
}

func TestAnswerOfServerThatHungUpIsRead(t *testing.T) {
	t.Parallel()
	s := newSession(brokenWire{newWire(notFound(), 0)})
	call := newStream(nil, envelope(nil, false))
	s.add(call)
	if err := s.run(func() bool { return call.done }); err != nil {
		t.Fatal(err)
	}
	if call.code != 5 {
		t.Errorf("code is %d, want 5", call.code)
	}
}

// A call that is cancelled takes none of the others with it.
func TestCallBesideOneThatIsCancelled(t *testing.T) {
	t.Parallel()
	s := newSession(newWire(notFound(), 0))
	cancelled, call := newStream(nil, envelope(nil, false)), newStream(nil, envelope(nil, false))
	s.add(cancelled, call)
	s.cancel(cancelled)
	if err := s.run(func() bool { return call.done }); err != nil || call.code != 5 || cancelled.sends > 0 {
		t.Errorf("it ends with the code %d, %v, and the other was sent %d times", call.code, err, cancelled.sends)
	}
}
