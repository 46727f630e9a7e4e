package bridge

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"
	"unsafe"

	"google.golang.org/grpc/codes"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"

	"github.com/grpc-cnb/health-probe/probe/bridge/bridgeflags"
)

// The buffers of a slot are what limits.go adds up.
func TestSlotSize(t *testing.T) {
	t.Parallel()
	if size := unsafe.Sizeof(conn{}); size > slotSize {
		t.Errorf("a connection has %d bytes, want %d at most", size, slotSize)
	}
}

// Callers who ask the same get an answer to a question of their own, while the server answers none of those who asked
// before.
func TestNobodyWaitsForTheQuestionOfAnother(t *testing.T) {
	t.Parallel()
	const callers = 10
	began := make(chan chan struct{}, callers)
	server := &slowServer{wait: func(ctx context.Context, _ string) {
		answer := make(chan struct{})
		began <- answer
		select {
		case <-answer:
		case <-ctx.Done():
		}
	}}
	server.start(t)
	defer server.stop()
	addr, _ := startBridge(t, "-addr="+server.addr, "-rpc-timeout=10m")
	var answers, answered [callers]chan struct{}
	for i := range callers {
		answered[i] = make(chan struct{})
		go func() {
			defer close(answered[i])
			says(t, client(t, addr), "", "SERVING")
		}()
		select {
		case answers[i] = <-began:
		case <-answered[i]:
			t.Fatalf("question %d was not asked", i)
		}
	}
	for i := callers - 1; i >= 0; i-- {
		close(answers[i])
		<-answered[i]
	}
}

// A caller who has to wait for the next round waits for a part of the time that the server takes.
func TestNextRoundStartsSoon(t *testing.T) {
	t.Parallel()
	now := time.Now()
	for took, want := range map[time.Duration]time.Duration{
		0: 0, 8 * time.Millisecond: time.Millisecond, 800 * time.Millisecond: 100 * time.Millisecond,
	} {
		q := &queue{underWay: []*round{{began: now.Add(-took)}}, lastStart: now}
		if got := q.delay(now); got != want {
			t.Errorf("after %v the next round starts in %v, want %v", took, got, want)
		}
	}
}

// All questions that come at one instant from one address are answered.
func TestManyQuestionsAtOneInstant(t *testing.T) {
	t.Parallel()
	const questions = 200
	server := startServer(t, t.TempDir())
	addr, _ := startBridge(t, "-addr="+server.Addr)
	var asking sync.WaitGroup
	begin := make(chan struct{})
	for range questions {
		asked := client(t, addr)
		asking.Go(func() {
			<-begin
			says(t, asked, "", "SERVING")
		})
	}
	close(begin)
	asking.Wait()
}

// The bridge's own timeout tells that a server hangs. It is over before the second that the kubelet waits.
func TestHungServerFailsInTime(t *testing.T) {
	t.Parallel()
	if kubelet := time.Second; bridgeflags.Timeout >= kubelet {
		t.Errorf("the bridge takes %v, and the kubelet waits for %v", bridgeflags.Timeout, kubelet)
	}
	server := &slowServer{wait: func(ctx context.Context, _ string) { <-ctx.Done() }}
	server.start(t)
	defer server.stop()
	_, addr := startProgram(t, shipped(t), "-addr="+server.addr)
	body, code := get(t, "http://"+addr+readyPage)
	want := "-timeout=" + bridgeflags.Timeout.String()
	if code != http.StatusServiceUnavailable || !strings.Contains(body, want) {
		t.Errorf("the page is %d, %q, want one with %q", code, body, want)
	}
	says(t, client(t, addr), "", "NOT_SERVING")
}

// get gets a page.
func get(t *testing.T, url string) (body string, code int) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	response, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text), response.StatusCode
}

// What is no request, or none for a page, is answered as HTTP/1.1 wants it.
func TestBadRequests(t *testing.T) {
	t.Parallel()
	server := startServer(t, t.TempDir())
	addr, _ := startBridge(t, "-addr="+server.Addr)
	for request, want := range map[string]string{
		"OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n":                               "404 Not Found",
		"GET /readyz HTTP/1.1\r\n\r\n":                                        "400 Bad Request",
		"GET /readyz HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n":                  "400 Bad Request",
		"GET /readyz HTTP/1.1\r\nHost : a\r\n\r\n":                            "400 Bad Request",
		"GET /readyz HTTP/1.1\r\nHost:b a\r\n\r\n":                            "400 Bad Request",
		"GET /readyz HTTP/1.1\r\nHost: a/b\r\n\r\n":                           "400 Bad Request",
		"GET http://a b/readyz HTTP/1.1\r\nHost: a\r\n\r\n":                   "505 HTTP Version Not Supported",
		"GET http://[::1/readyz HTTP/1.1\r\nHost: a\r\n\r\n":                  "400 Bad Request",
		"GET http://a:b/readyz HTTP/1.1\r\nHost: a\r\n\r\n":                   "400 Bad Request",
		"GET a!b://a/readyz HTTP/1.1\r\nHost: a\r\n\r\n":                      "400 Bad Request",
		"GET http://a?b/readyz HTTP/1.1\r\nHost: a\r\n\r\n":                   "404 Not Found",
		"GET http://a#b/readyz HTTP/1.1\r\nHost: a\r\n\r\n":                   "400 Bad Request",
		"GET /readyz HTTP/1.0\r\nTransfer-Encoding: gzip\r\n\r\n":             "200 OK",
		"GET readyz HTTP/1.1\r\nHost: a\r\n\r\n":                              "400 Bad Request",
		"GET /a%2/readyz HTTP/1.1\r\nHost: a\r\n\r\n":                         "400 Bad Request",
		"GET /a%2F HTTP/1.1\r\nHost: a\r\n\r\n":                               "404 Not Found",
		"GET /readyz?a%2 HTTP/1.1\r\nHost: a\r\n\r\n":                         "200 OK",
		"GET http://[fe80::1]:8086/nothing HTTP/1.1\r\nHost: a\r\n\r\n":       "404 Not Found",
		"GET /readyz HTTP/1.0\r\n\r\n":                                        "200 OK",
		"GET http://a/readyz HTTP/1.1\r\nHost: a\r\n\r\n":                     "200 OK",
		"GET /readyz HTTP/2.0\r\nHost: a\r\n\r\n":                             "505 HTTP Version Not Supported",
		"GET /" + strings.Repeat("x", 2*readSize) + " HTTP/1.1\r\n\r\n":       "414 URI Too Long",
		"GET / HTTP/1.1\r\nx: " + strings.Repeat("x", 3*maxHead) + "\r\n\r\n": "431 Request Header Fields Too Large",
		"\r\n": "400 Bad Request",

		// Bodies.
		"GET /readyz HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n":               "200 OK",
		"GET /readyz HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip\r\n\r\n":                  "501 Not Implemented",
		"GET / HTTP/1.1\nHost: a\nTransfer-Encoding: chunked\nTransfer-Encoding: chunked\n\n": "501 Not Implemented",
		"GET /readyz HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\nContent-Length: 5\r\n\r\n":   "400 Bad Request",
		"GET /readyz HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nContent-Length: 5\r\n\r\n":   "200 OK",
	} {
		conn, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.WriteString(conn, request) // it may be answered before
		_ = conn.SetReadDeadline(time.Now().Add(hangs))
		answer := make([]byte, 64)
		n, err := io.ReadAtLeast(conn, answer, 40)
		if got := string(answer[:n]); !strings.HasPrefix(got, "HTTP/1.1 "+want+"\r\n") {
			t.Errorf("%.40q is answered with %q (%v), want %s", request, got, err, want)
		}
		_ = conn.Close()
	}
}

// Requests that come one after the other, or all together, are answered in their order on one connection.
func TestRequestsOnOneConnection(t *testing.T) {
	t.Parallel()
	server := startServer(t, t.TempDir())
	addr, _ := startBridge(t, "-addr="+server.Addr)
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	const requests = 120 // more than the allowance is for, without what the answers add
	for i := range requests {
		path, want := readyPage, "status: SERVING\n"
		if i%2 == 1 {
			path, want = livePage, "live: the server answers\n"
		}
		ask := "GET " + path + " HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n"
		if i%10 == 0 {
			_, _ = io.WriteString(conn, strings.Repeat(ask, 3))
			for range 2 {
				wantAnswer(t, conn, want)
			}
		} else {
			_, _ = io.WriteString(conn, ask)
		}
		wantAnswer(t, conn, want)
	}
}

// wantAnswer reads one answer, byte by byte, until its body has come.
func wantAnswer(t *testing.T, conn net.Conn, want string) {
	t.Helper()
	var got strings.Builder
	_ = conn.SetReadDeadline(time.Now().Add(hangs))
	for b := make([]byte, 1); !strings.HasSuffix(got.String(), "\r\n\r\n"+want); got.Write(b) {
		if _, err := conn.Read(b); err != nil {
			t.Fatalf("after %q: %v", got.String(), err)
		}
	}
}

// Callers that -allow does not list are rejected, and the log says so; the pod itself is accepted.
func TestAllow(t *testing.T) {
	t.Parallel()
	server := startServer(t, t.TempDir())
	addr, log := startBridge(t, "-addr="+server.Addr, "-allow=127.0.0.3,10.0.0.0/8")
	from := func(ip byte) error {
		dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, ip)}}
		transport := &http.Transport{DialContext: dialer.DialContext, DisableKeepAlives: true}
		response, err := (&http.Client{Transport: transport, Timeout: hangs}).Get("http://" + addr + readyPage)
		if err == nil {
			err = response.Body.Close()
		}
		return err
	}
	for ip, want := range map[byte]bool{1: true, 2: false, 3: true} {
		if err := from(ip); (err == nil) != want {
			t.Errorf("from 127.0.0.%d it is %v", ip, err)
		}
	}
	_ = from(2) // it is logged once
	want := "rejected 127.0.0.2: -allow does not list it\n"
	finds(t, "the line about it", func() bool { return strings.Contains(log.String(), want) })
	if strings.Count(log.String(), want) != 1 {
		t.Errorf("log is\n%s", log)
	}
}

// A bridge that may have few open files has as many slots as the limit allows, and answers.
func TestFewOpenFiles(t *testing.T) {
	t.Parallel()
	server := startServer(t, t.TempDir())
	path := shipped(t)
	for _, files := range []int{32, 64, 100} {
		script := fmt.Sprintf(`ulimit -n %d && exec "$0" "$@"`, files)
		_, addr := startProgram(t, "sh", append([]string{"-c", script, path, "-addr=" + server.Addr}, patient...)...)
		for range 2 * files { // connections that others hold
			conn, err := hostile.Dial("tcp", addr)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = conn.Close() })
		}
		for range 20 {
			says(t, client(t, addr), "", "SERVING")
		}
	}
}

// The status SERVICE_UNKNOWN that a server gives as an answer stays what it is, although an error means the same.
func TestUnknownServiceAsAnAnswer(t *testing.T) {
	t.Parallel()
	server := startServer(t, t.TempDir(), "status=a:SERVICE_UNKNOWN")
	addr, _ := startBridge(t, "-addr="+server.Addr)
	says(t, client(t, addr), "a", "SERVICE_UNKNOWN")
	says(t, client(t, addr), "b", codes.NotFound.String())
}

// A call whose request is cut off, or too slow, ends, and the connection goes on.
func TestDeadlineOfAnotherCallerIsHisOwn(t *testing.T) {
	t.Parallel()
	server := &slowServer{wait: func(ctx context.Context, service string) {
		if service == "hung" {
			<-ctx.Done()
		}
	}}
	server.start(t)
	defer server.stop()
	addr, _ := startBridge(t, "-addr="+server.addr)
	asked := client(t, addr)
	for range 3 * maxStreams {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		_, err := asked.Check(ctx, &healthpb.HealthCheckRequest{Service: "hung"})
		cancel()
		if status.Code(err) != codes.DeadlineExceeded {
			t.Errorf("a call that hangs is %v", err)
		}
		says(t, asked, "", "SERVING")
	}
}

// A server that repeats the metadata of a call does not make the bridge tell it to anybody.
func TestNoSecretIsTold(t *testing.T) {
	t.Parallel()
	const secret = "s3cr3t-t0ken+/ value"
	server := startServer(t, t.TempDir(), "health=echoes")
	addr, log := startBridge(t, "-addr="+server.Addr, "-rpc-header=x-token: "+secret)
	text, _ := get(t, "http://"+addr+readyPage)
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+addr+readyPage, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Accept", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	inJSON, err := io.ReadAll(response.Body)
	if err := errors.Join(err, response.Body.Close()); err != nil {
		t.Fatal(err)
	}
	for what, said := range map[string]string{"page": text, "JSON": string(inJSON), "log": log.String()} {
		if !strings.Contains(said, "x-token [hidden]") {
			t.Errorf("the %s does not have what the server said: %q", what, said)
		}
		for _, form := range []string{
			secret, "s3cr3t", url.QueryEscape(secret), base64.StdEncoding.EncodeToString([]byte("x-token=" + secret)),
		} {
			if strings.Contains(said, form) {
				t.Errorf("the %s has %q: %q", what, form, said)
			}
		}
	}
}
