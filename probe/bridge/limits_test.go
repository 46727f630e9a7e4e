package bridge

import (
	"net"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
)

// A server that answers at once is not asked the same question more often than the limit allows, neither one of the
// flags nor one of a caller's own.
func TestServerIsNotAskedTooOften(t *testing.T) {
	t.Parallel()
	for service, unlimited := range map[string]int{"": burst, "unknown": 1} {
		server := &slowServer{}
		server.start(t)
		t.Cleanup(server.stop)
		addr, _ := startBridge(t, "-addr="+server.addr)
		asked, before := client(t, addr), time.Now()
		const rounds = 20
		for range rounds {
			_, _ = asked.Check(t.Context(), &healthpb.HealthCheckRequest{Service: service}) // or NOT_FOUND
		}
		least := time.Duration(rounds-unlimited) * minInterval
		if took, asked := time.Since(before), server.asked.Load(); asked != rounds || took < least {
			t.Errorf("%q was asked %d times within %v, want %d and at least %v", service, asked, took, rounds, least)
		}
	}
}

// A caller whose requests have long heads, each of which costs more than an answer adds, gets the cost back.
func TestLongHeadsAreRefunded(t *testing.T) {
	t.Parallel()
	server := startServer(t, t.TempDir())
	addr, _ := startBridge(t, "-addr="+server.Addr)
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(hangs))
	framer := http2.NewFramer(conn, conn)
	framer.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
	_, _ = conn.Write(framed(nil)) // it fails if reading does
	for i := range 40 {
		id := uint32(2*i + 1)
		begin(framer, id, headers(checkPath, "x", strings.Repeat("~", 2<<10)))
		_ = framer.WriteData(id, true, message("live"))
		for answered := false; !answered; {
			frame, err := framer.ReadFrame()
			if err != nil {
				t.Fatalf("after %d answers: %v", i, err)
			}
			h, isHeaders := frame.(*http2.MetaHeadersFrame)
			answered = isHeaders && h.StreamEnded()
		}
	}
}
