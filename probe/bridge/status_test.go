package bridge

import (
	"context"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"
)

// codeOf calls a path as load balancers do, which look at the gRPC status alone. A healthy answer has a message,
// without which a client would not take it for one.
func codeOf(t *testing.T, addr, path string) codes.Code {
	t.Helper()
	conn, err := grpc.NewClient("passthrough:///"+addr, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	ctx, cancel := context.WithTimeout(t.Context(), hangs)
	defer cancel()
	return status.Code(conn.Invoke(ctx, path, &healthpb.HealthCheckRequest{}, &healthpb.HealthCheckResponse{}))
}

// A call of a page has the status OK if the page is 200, and UNAVAILABLE if it is 503. Nothing else has OK or
// UNIMPLEMENTED, which some load balancers take for a sign of health.
func TestStatusOfPagesByGRPC(t *testing.T) {
	t.Parallel()
	server := startServer(t, t.TempDir())
	addr, _ := startBridge(t, "-addr="+server.Addr)
	wants := func(ready, live codes.Code) {
		t.Helper()
		for path, want := range map[string]codes.Code{
			healthPage: ready, readyPage: ready, livePage: live,
			"/AWS.ALB/healthcheck": codes.NotFound, metricsPage: codes.NotFound, readyPage + "@other": codes.NotFound,
		} {
			if got := codeOf(t, addr, path); got != want {
				t.Errorf("the status of %s is %v, want %v", path, got, want)
			}
		}
	}
	wants(codes.OK, codes.OK)
	server.Health.SetServingStatus("", healthpb.HealthCheckResponse_NOT_SERVING)
	wants(codes.Unavailable, codes.OK)
	server.Close()
	wants(codes.Unavailable, codes.Unavailable)
}

// A call of a page may come without a message, with the end of the stream in its head.
func TestCallOfPageWithoutMessage(t *testing.T) {
	t.Parallel()
	server := startServer(t, t.TempDir())
	addr, _ := startBridge(t, "-addr="+server.Addr)
	protocols := new(http.Protocols)
	protocols.SetUnencryptedHTTP2(true)
	c := http.Client{Transport: &http.Transport{Protocols: protocols}, Timeout: hangs}
	response, err := c.Post("http://"+addr+readyPage, "application/grpc", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if _, err := io.Copy(io.Discard, response.Body); err != nil {
		t.Fatal(err)
	}
	if got := response.Trailer.Get("Grpc-Status"); got != "0" {
		t.Errorf("the status is %q", got)
	}
}

// A bridge that has a name answers for this name alone: a probe that reaches the bridge of another pod fails, and says
// why. So does a probe with a name that reaches a bridge without one, whatever its server answers.
func TestBridgeWithName(t *testing.T) {
	t.Parallel()
	server := startServer(t, t.TempDir(), "status=a:SERVING")
	named, _ := startBridge(t, "-addr="+server.Addr, "-name=orders", "-service=a")
	unnamed, _ := startBridge(t, "-addr="+server.Addr)
	for name, want := range map[string]string{
		"@orders": "SERVING", "ready@orders": "SERVING", "live@orders": "SERVING", "a@orders": "SERVING",
		"": "NotFound", "ready": "NotFound", "a": "NotFound", "ready@users": "NotFound", "ready@": "NotFound",
		"ready@orders@users": "NotFound", "b@orders": "NotFound",
	} {
		says(t, client(t, named), name, want)
	}
	says(t, client(t, unnamed), "live@orders", "NotFound")
	for path, want := range map[string]string{
		readyPage + "@orders": "200", readyPage + "@orders?a=b": "200", readyPage: "404", livePage + "@users": "404",
		metricsPage: "200", checkPath + "@orders": "404",
	} {
		if got := getFrom(t, "127.0.0.1", "http://"+named+path); !strings.HasPrefix(got, want) {
			t.Errorf("GET %s is %s, want %s", path, got, want)
		}
	}
	if got := codeOf(t, named, readyPage+"@orders"); got != codes.OK {
		t.Errorf("a call of the named page is %v", got)
	}
	_, err := client(t, named).Check(t.Context(), &healthpb.HealthCheckRequest{Service: "ready"})
	want := `the bridge on this port is named "orders", and answers for @orders only: is it another pod's?`
	if got := status.Convert(err).Message(); got != want {
		t.Errorf("the message is %q, want %q", got, want)
	}
	list, err := client(t, named).List(t.Context(), &healthpb.HealthListRequest{})
	if err != nil {
		t.Fatal(err)
	}
	if got := list.GetStatuses()["a@orders"].GetStatus(); got != healthpb.HealthCheckResponse_SERVING {
		t.Errorf("the list is %v", list)
	}
}

// The page of metrics counts what callers were answered and what the server was asked. It is in OpenMetrics' format,
// and names no service that a caller has made up.
func TestMetrics(t *testing.T) {
	t.Parallel()
	server := startServer(t, t.TempDir())
	addr, _ := startBridge(t, "-addr="+server.Addr)
	for range 3 {
		says(t, client(t, addr), "", "SERVING")
	}
	says(t, client(t, addr), "made-up", codes.NotFound.String())
	server.Health.SetServingStatus("", healthpb.HealthCheckResponse_NOT_SERVING)
	get(t, "http://"+addr+readyPage)
	text, _ := get(t, "http://"+addr+metricsPage)
	seconds := regexp.MustCompile(`_sum [0-9.e-]+\n`)
	if got := seconds.ReplaceAllString(text, "_sum SECONDS\n"); got != wantMetrics {
		t.Errorf("the page is\n%s\nwant\n%s", got, wantMetrics)
	}
}

const wantMetrics = `# TYPE grpc_health_bridge_answers counter
# HELP grpc_health_bridge_answers Answers to callers.
grpc_health_bridge_answers_total{status="UNKNOWN"} 0
grpc_health_bridge_answers_total{status="SERVING"} 3
grpc_health_bridge_answers_total{status="NOT_SERVING"} 1
grpc_health_bridge_answers_total{status="SERVICE_UNKNOWN"} 1
# TYPE grpc_health_bridge_server_check_seconds summary
# HELP grpc_health_bridge_server_check_seconds Checks of the server, and how long they took.
grpc_health_bridge_server_check_seconds_count 5
grpc_health_bridge_server_check_seconds_sum SECONDS
# TYPE grpc_health_bridge_closed_connections counter
# HELP grpc_health_bridge_closed_connections Connections closed because of -allow, or to make room for a newer one.
grpc_health_bridge_closed_connections_total{reason="not_allowed"} 0
grpc_health_bridge_closed_connections_total{reason="limit"} 0
# TYPE grpc_health_bridge_dropped_log_lines counter
# HELP grpc_health_bridge_dropped_log_lines Lines that the log did not take in time.
grpc_health_bridge_dropped_log_lines_total 0
# EOF
`

// No cache between a caller and the bridge may keep a page.
func TestPagesAreNotStored(t *testing.T) {
	t.Parallel()
	server := startServer(t, t.TempDir())
	addr, _ := startBridge(t, "-addr="+server.Addr)
	for _, path := range []string{readyPage, livePage, healthPage, metricsPage, "/nothing"} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+addr+path, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		response, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(request)
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
		for name, want := range map[string]string{"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"} {
			if got := response.Header.Get(name); got != want {
				t.Errorf("%s has %s: %q, want %q", path, name, got, want)
			}
		}
	}
}
