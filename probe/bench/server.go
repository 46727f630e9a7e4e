package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"

	"github.com/grpc-cnb/health-probe/probe/probetest"
)

// serveCommand makes this program the server; the argument is the folder for the CA. The server is a separate process,
// so that server and measurement do not share a runtime.
const serveCommand = "serve"

// protocol is a way to speak to the server.
type protocol struct {
	Name  string
	Flags []string // of the probe
}

// args returns the command line of a probe. The timeouts are long: under a limit of CPU time a second may not be
// enough, and a failure would tell nothing about the cost.
func (p protocol) args() []string {
	return append([]string{"-connect-timeout=20s", "-rpc-timeout=20s"}, p.Flags...)
}

// serve runs healthy grpc-go servers, in plaintext and with TLS, until standard input ends, and prints the protocols as
// JSON.
func serve(dir string) error {
	plain, err := probetest.StartWith("plaintext", dir)
	if err != nil {
		return err
	}
	secure, err := probetest.StartWith("TLS", dir, "san=127.0.0.1")
	if err != nil {
		return err
	}
	err = json.NewEncoder(os.Stdout).Encode([]protocol{
		{"plaintext", []string{"-addr=" + plain.Addr}},
		{"TLS", []string{"-addr=" + secure.Addr, "-tls", "-tls-ca-cert=" + filepath.Join(dir, "ca.pem")}},
	})
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}

// server is a running server.
type server struct {
	protocols []protocol
	stop      func()
}

func startServer(dir string) (*server, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	command := pinned(self, serveCommand, dir)
	command.Stderr = os.Stderr
	stdin, err := command.StdinPipe()
	if err != nil {
		return nil, err
	}
	stdout, err := command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := command.Start(); err != nil {
		return nil, err
	}
	s := &server{stop: func() { _ = stdin.Close(); _ = command.Wait() }}
	if err := json.NewDecoder(stdout).Decode(&s.protocols); err != nil {
		s.stop()
		return nil, fmt.Errorf("reading its addresses: %w", err)
	}
	return s, nil
}

// pinned returns a command that runs on the last processor only, if there are several and taskset of util-linux is
// installed. Otherwise the server would move between processors, which shows in the wall time. The measured programs
// are not pinned, since the runtime of Go adapts to the allowed processors.
func pinned(name string, args ...string) *exec.Cmd {
	if taskset, err := exec.LookPath("taskset"); err == nil && runtime.NumCPU() > 1 {
		name, args = taskset, append([]string{"-c", strconv.Itoa(runtime.NumCPU() - 1), name}, args...)
	}
	return exec.Command(name, args...)
}
