package bridge

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
)

// hostile is the address that hostile callers come from, beside 127.0.0.1 of the kubelet.
var hostile = &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 2)}}

// repeat runs a caller again and again until the test stops it, from many goroutines.
func repeat(ctx context.Context, running *sync.WaitGroup, callers int, call func(ctx context.Context)) {
	for range callers {
		running.Go(func() {
			for ctx.Err() == nil {
				call(ctx)
				time.Sleep(10 * time.Millisecond) // a bridge that only lacks the processor is not what is tested
			}
		})
	}
}

// connectAs opens a connection as a hostile caller, sends the bytes, and holds it until the bridge closes it.
func connectAs(ctx context.Context, addr, bytes string) {
	conn, err := hostile.DialContext(ctx, "tcp", addr)
	if err != nil {
		return
	}
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	defer conn.Close()
	_, _ = io.WriteString(conn, bytes)
	_, _ = io.Copy(io.Discard, conn)
}

// The kubelet, with a connection for each probe, gets its answer whatever another caller does.
func TestHostileCallersDoNotKeepTheKubeletWaiting(t *testing.T) {
	t.Parallel()
	for name, call := range map[string]func(ctx context.Context, addr string){
		"silent":        func(ctx context.Context, addr string) { connectAs(ctx, addr, "") },
		"slow request":  func(ctx context.Context, addr string) { connectAs(ctx, addr, "GET / HTTP/1.1\r\nX") },
		"silent HTTP/2": func(ctx context.Context, addr string) { connectAs(ctx, addr, http2.ClientPreface) },
		"endless header": func(ctx context.Context, addr string) {
			connectAs(ctx, addr, strings.Repeat("x", 4*maxHead))
		},
		"calls that never end": func(ctx context.Context, addr string) {
			connectAs(ctx, addr, http2.ClientPreface+openStreams(2*maxStreams))
		},
		"names": askMadeUpNames,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := startServer(t, t.TempDir())
			addr, _ := startBridge(t, "-addr="+server.Addr)
			ctx, stop := context.WithCancel(t.Context())
			var running sync.WaitGroup
			repeat(ctx, &running, maxSlots+maxSlots/2, func(ctx context.Context) { call(ctx, addr) })
			for range 20 {
				says(t, client(t, addr), "", "SERVING")
				time.Sleep(20 * time.Millisecond)
			}
			stop()
			running.Wait()
		})
	}
}

// openStreams returns the frames of requests that have no end.
func openStreams(count int) string {
	var out, block bytes.Buffer
	framer, encoder := http2.NewFramer(&out, nil), hpack.NewEncoder(&block)
	_ = framer.WriteSettings()
	for i := range count {
		block.Reset()
		for _, pair := range [][2]string{
			{":method", "POST"},
			{":scheme", "http"},
			{":path", checkPath},
			{":authority", "a"},
			{"content-type", "application/grpc"},
		} {
			_ = encoder.WriteField(hpack.HeaderField{Name: pair[0], Value: pair[1]}) // a buffer takes everything
		}
		_ = framer.WriteHeaders(http2.HeadersFrameParam{
			StreamID: uint32(2*i + 1), BlockFragment: block.Bytes(), EndHeaders: true,
		})
	}
	return out.String()
}

// askMadeUpNames asks for services that do not exist, a new one each time.
func askMadeUpNames(ctx context.Context, addr string) {
	conn, err := grpc.NewClient("passthrough:///"+addr, grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(func(ctx context.Context, addr string) (net.Conn, error) {
			return hostile.DialContext(ctx, "tcp", addr)
		}))
	if err != nil {
		return
	}
	defer conn.Close()
	for i := range 50 {
		name := fmt.Sprintf("made-up-%d-%p", i, conn)
		_, _ = healthpb.NewHealthClient(conn).Check(ctx, &healthpb.HealthCheckRequest{Service: name})
	}
}

// If no slot is free, the caller with most connections loses the oldest, and never has the slots that are reserved for
// the node and the pod.
func TestSlotIsTakenFromTheCallerWithMostConnections(t *testing.T) {
	t.Parallel()
	server := startServer(t, t.TempDir())
	addr, _ := startBridge(t, "-addr="+server.Addr)
	const ask, answer = "GET /readyz HTTP/1.1\r\nHost: a\r\n\r\n", "status: SERVING\n"
	// All of them ask, since the bridge closes a connection soon that asks nothing.
	open := func(from *net.Dialer) net.Conn {
		near, err := from.DialContext(t.Context(), "tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = near.Close() })
		_, _ = io.WriteString(near, ask) // it may be closed before
		return near
	}
	// A deadline that has passed when the read begins would hide that the connection is closed.
	isOpen := func(c net.Conn) bool {
		_ = c.SetReadDeadline(time.Now().Add(10 * time.Millisecond))
		_, err := io.Copy(io.Discard, c)
		timeout, ok := errors.AsType[net.Error](err)
		return ok && timeout.Timeout()
	}
	first, second := open(&net.Dialer{}), open(hostile)
	wantAnswer(t, first, answer)
	others := make([]net.Conn, 2*maxSlots)
	for i := range others {
		others[i] = open(hostile)
	}
	finds(t, "the oldest connection of the hostile caller to be closed", func() bool { return !isOpen(second) })
	const most = maxSlots - maxSlots/closingShare - maxSlots/reservedShare
	finds(t, "the hostile caller to have no more connections than he may", func() bool {
		others = slices.DeleteFunc(others, func(c net.Conn) bool { return !isOpen(c) })
		return len(others) <= most
	})
	_, _ = io.WriteString(first, ask) // reading fails if this does
	wantAnswer(t, first, answer)
}

// What is no health check is refused.
func TestOtherRequestsAreRefused(t *testing.T) {
	t.Parallel()
	server := startServer(t, t.TempDir())
	addr, _ := startBridge(t, "-addr="+server.Addr)
	for _, c := range []struct {
		method, path string
		want         int
	}{
		{"GET", "/healthz", 200},
		{"HEAD", "/readyz", 200},
		{"GET", "/livez?verbose", 200},
		{"GET", "/", 404},
		{"GET", "/healthz/", 404},
		{"POST", "/healthz", 405},
		{"POST", checkPath, 404},
	} {
		request, err := http.NewRequestWithContext(t.Context(), c.method, "http://"+addr+c.path, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(response.Body)
		if err := errors.Join(err, response.Body.Close()); err != nil {
			t.Error(err)
		}
		if response.StatusCode != c.want {
			t.Errorf("%s %s is %d, want %d: %s", c.method, c.path, response.StatusCode, c.want, body)
		}
		if want := "status: SERVING\n"; c.path == "/healthz" && c.method == "GET" && string(body) != want {
			t.Errorf("page is %q, want %q", body, want)
		}
	}
	conn, err := grpc.NewClient("passthrough:///"+addr, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	// Load balancers take UNIMPLEMENTED for a sign of health, as those of AWS do by default.
	err = conn.Invoke(t.Context(), "/a.Other/Method", &healthpb.HealthCheckRequest{}, &healthpb.HealthCheckResponse{})
	if err == nil || !strings.Contains(err.Error(), "NotFound") {
		t.Errorf("another method is %v", err)
	}
}

// Whatever comes as the message of a call, it is a name within bounds or an error of gRPC that a header can carry.
func FuzzRequest(f *testing.F) {
	f.Add([]byte{0, 0, 0, 0, 3, 0x0a, 1, 'a'})
	f.Add([]byte{1, 0, 0, 0, 0})
	f.Add([]byte{0, 0xff, 0xff, 0xff, 0xff})
	f.Fuzz(func(t *testing.T, body []byte) {
		if len(body) < 5 {
			return // the bridge waits for more
		}
		message, whole, failed := messageOf(body)
		service := ""
		if whole {
			service, failed = serviceOf(message)
		}
		if failed != nil && (failed.Code == 0 || !isPlain(failed.Message)) {
			t.Errorf("error is %v", failed)
		}
		if len(service) > maxService || len(message) > maxRequest {
			t.Errorf("service of %d bytes in a message of %d", len(service), len(message))
		}
	})
}

// isPlain reports whether a grpc-message needs no escapes (gRPC over HTTP/2, "Responses").
func isPlain(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r > '~' || r == '%' })
}

// A timeout is one within bounds, or an error.
func FuzzTimeout(f *testing.F) {
	for _, text := range []string{"", "1S", "99999999H", "0n", "100m", "-1S", "1", "S"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		timeout, bad := parseTimeout(text)
		if timeout < 0 || timeout > maxCallTimeout || bad != (timeout == 0) {
			t.Errorf("%q is %v, %v", text, timeout, bad)
		}
	})
}
