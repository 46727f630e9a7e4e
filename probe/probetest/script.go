package probetest

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"strconv"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// Scripts runs the scripts in dir against program, a command of [testscript.Main]. In the scripts $PROBE is the program
// and $NL is a line break. Timeouts are a minute unless a script sets them, so that a busy machine changes no outcome.
// The scripts have the commands of testscript, and these:
//
//   - exits CODE PROGRAM [ARG...]: runs the program, and fails unless the exit code is CODE
//   - server NAME [OPTION...]: starts a server. $NAME is the address, $NAME_PORT the port; see [options]
//   - seen NAME: prints the compression, the method and the metadata of the last call
//   - connected NAME: waits for a connection to the server
//   - answered NAME: waits for the next message sent by the server
//   - status NAME SERVICE:STATUS: sets a status of the server
//   - endcalls NAME: ends the calls of Watch in progress
//   - install DIR: copies the program into the folder
func Scripts(t *testing.T, dir, program string) {
	testscript.Run(t, testscript.Params{
		UpdateScripts: os.Getenv("UPDATE_GOLDEN") != "",
		Dir:           dir,
		Setup: func(env *testscript.Env) error {
			env.Setenv("PROBE", program)
			env.Setenv("NL", "\n")
			env.Setenv("GRPC_HEALTH_PROBE_CONNECT_TIMEOUT", "1m")
			env.Setenv("GRPC_HEALTH_PROBE_RPC_TIMEOUT", "1m")
			// The probe would find the servers of other tests on this machine.
			env.Setenv("GRPC_HEALTH_PROBE_DISCOVER", "false")
			// Otherwise the race detector would delay the end of each process by a second.
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

// UseNameServer lets a program of the scripts ask the name server at $NAME_SERVER, if set, because a test cannot change
// /etc/resolv.conf.
func UseNameServer() {
	server := os.Getenv("NAME_SERVER")
	if server == "" {
		return
	}
	net.DefaultResolver = &net.Resolver{
		PreferGo: true,
		Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "udp", server)
		},
	}
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
	server, err := StartWith(name, ts.MkAbs(name), args[1:]...)
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

// install has another process copy the program. If this process wrote the file, a process started by another script at
// the same time would inherit the open file until the exec, and the kernel executes no file that is open for writing
// (ETXTBSY).
func install(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: install DIR")
	}
	path, err := exec.LookPath(ts.Getenv("PROBE"))
	ts.Check(err)
	ts.Check(os.MkdirAll(ts.MkAbs(args[0]), 0o755))
	ts.Check(exec.Command("cp", "-L", path, ts.MkAbs(args[0])).Run())
}
