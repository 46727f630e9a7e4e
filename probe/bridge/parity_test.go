package bridge

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"

	"github.com/grpc-cnb/health-probe/probe"
	"github.com/grpc-cnb/health-probe/probe/bridge/bridgeflags"
	"github.com/grpc-cnb/health-probe/probe/bridge/linelog"
	"github.com/grpc-cnb/health-probe/probe/check"
	"github.com/grpc-cnb/health-probe/probe/lean"
	"github.com/grpc-cnb/health-probe/probe/probetest"
)

// TestMain runs the programs of the scripts, each in a process of its own.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"grpc_health_bridge": func() { os.Exit(Main()) },
		"probe_by_bridge":    func() { os.Exit(probeByBridge()) },
		"bridge_attacker":    func() { os.Exit(attackMain()) },
	})
}

// The scripts of the probe pass with a bridge in the probe's place: each server, good or bad, gets the same outcome in
// the same words.
func TestOutcomesAreThoseOfTheProbe(t *testing.T) {
	t.Parallel()
	probetest.Scripts(t, "../testdata/script", "probe_by_bridge")
}

// probeByBridge is a probe that has a bridge ask the server, and prints its words. What a bridge cannot be told, and
// -v, it does as the probe that it is otherwise.
func probeByBridge() int {
	probetest.UseNameServer()
	f, text, err := bridgeflags.Read(os.Args[1:], check.LookUpPort, false)
	if text != "" || err != nil || f.Notes != nil {
		return probe.Main(lean.Transport{})
	}
	lines, code, err := askOnce(newTarget(f))
	if err != nil {
		fmt.Fprintln(os.Stderr, "asking the bridge:", err)
		return -1
	}
	for _, line := range lines {
		fmt.Fprintln(os.Stderr, line)
	}
	return code
}

// askOnce runs a bridge, and returns what the probe would print and exit with. If the server is healthy, it asks
// once more by gRPC, on the connection that is kept.
func askOnce(b target) (lines []string, code int, err error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, 0, err
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error)
	var text bytes.Buffer
	log := linelog.New(&text, "")
	go func() { ended <- serve(ctx, b, listener, log) }()
	defer func() { stop(); <-ended }()
	addr := listener.Addr().String()
	outcome, err := getPage(addr, "/healthz")
	if err != nil {
		return nil, 0, err
	}
	if outcome.Code == 0 {
		status, err := checkOnce(addr, "")
		if err != nil || status != healthpb.HealthCheckResponse_SERVING {
			return nil, 0, fmt.Errorf("by gRPC it is %v (%w)", status, err)
		}
	}
	log.Flush(hangs)
	_, after, _ := strings.Cut(text.String(), "\n")
	for line := range strings.Lines(after) {
		_, line, _ = strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
		lines = append(lines, line)
	}
	return lines, outcome.Code, nil
}

// pageOutcome is what a page says, of which the tests look at some.
type pageOutcome struct {
	Code  int    `json:"exit_code"`
	Class string `json:"class"`
}

// getPage gets a page as JSON, and checks its HTTP status.
func getPage(addr, path string) (outcome pageOutcome, err error) {
	request, err := http.NewRequest(http.MethodGet, "http://"+addr+path, http.NoBody)
	if err != nil {
		return outcome, err
	}
	request.Header.Set("Accept", "application/json")
	response, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(request)
	if err != nil {
		return outcome, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err == nil {
		err = json.Unmarshal(body, &outcome)
	}
	if want := map[bool]int{true: 200, false: 503}[outcome.Code == 0]; err == nil && response.StatusCode != want {
		err = fmt.Errorf("HTTP status is %d, want %d", response.StatusCode, want)
	}
	return outcome, err
}

// checkOnce calls Health/Check of the bridge on a connection of its own, as the kubelet does.
func checkOnce(addr, service string) (healthpb.HealthCheckResponse_ServingStatus, error) {
	conn, err := grpc.NewClient("passthrough:///"+addr, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return 0, err
	}
	defer conn.Close()
	answer, err := healthpb.NewHealthClient(conn).Check(context.Background(),
		&healthpb.HealthCheckRequest{Service: service})
	return answer.GetStatus(), err
}
