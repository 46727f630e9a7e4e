package lean_test

import (
	"bufio"
	"encoding/json"
	"io"
	"net/http"
	"os/exec"
	"regexp"
	"syscall"
	"testing"
)

// maxBridgePeak is the greatest resident memory of a bridge, in KiB, whatever the server does.
const maxBridgePeak = 24 << 10

// ask runs a bridge, asks it once, and ends it. The exit code is the one in the bridge's answer, and the output is the
// bridge's log of it: both are to be those of the probe.
func ask(t *testing.T, args ...string) exitState {
	t.Helper()
	path, err := program("grpc_health_bridge")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), path, append([]string{"-listen=127.0.0.1:0"}, args...)...)
	cmd.Env = []string{}
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	log := bufio.NewReader(stderr)
	line, err := log.ReadString('\n')
	found := regexp.MustCompile(`^listening on (\S+), asking `).FindStringSubmatch(line)
	if err != nil || found == nil {
		t.Fatalf("the first line of the bridge's log is %q: %v", line, err)
	}
	rest := make(chan string)
	go func() {
		lines, _ := io.ReadAll(log) // the end of the bridge may close the pipe first
		rest <- string(lines)
	}()
	end := exitState{exit: exitCodeOf(t, found[1]), limit: maxBridgePeak}
	if end.peak, err = peak(cmd.Process.Pid); err != nil {
		t.Errorf("reading the bridge's memory: %v", err)
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Errorf("ending the bridge: %v", err)
	}
	end.output = regexp.MustCompile(`(?m)^ready: `).ReplaceAllString(<-rest, "")
	if err := cmd.Wait(); err != nil {
		t.Errorf("the bridge ended: %v", err)
	}
	return end
}

// exitCodeOf gets the exit code in what a bridge says by HTTP, whose status has to agree.
func exitCodeOf(t *testing.T, address string) int {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+address+"/healthz", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Accept", "application/json")
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: hangs}
	response, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	var answer struct {
		ExitCode *int `json:"exit_code"`
	}
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil || answer.ExitCode == nil {
		t.Fatalf("the bridge answers with no exit code: %v", err)
	}
	want := http.StatusServiceUnavailable
	if *answer.ExitCode == 0 {
		want = http.StatusOK
	}
	if response.StatusCode != want {
		t.Errorf("HTTP status is %d for exit code %d, want %d", response.StatusCode, *answer.ExitCode, want)
	}
	return *answer.ExitCode
}
