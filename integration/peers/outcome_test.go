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

// check runs both probes on one server, and has a bridge ask it.
func (r row) check(t *testing.T, server, address string) {
	if r.as != "" {
		server = r.as
	}
	flags := slices.Concat([]string{"-addr=" + address}, tlsFlags(server), strings.Fields(r.flags))
	var ofLean, ofFull outcome
	var both sync.WaitGroup
	both.Go(func() { ofLean = r.probe(t, lean, flags) })
	both.Go(func() { ofFull = r.probe(t, full, flags) })
	if r.noBridge == "" {
		asked := startBridge(t, flags)
		ofBridge := r.page(t, asked)
		both.Wait()
		ofLean.wantSame(t, r.exit, "bridge", ofBridge)
		r.wantChecks(t, asked, ofLean)
	}
	both.Wait()
	ofLean.wantSame(t, r.exit, "full", ofFull)
}

// wantSame fails the test unless this outcome, of lean, and another have the exit code and the same words.
func (o outcome) wantSame(t *testing.T, exit int, name string, other outcome) {
	t.Helper()
	if o.exit != exit || other.exit != exit || !reflect.DeepEqual(o.said, other.said) {
		t.Errorf("want exit code %d and the same words\nlean: %d\n%s\n%s: %d\n%s", exit, o.exit, o.text, name,
			other.exit, other.text)
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

// outcome is what a probe left behind, or a bridge in its place: its exit code and what it said, as text and decoded.
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

// environment has deadlines so long that a busy machine changes no outcome.
func environment() []string {
	return append(os.Environ(), "GRPC_HEALTH_PROBE_CONNECT_TIMEOUT=30s", "GRPC_HEALTH_PROBE_RPC_TIMEOUT=30s")
}

// probe runs one probe.
func (r row) probe(t *testing.T, program string, flags []string) outcome {
	t.Helper()
	var text bytes.Buffer
	cmd := exec.CommandContext(t.Context(), program, slices.Concat([]string{"-o=json"}, flags)...)
	cmd.Env = environment()
	cmd.Stdout, cmd.Stderr = &text, &text
	if err := cmd.Run(); cmd.ProcessState == nil {
		t.Error(err)
		return outcome{}
	}
	o := outcome{exit: cmd.ProcessState.ExitCode(), text: text.String()}
	r.decode(t, &o)
	return o
}

// decode decodes the text, a line of JSON or, of a probe that watches, several.
func (r row) decode(t *testing.T, o *outcome) {
	t.Helper()
	for lines := json.NewDecoder(strings.NewReader(o.text)); ; {
		var l line
		if err := lines.Decode(&l); err == io.EOF {
			return
		} else if err != nil {
			t.Errorf("decoding: %v\n%s", err, o.text)
			return
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
