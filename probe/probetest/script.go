package probetest

import (
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// Scripts runs the scripts in dir against program, a command of
// [testscript.Main]. In the scripts it is $PROBE, $NL is a line break, timeouts
// are a minute unless set otherwise, so that a busy machine changes no outcome,
// and beside the commands of testscript there are:
//
//   - exits CODE PROGRAM [ARG...]: runs it and wants that exit code
//   - server NAME [OPTION...]: starts a server, its address in $NAME, its port in $NAME_PORT; see [options]
//   - seen NAME: prints what the server saw of the last call
//   - connected NAME: waits for a connection to the server
//   - answered NAME: waits for the next message that the server has sent
//   - status NAME SERVICE:STATUS: sets a status of the server
//   - endcalls NAME: ends the calls of Watch in progress
//   - install DIR: copies the program there
func Scripts(t *testing.T, dir, program string) {
	testscript.Run(t, testscript.Params{
		Dir: dir,
		Setup: func(env *testscript.Env) error {
			env.Setenv("PROBE", program)
			env.Setenv("NL", "\n")
			env.Setenv("GRPC_HEALTH_PROBE_CONNECT_TIMEOUT", "1m")
			env.Setenv("GRPC_HEALTH_PROBE_RPC_TIMEOUT", "1m")
			// The race detector would keep each process for a second at its end.
			env.Setenv("GORACE", "atexit_sleep_ms=10")
			env.Values[serversKey{}] = map[string]*Server{}
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": exits, "server": startServer, "seen": seen, "connected": connected, "install": install,
			"answered": answered, "status": setStatus, "endcalls": endCalls,
		},
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
	})
}

type serversKey struct{}

func servers(ts *testscript.TestScript) map[string]*Server {
	return ts.Value(serversKey{}).(map[string]*Server)
}

func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE PROGRAM [ARG...]")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	err = ts.Exec(args[1], args[2:]...)
	if failed, ok := errors.AsType[*exec.ExitError](err); ok {
		got = failed.ExitCode()
	} else {
		ts.Check(err)
	}
	if got != want {
		ts.Fatalf("exit code is %d, not %d", got, want)
	}
}

func startServer(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: server NAME [OPTION...]")
	}
	name := args[0]
	setup, err := parseOptions(name, ts.MkAbs(name), args[1:])
	ts.Check(err)
	for _, stop := range setup.stop {
		ts.Defer(stop)
	}
	server, err := Start(setup.config)
	ts.Check(err)
	ts.Defer(server.Close)
	servers(ts)[name] = server
	ts.Setenv(name, server.Addr)
	if _, port, err := net.SplitHostPort(server.Addr); err == nil {
		ts.Setenv(name+"_PORT", port)
	}
}

func named(ts *testscript.TestScript, neg bool, args []string) *Server {
	if neg || len(args) != 1 || servers(ts)[args[0]] == nil {
		ts.Fatalf("want the name of a server")
	}
	return servers(ts)[args[0]]
}

func seen(ts *testscript.TestScript, neg bool, args []string) {
	_, err := io.WriteString(ts.Stdout(), named(ts, neg, args).Seen())
	ts.Check(err)
}

func connected(ts *testscript.TestScript, neg bool, args []string) {
	<-named(ts, neg, args).Connected
}

func answered(ts *testscript.TestScript, neg bool, args []string) {
	<-named(ts, neg, args).Answered
}

func setStatus(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: status NAME SERVICE:STATUS")
	}
	service, status, err := parseStatus(args[1])
	ts.Check(err)
	named(ts, neg, args[:1]).Health.SetServingStatus(service, status)
}

func endCalls(ts *testscript.TestScript, neg bool, args []string) {
	named(ts, neg, args).EndCalls()
}

func install(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: install DIR")
	}
	program := ts.Getenv("PROBE")
	path, err := exec.LookPath(program)
	ts.Check(err)
	binary, err := os.ReadFile(path)
	ts.Check(err)
	ts.Check(os.MkdirAll(ts.MkAbs(args[0]), 0o755))
	ts.Check(os.WriteFile(filepath.Join(ts.MkAbs(args[0]), program), binary, 0o755))
}
