package peers

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
)

// check runs both probes on one server.
func (r row) check(t *testing.T, server, address string) {
	if r.as != "" {
		server = r.as
	}
	flags := slices.Concat([]string{"-addr=" + address}, tlsFlags(server), strings.Fields(r.flags))
	var ofLean, ofFull outcome
	var both sync.WaitGroup
	both.Go(func() { ofLean = r.outcome(t, lean, flags) })
	both.Go(func() { ofFull = r.outcome(t, full, flags) })
	both.Wait()
	if ofLean.exit != r.exit || ofFull.exit != r.exit || !reflect.DeepEqual(ofLean.said, ofFull.said) {
		t.Errorf("want exit code %d and the same words\nlean: %d\n%s\nfull: %d\n%s", r.exit, ofLean.exit, ofLean.text,
			ofFull.exit, ofFull.text)
	}
}

// tlsFlags are the flags for servers of a name.
func tlsFlags(server string) []string {
	flags := []string{"-tls", "-tls-ca-cert=" + certPath, "-tls-client-cert=" + certPath, "-tls-client-key=" + keyPath}
	switch server {
	case "mtls":
		return flags
	case "tls":
		return flags[:2]
	}
	return nil
}

// outcome is what a probe left behind: its exit code and what it said, as text and decoded.
type outcome struct {
	exit int
	text string
	said []line
}

// line is a line of the probe's, in JSON, without how long things took.
type line struct {
	Outcome, Class, Error, Hint string
	ExitCode                    int `json:"exit_code"`
	Service, Status             string
	Services                    []line
}

// outcome runs one probe.
func (r row) outcome(t *testing.T, program string, flags []string) outcome {
	t.Helper()
	var text bytes.Buffer
	cmd := exec.CommandContext(t.Context(), program, slices.Concat([]string{"-o=json"}, flags)...)
	// Long, so that a busy machine changes no outcome.
	cmd.Env = append(os.Environ(), "GRPC_HEALTH_PROBE_CONNECT_TIMEOUT=30s", "GRPC_HEALTH_PROBE_RPC_TIMEOUT=30s")
	cmd.Stdout, cmd.Stderr = &text, &text
	if err := cmd.Run(); cmd.ProcessState == nil {
		t.Error(err)
		return outcome{}
	}
	o := outcome{exit: cmd.ProcessState.ExitCode(), text: text.String()}
	for lines := json.NewDecoder(&text); ; {
		var l line
		if err := lines.Decode(&l); err == io.EOF {
			return o
		} else if err != nil {
			t.Errorf("decoding what %s says: %v\n%s", program, err, o.text)
			return o
		}
		if r.ownWords {
			l.dropWords()
		}
		o.said = append(o.said, l)
	}
}

// dropWords drops what is after the code of a gRPC error: "checking service "a": NOT_FOUND: dropped".
func (l *line) dropWords() {
	l.Error = strings.Join(strings.SplitN(l.Error, ": ", 3)[:2], ": ")
	for i, service := range l.Services {
		l.Services[i].Error, _, _ = strings.Cut(service.Error, ": ")
	}
}
