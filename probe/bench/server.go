package main

import (
	"crypto/tls"
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

// serveCommand, with the folder to keep the CA in, makes this program the server: a process of its own, so that the
// measuring shares no runtime with it.
const serveCommand = "serve"

// protocol is a way to speak to the server.
type protocol struct {
	Name  string
	Flags []string // of the probe
}

// args returns the command line of a probe. Under a limit of CPU time a second may not be enough, and a failure would
// say nothing of the cost.
func (p protocol) args() []string {
	return append([]string{"-connect-timeout=20s", "-rpc-timeout=20s"}, p.Flags...)
}

// serve runs healthy grpc-go servers, in plaintext and with TLS, until standard input ends. It prints how to reach them.
func serve(dir string) error {
	plain, err := probetest.Start(probetest.Config{Network: "tcp4", Address: "127.0.0.1:0"})
	if err != nil {
		return err
	}
	certificate, ca, err := selfSigned()
	if err != nil {
		return err
	}
	caFile := filepath.Join(dir, "ca.pem")
	if err := os.WriteFile(caFile, ca, 0o644); err != nil {
		return err
	}
	config := &tls.Config{Certificates: []tls.Certificate{certificate}}
	secure, err := probetest.Start(probetest.Config{Network: "tcp4", Address: "127.0.0.1:0", TLS: config})
	if err != nil {
		return err
	}
	err = json.NewEncoder(os.Stdout).Encode([]protocol{
		{"plaintext", []string{"-addr=" + plain.Addr}},
		{"TLS", []string{"-addr=" + secure.Addr, "-tls", "-tls-ca-cert=" + caFile}},
	})
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}

// server is the running server.
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

// pinned keeps the server on the last processor, where there are more than one and taskset of util-linux is there: it
// would wander between them otherwise, which shows in the wall time. Programs that are measured are not pinned, since the
// runtime of Go fits itself to the processors it may use.
func pinned(name string, args ...string) *exec.Cmd {
	if taskset, err := exec.LookPath("taskset"); err == nil && runtime.NumCPU() > 1 {
		name, args = taskset, append([]string{"-c", strconv.Itoa(runtime.NumCPU() - 1), name}, args...)
	}
	return exec.Command(name, args...)
}
