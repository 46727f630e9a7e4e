package probetest

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Effect is two command lines with a difference in one flag alone. A program must not do the same for both, against
// equal servers. $ADDR is the server's address, and $DIR the folder with the server's certificates and a file token.
type Effect struct {
	// Server has the options of the server, as in scripts.
	Server string
	// Flags are on both command lines, With and Without on one command line each.
	Flags, With, Without string
}

// Effects has a row for each flag of the probe.
var Effects = map[string]Effect{
	"addr":       {With: "-addr=$ADDR"},
	"discover":   {Flags: "-rpc-header-file=a=$DIR/none", With: "-discover"}, // asks no server of another test
	"service":    {Server: "status=a:NOT_SERVING", Flags: "-addr=$ADDR", With: "-service=a"},
	"all":        {Server: "status=a:NOT_SERVING", Flags: "-addr=$ADDR", With: "-all"},
	"mode":       {Server: "status=:NOT_SERVING", Flags: "-addr=$ADDR", With: "-mode=live"},
	"watch":      {Flags: "-addr=$ADDR -timeout=3s", With: "-watch"},
	"wait":       {Flags: "-addr=127.0.0.1:1", With: "-wait=50ms"},
	"timeout":    {Server: "health=hangs", Flags: "-addr=$ADDR", With: "-timeout=2s", Without: "-timeout=3s"},
	"o":          {Flags: "-addr=$ADDR", With: "-o=json"},
	"user-agent": {Flags: "-addr=$ADDR", With: "-user-agent=a"},
	"connect-timeout": {
		Server: "speaks=silence", Flags: "-addr=$ADDR",
		With: "-connect-timeout=2s", Without: "-connect-timeout=3s",
	},
	"rpc-timeout": {
		Server: "health=hangs", Flags: "-addr=$ADDR",
		With: "-rpc-timeout=2s", Without: "-rpc-timeout=3s",
	},
	"rpc-header":      {Flags: "-addr=$ADDR", With: "-rpc-header=a:b"},
	"rpc-header-file": {Flags: "-addr=$ADDR", With: "-rpc-header-file=a=$DIR/token"},
	"tls":             {Server: "san=127.0.0.1", Flags: "-addr=$ADDR", With: "-tls"},
	"tls-no-verify":   {Server: "san=127.0.0.1", Flags: "-addr=$ADDR -tls", With: "-tls-no-verify"},
	"tls-ca-cert":     {Server: "san=127.0.0.1", Flags: "-addr=$ADDR -tls", With: "-tls-ca-cert=$DIR/ca.pem"},
	"tls-client-cert": {
		Server: "san=127.0.0.1 clientauth=required",
		Flags:  "-addr=$ADDR -tls -tls-no-verify -tls-client-key=$DIR/client-key.pem",
		With:   "-tls-client-cert=$DIR/client.pem", Without: "-tls-client-cert=$DIR/ca.pem",
	},
	"tls-client-key": {
		Server: "san=127.0.0.1 clientauth=required",
		Flags:  "-addr=$ADDR -tls -tls-no-verify -tls-client-cert=$DIR/client.pem",
		With:   "-tls-client-key=$DIR/client-key.pem", Without: "-tls-client-key=$DIR/ca.pem",
	},
	"tls-server-name": {
		Server: "san=a.example", Flags: "-addr=$ADDR -tls -tls-ca-cert=$DIR/ca.pem",
		With: "-tls-server-name=a.example",
	},
	"authority": {
		Server: "san=a.example", Flags: "-addr=$ADDR -tls -tls-ca-cert=$DIR/ca.pem", With: "-authority=a.example",
	},
	"alts":    {Flags: "-addr=$ADDR", With: "-alts"},
	"spiffe":  {Flags: "-addr=$ADDR", With: "-spiffe"},
	"gzip":    {Flags: "-addr=$ADDR", With: "-gzip"},
	"v":       {Flags: "-addr=$ADDR", With: "-v"},
	"version": {Flags: "-addr=$ADDR", With: "-version"},
}

// WantEffect fails the test if the flag makes no difference to a program. run runs the program with the words of a
// command line, and returns everything noticeable about the run.
func (e Effect) WantEffect(t *testing.T, flag string, run func(words []string) string) {
	t.Helper()
	for _, words := range []string{e.With, e.Without} {
		if name, _, _ := strings.Cut(words, "="); name != "-"+flag && words != "" {
			t.Errorf("-%s: %q is another flag", flag, words)
		}
	}
	with, without := e.notice(t, e.With, run), e.notice(t, e.Without, run)
	if again := e.notice(t, e.Without, run); again != without {
		t.Errorf("with %q it differs from one time to the next:\n%s\n%s", e.Without, without, again)
	}
	if with == without {
		t.Errorf("-%s changes nothing: with %q and with %q it is\n%s", flag, e.With, e.Without, with)
	}
}

// notice runs a program against a new server, and returns everything noticeable, including what the server has seen.
func (e Effect) notice(t *testing.T, words string, run func(words []string) string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "token"), []byte("s3cret"), 0o600); err != nil {
		t.Fatal(err)
	}
	server, err := StartWith("server", dir, strings.Fields(e.Server)...)
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	shown := strings.NewReplacer(server.Addr, "$ADDR", dir, "$DIR")
	filled := strings.NewReplacer("$ADDR", server.Addr, "$DIR", dir)
	noticed := run(strings.Fields(filled.Replace(e.Flags + " " + words)))
	seen := strings.Split(server.Seen(), "\n")
	seen = slices.DeleteFunc(seen, func(line string) bool { // the port, and the rest of -rpc-timeout
		return strings.HasPrefix(line, ":authority") || strings.HasPrefix(line, "grpc-timeout")
	})
	return shown.Replace(noticed + strings.Join(seen, "\n"))
}

// PatientEnv is an environment in which neither a busy machine nor the machine's servers, for a probe without an
// address, change the outcome.
func PatientEnv() []string {
	return append(os.Environ(), "GRPC_HEALTH_PROBE_CONNECT_TIMEOUT=1m", "GRPC_HEALTH_PROBE_RPC_TIMEOUT=1m",
		"GRPC_HEALTH_PROBE_DISCOVER=false")
}
