package main

import (
	"bufio"
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/grpc-cnb/health-probe/probe/probetest"
)

// A probe that has read an answer has no more of its program in memory than one that waits for it. Its stack must not
// outgrow 4 KB for that: to move a stack Go's runtime reads tables of all functions on it, 400 KB or a twelfth of the
// probe's memory. It has to be the program as it is shipped, and its own process.
func TestAnswerNeedsNoLargerStack(t *testing.T) {
	t.Parallel()
	program := filepath.Join(t.TempDir(), "grpc_health_probe")
	compile := exec.Command("../../scripts/compile.sh", runtime.GOARCH, program, "./cmd/grpc_health_probe")
	if out, err := compile.CombinedOutput(); err != nil {
		t.Fatalf("compiling: %v\n%s", err, out)
	}
	server, err := probetest.Start(probetest.Config{Network: "tcp4", Address: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	silent, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	var got, want int
	for range 3 { // on a busy machine the kernel maps pages of the program's file beside those that it needs
		got, want = answered(t, program, server.Addr).ofProgram(t), waiting(t, program, silent).ofProgram(t)
		if got <= want+200 {
			return
		}
	}
	t.Errorf("with an answer %d KB of the program are in memory, and without %d: which call made the stack grow?",
		got, want)
}

// answered starts a probe, and returns it when it has read an answer.
func answered(t *testing.T, program, addr string) process {
	t.Helper()
	p := start(t, program, addr)
	if line, err := bufio.NewReader(p.output).ReadString('\n'); err != nil {
		t.Fatalf("watching: %q, %v", line, err)
	}
	return p
}

// waiting starts a probe of a server that is silent, and returns it when it has sent all that it sends, and waits.
func waiting(t *testing.T, program string, silent net.Listener) process {
	t.Helper()
	p := start(t, program, silent.Addr().String())
	conn, err := silent.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	if _, err := conn.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	return p
}

// process is a probe that runs until the test ends.
type process struct {
	*exec.Cmd
	output *os.File
}

func start(t *testing.T, program, addr string) process {
	t.Helper()
	output, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, "-watch", "-connect-timeout=10m", "-addr="+addr)
	cmd.Stdout = writer
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	writer.Close()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // killed
		output.Close()
	})
	return process{cmd, output}
}

// ofProgram returns how much of the program's file is in the memory of its process, in KB (proc_pid_status(5)).
func (p process) ofProgram(t *testing.T) (size int) {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := bytes.Cut(status, []byte("\nRssFile:"))
	if _, err := fmt.Sscan(string(after), &size); err != nil || size == 0 {
		t.Fatalf("reading %q: %v", status, err)
	}
	return size
}
