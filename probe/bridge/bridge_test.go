package bridge

import (
	"bytes"
	"context"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"

	"github.com/grpc-cnb/health-probe/probe/bridge/bridgeflags"
	"github.com/grpc-cnb/health-probe/probe/bridge/linelog"
	"github.com/grpc-cnb/health-probe/probe/check"
	"github.com/grpc-cnb/health-probe/probe/probetest"
)

// hangs is how long a test waits for what has to happen.
const hangs = time.Minute

// safeLog is a log that can be read while it is written.
type safeLog struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *safeLog) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

func (l *safeLog) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// startServer runs a server with options of probetest until the test ends.
func startServer(t *testing.T, dir string, words ...string) *probetest.Server {
	t.Helper()
	server, err := probetest.StartWith("server", dir, words...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Close)
	return server
}

// patient are flags that give the server more time than it needs on a busy machine.
var patient = []string{"-connect-timeout=10s", "-rpc-timeout=10s"}

// startBridge runs a bridge with flags until the test ends, and returns its address.
func startBridge(t *testing.T, words ...string) (addr string, log *safeLog) {
	t.Helper()
	f, _, err := bridgeflags.Read(slices.Concat(patient, words), check.LookUpPort, false)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error)
	log = &safeLog{}
	go func() { ended <- serve(ctx, newTarget(f), listener, linelog.New(log, "")) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Errorf("serving: %v", err)
		}
	})
	return listener.Addr().String(), log
}

// client returns a client of the bridge that is closed when the test ends.
func client(t *testing.T, addr string) healthpb.HealthClient {
	t.Helper()
	conn, err := grpc.NewClient("passthrough:///"+addr, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return healthpb.NewHealthClient(conn)
}

// says fails the test unless the bridge has this answer: the name of a status, or of a code.
func says(t *testing.T, asked healthpb.HealthClient, service, want string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), hangs)
	defer cancel()
	answer, err := asked.Check(ctx, &healthpb.HealthCheckRequest{Service: service})
	got := answer.GetStatus().String()
	if err != nil {
		got = status.Code(err).String()
	}
	if got != want {
		t.Errorf("%.20q is %s (%v), want %s", service, got, err, want)
	}
}

// finds waits until a test is true.
func finds(t *testing.T, what string, isTrue func() bool) {
	t.Helper()
	findsWithin(t, hangs, what, isTrue)
}

func findsWithin(t *testing.T, limit time.Duration, what string, isTrue func() bool) {
	t.Helper()
	for end := time.Now().Add(limit); !isTrue(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("waiting for %s", what)
		}
	}
}

func TestServicesOfTheBridge(t *testing.T) {
	t.Parallel()
	server := startServer(t, t.TempDir(), "status=:NOT_SERVING", "status=a:SERVING", "status=b:NOT_SERVING")
	asked := func(flags ...string) healthpb.HealthClient {
		addr, _ := startBridge(t, append(flags, "-addr="+server.Addr)...)
		return client(t, addr)
	}
	whole := asked()
	for service, want := range map[string]string{
		"": "NOT_SERVING", "ready": "NOT_SERVING", "live": "SERVING", "a": "SERVING", "b": "NOT_SERVING",
		"none": codes.NotFound.String(), strings.Repeat("x", maxService): codes.NotFound.String(),
		strings.Repeat("x", maxService+1): codes.InvalidArgument.String(),
		strings.Repeat("x", maxRequest):   codes.ResourceExhausted.String(),
	} {
		says(t, whole, service, want)
	}
	several := asked("-service=a,b")
	says(t, several, "", "NOT_SERVING")
	says(t, several, "a", "SERVING")
	says(t, several, "live", "SERVING")
	says(t, asked("-service=a"), "ready", "SERVING")
	says(t, asked("-all"), "", "NOT_SERVING")
	says(t, asked("-all"), "live", "SERVING")
	says(t, asked("-mode=live"), "", "SERVING")
	says(t, asked("-mode=live"), "ready", "NOT_SERVING")
	says(t, asked("-mode=connect"), "", "SERVING")
	listed, err := several.List(t.Context(), &healthpb.HealthListRequest{})
	if err != nil {
		t.Fatal(err)
	}
	for service, want := range map[string]string{
		"": "NOT_SERVING", "ready": "NOT_SERVING", "live": "SERVING", "a": "SERVING", "b": "NOT_SERVING",
	} {
		if got := listed.GetStatuses()[service].GetStatus().String(); got != want {
			t.Errorf("%q is listed as %s, want %s", service, got, want)
		}
	}
}

func TestWatchSendsEachChange(t *testing.T) {
	t.Parallel()
	server := startServer(t, t.TempDir())
	addr, _ := startBridge(t, "-addr="+server.Addr)
	watched, err := client(t, addr).Watch(t.Context(), &healthpb.HealthCheckRequest{})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []healthpb.HealthCheckResponse_ServingStatus{
		healthpb.HealthCheckResponse_SERVING, healthpb.HealthCheckResponse_NOT_SERVING,
		healthpb.HealthCheckResponse_SERVING,
	} {
		server.Health.SetServingStatus("", want)
		answer, err := watched.Recv()
		if err != nil || answer.GetStatus() != want {
			t.Fatalf("watched %v, %v; want %v", answer.GetStatus(), err, want)
		}
	}
}

// Certificates and headers that are mounted count as they are now, also while a connection is kept.
func TestFilesAreReadAgain(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	server := startServer(t, dir, "san=127.0.0.1", "clientauth=required", "header=token:right")
	token, ca := filepath.Join(dir, "token"), filepath.Join(dir, "ca.pem")
	write := func(path, text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(token, "right")
	addr, _ := startBridge(t, "-addr="+server.Addr, "-tls", "-tls-ca-cert="+ca, "-rpc-header-file=token="+token,
		"-tls-client-cert="+filepath.Join(dir, "client.pem"), "-tls-client-key="+filepath.Join(dir, "client-key.pem"))
	asked := client(t, addr)
	right, err := os.ReadFile(ca)
	if err != nil {
		t.Fatal(err)
	}
	other := t.TempDir()
	startServer(t, other, "san=127.0.0.1")
	wrong, err := os.ReadFile(filepath.Join(other, "ca.pem"))
	if err != nil {
		t.Fatal(err)
	}
	says(t, asked, "", "SERVING")
	write(token, "wrong")
	says(t, asked, "", "NOT_SERVING")
	write(token, "right")
	says(t, asked, "", "SERVING")
	write(ca, string(wrong))
	says(t, asked, "", "NOT_SERVING")
	write(ca, "")
	says(t, asked, "", "NOT_SERVING")
	write(ca, string(right))
	says(t, asked, "", "SERVING")
}

func TestLogHasEachChangeOnce(t *testing.T) {
	t.Parallel()
	server := startServer(t, t.TempDir())
	addr, log := startBridge(t, "-addr="+server.Addr)
	asked := client(t, addr)
	for _, status := range []healthpb.HealthCheckResponse_ServingStatus{1, 1, 2, 2, 2, 1} {
		server.Health.SetServingStatus("", status)
		says(t, asked, "", status.String())
		says(t, asked, "made-up", codes.NotFound.String())
	}
	server.Close()
	for range 3 {
		says(t, asked, "", "NOT_SERVING")
		says(t, asked, "live", "NOT_SERVING")
	}
	want := "listening on " + addr + `, asking "` + server.Addr + `"
ready: status: SERVING
ready: error: checking the whole server: status is NOT_SERVING
ready: status: SERVING
ready: error: connecting to "` + server.Addr + `": connection refused
ready: hint: nothing listens there: is the server up, and is this the address of its gRPC port?
live: error: connecting to "` + server.Addr + `": connection refused
live: hint: nothing listens there: is the server up, and is this the address of its gRPC port?
`
	finds(t, "the last line of the log", func() bool { return strings.Count(log.String(), "\n") >= 8 })
	if got := log.String(); got != want {
		t.Errorf("log is\n%s\nwant\n%s", got, want)
	}
}
