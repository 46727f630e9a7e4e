package probe_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/grpc-cnb/health-probe/probe/flags"
	"github.com/grpc-cnb/health-probe/probe/probetest"
)

// effect is two command lines that differ in one flag alone, and for which a probe must not do the same against equal
// servers. $ADDR is the server's address, and $DIR the folder with its certificates, which also has a file token.
type effect struct {
	// server has the options of the server, as in scripts.
	server string
	// flags are on both command lines, with and without on one of them.
	flags, with, without string
}

// effects has a row for each flag.
var effects = map[string]effect{
	"addr":       {with: "-addr=$ADDR"},
	"service":    {server: "status=a:NOT_SERVING", flags: "-addr=$ADDR", with: "-service=a"},
	"all":        {server: "status=a:NOT_SERVING", flags: "-addr=$ADDR", with: "-all"},
	"mode":       {server: "status=:NOT_SERVING", flags: "-addr=$ADDR", with: "-mode=live"},
	"watch":      {flags: "-addr=$ADDR -timeout=3s", with: "-watch"},
	"wait":       {flags: "-addr=127.0.0.1:1", with: "-wait=50ms"},
	"timeout":    {server: "health=hangs", flags: "-addr=$ADDR", with: "-timeout=2s", without: "-timeout=3s"},
	"o":          {flags: "-addr=$ADDR", with: "-o=json"},
	"user-agent": {flags: "-addr=$ADDR", with: "-user-agent=a"},
	"connect-timeout": {
		server: "speaks=silence", flags: "-addr=$ADDR",
		with: "-connect-timeout=2s", without: "-connect-timeout=3s",
	},
	"rpc-timeout": {
		server: "health=hangs", flags: "-addr=$ADDR",
		with: "-rpc-timeout=2s", without: "-rpc-timeout=3s",
	},
	"rpc-header":      {flags: "-addr=$ADDR", with: "-rpc-header=a:b"},
	"rpc-header-file": {flags: "-addr=$ADDR", with: "-rpc-header-file=a=$DIR/token"},
	"tls":             {server: "san=127.0.0.1", flags: "-addr=$ADDR", with: "-tls"},
	"tls-no-verify":   {server: "san=127.0.0.1", flags: "-addr=$ADDR -tls", with: "-tls-no-verify"},
	"tls-ca-cert":     {server: "san=127.0.0.1", flags: "-addr=$ADDR -tls", with: "-tls-ca-cert=$DIR/ca.pem"},
	"tls-client-cert": {
		server: "san=127.0.0.1 clientauth=required",
		flags:  "-addr=$ADDR -tls -tls-no-verify -tls-client-key=$DIR/client-key.pem",
		with:   "-tls-client-cert=$DIR/client.pem", without: "-tls-client-cert=$DIR/ca.pem",
	},
	"tls-client-key": {
		server: "san=127.0.0.1 clientauth=required",
		flags:  "-addr=$ADDR -tls -tls-no-verify -tls-client-cert=$DIR/client.pem",
		with:   "-tls-client-key=$DIR/client-key.pem", without: "-tls-client-key=$DIR/ca.pem",
	},
	"tls-server-name": {
		server: "san=a.example", flags: "-addr=$ADDR -tls -tls-ca-cert=$DIR/ca.pem",
		with: "-tls-server-name=a.example",
	},
	"alts":    {flags: "-addr=$ADDR", with: "-alts"},
	"spiffe":  {flags: "-addr=$ADDR", with: "-spiffe"},
	"gzip":    {flags: "-addr=$ADDR", with: "-gzip"},
	"v":       {flags: "-addr=$ADDR", with: "-v"},
	"version": {flags: "-addr=$ADDR", with: "-version"},
}

// A flag that nothing reads has no effect, and fails here by its name.
func TestEachFlagHasAnEffect(t *testing.T) {
	t.Parallel()
	for _, f := range flags.All() {
		e, ok := effects[f.Name]
		if !ok {
			t.Errorf("-%s: effects_test.go: add two command lines that differ in the flag, and in what the probe does",
				f.Name)
			continue
		}
		for _, words := range []string{e.with, e.without} {
			if name, _, _ := strings.Cut(words, "="); name != "-"+f.Name && words != "" {
				t.Errorf("-%s: effects_test.go: %q is another flag", f.Name, words)
			}
		}
		for program := range programs {
			t.Run(program+" -"+f.Name, func(t *testing.T) {
				t.Parallel()
				with, without := e.run(t, program, e.with), e.run(t, program, e.without)
				if again := e.run(t, program, e.without); again != without {
					t.Errorf("with %q it differs from one time to the next:\n%s\n%s", e.without, without, again)
				}
				if with == without {
					t.Errorf("-%s changes nothing: with %q and with %q it is\n%s", f.Name, e.with, e.without, with)
				}
			})
		}
	}
}

// run runs a program against a server of its own. It returns all that can be noticed: the exit code, what is printed
// and what the server has seen.
func (e effect) run(t *testing.T, program, words string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "token"), []byte("s3cret"), 0o600); err != nil {
		t.Fatal(err)
	}
	server, err := probetest.StartWith("server", dir, strings.Fields(e.server)...)
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	shown := strings.NewReplacer(server.Addr, "$ADDR", dir, "$DIR")
	filled := strings.NewReplacer("$ADDR", server.Addr, "$DIR", dir)
	cmd := exec.Command(program, strings.Fields(filled.Replace(e.flags+" "+words))...)
	// A machine that is busy must not change the outcome.
	cmd.Env = append(os.Environ(), "GRPC_HEALTH_PROBE_CONNECT_TIMEOUT=1m", "GRPC_HEALTH_PROBE_RPC_TIMEOUT=1m")
	out, _ := cmd.CombinedOutput() // how it ended is in the state
	seen := strings.Split(server.Seen(), "\n")
	seen = slices.DeleteFunc(seen, func(line string) bool { // the port, and what is left of -rpc-timeout
		return strings.HasPrefix(line, ":authority") || strings.HasPrefix(line, "grpc-timeout")
	})
	return shown.Replace(cmd.ProcessState.String() + "\n" + string(out) + strings.Join(seen, "\n"))
}
