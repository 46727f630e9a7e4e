package lean

import (
	"syscall"
	"testing"

	"github.com/grpc-cnb/health-probe/probe/http2"
)

// brokenWire is a connection that cannot be written to any more.
type brokenWire struct{ *wire }

func (brokenWire) Write([]byte) (int, error) { return 0, syscall.EPIPE }

func TestAnswerOfServerThatHungUpIsRead(t *testing.T) {
	t.Parallel()
	in := http2.AppendFrame(nil, http2.FrameSettings, 0, 0, nil)
	in = http2.AppendFrame(in, http2.FrameHeaders, http2.FlagEndHeaders|http2.FlagEndStream, 1,
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
