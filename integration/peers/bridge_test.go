package peers

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net/http"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"
)

// maxService is the longest name of a service that a bridge takes from its callers, in bytes.
const maxService = 256

// startBridge runs a bridge with flags until the end of the test, and returns where it answers.
func startBridge(t *testing.T, flags []string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), bridge, append([]string{"-listen=127.0.0.1:0"}, flags...)...)
	cmd.Env = environment()
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	run(t, cmd)
	log := bufio.NewReader(stderr)
	line, err := log.ReadString('\n')
	found := regexp.MustCompile(`^listening on (\S+), asking `).FindStringSubmatch(line)
	if err != nil || found == nil {
		t.Fatalf("the first line of the bridge's log is %q: %v", line, err)
	}
	go func() { _, _ = io.Copy(io.Discard, log) }() // a full pipe would stop the bridge
	return found[1]
}

// page gets what a bridge says by HTTP, which is what a probe prints, and the exit code that a probe has.
func (r row) page(t *testing.T, address string) outcome {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+address+"/healthz", http.NoBody)
	if err != nil {
		t.Error(err)
		return outcome{}
	}
	request.Header.Set("Accept", "application/json")
	response, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(request)
	if err != nil {
		t.Error(err)
		return outcome{}
	}
	defer response.Body.Close()
	var body bytes.Buffer
	if _, err := body.ReadFrom(response.Body); err != nil {
		t.Error(err)
	}
	o := outcome{text: body.String()}
	r.decode(t, &o)
	if len(o.said) == 1 {
		o.exit = o.said[0].ExitCode
	}
	if healthy := response.StatusCode == http.StatusOK; healthy != (o.exit == 0) {
		t.Errorf("HTTP status is %s for\n%s", response.Status, o.text)
	}
	return o
}

// wantChecks calls Health/Check of a bridge: for what its flags ask for, and by the name of the service if they name
// one. The status has to be that of the probe's outcome.
func (r row) wantChecks(t *testing.T, address string, probed outcome) {
	t.Helper()
	conn, err := grpc.NewClient("passthrough:///"+address, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	want := healthpb.HealthCheckResponse_NOT_SERVING.String()
	if probed.exit == 0 {
		want = healthpb.HealthCheckResponse_SERVING.String()
	}
	wantCheck(t, conn, "", want)
	service, ok := strings.CutPrefix(r.flags, "-service=")
	if !ok || strings.ContainsAny(service, ", ") || len(service) > maxService {
		return
	}
	if strings.Contains(probed.text, "NOT_FOUND") {
		want = codes.NotFound.String()
	}
	wantCheck(t, conn, service, want)
}

func wantCheck(t *testing.T, conn *grpc.ClientConn, service, want string) {
	t.Helper()
	answer, err := healthpb.NewHealthClient(conn).Check(context.Background(),
		&healthpb.HealthCheckRequest{Service: service})
	got := answer.GetStatus().String()
	if err != nil {
		got = status.Code(err).String()
	}
	if got != want {
		t.Errorf("by gRPC, the bridge says of %.20q %s (%v), want %s", service, got, err, want)
	}
}
