package peers

import (
	"bufio"
	"net"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// maker is who made a server's software.
type maker struct {
	name string
	// needs are the programs and files it takes, with the Debian packages they are of.
	needs map[string]string
	// start runs servers until the end of the test and returns their addresses, as -addr takes them, by name. The names
	// mean the same everywhere:
	//
	//	plain, tls, mtls  the whole server is SERVING, "down" is NOT_SERVING, "slow" never answers, others unknown
	//	bare              has no health service
	//	tight             is as plain, with the least that HTTP/2 lets a server allow its clients
	start func(t *testing.T) map[string]string
}

var makers = []maker{
	{name: "grpc-go", start: startGRPCGo},
	{name: "net-http", start: startNetHTTP},
	{name: "connect-go", start: startConnect},
	{name: "c-core", start: startPython, needs: map[string]string{
		python: "python3",
		"/usr/lib/python3/dist-packages/grpc/__init__.py": "python3-grpcio",
	}},
	{name: "grpc-java", start: startJava, needs: javaNeeds()},
	{name: "node", start: startNode, needs: map[string]string{"node": "nodejs"}},
	{name: "nginx", start: startNginx, needs: map[string]string{"nginx": "nginx"}},
}

// missing returns the Debian packages that the maker needs and this machine has not.
func (m maker) missing() []string {
	var packages []string
	for name, pkg := range m.needs {
		_, err := os.Stat(name)
		if !strings.Contains(name, "/") {
			_, err = exec.LookPath(name)
		}
		if err != nil {
			packages = append(packages, pkg)
		}
	}
	slices.Sort(packages)
	return packages
}

// listen opens a port of its own on loopback.
func listen(t *testing.T) *net.TCPListener {
	t.Helper()
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	return listener.(*net.TCPListener)
}

// startProgram runs a program until the end of the test. It returns the addresses that the program has printed, a line
// "NAME ADDRESS" each, when it prints "ready".
func startProgram(t *testing.T, name string, args ...string) map[string]string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Stderr = t.Output()
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	run(t, cmd)
	addresses := map[string]string{}
	for lines := bufio.NewScanner(stdout); lines.Scan(); {
		if lines.Text() == "ready" {
			return addresses
		}
		name, address, _ := strings.Cut(lines.Text(), " ")
		addresses[name] = address
	}
	t.Fatalf("%v ended before it was ready", cmd)
	return nil
}

// run starts cmd, which the test's context ends, and waits for its end before the test's.
func run(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	// a kill would leave nginx's workers behind
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 10 * time.Second
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Wait() }) // Ended by a signal, it has an error.
}
