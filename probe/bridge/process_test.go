package bridge

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	healthpb "google.golang.org/grpc/health/grpc_health_v1"
)

// startProgram runs the bridge as a process of its own.
func startProgram(t *testing.T, path string, flags ...string) (program *exec.Cmd, addr string) {
	t.Helper()
	program = exec.Command(path, append(flags, "-listen=127.0.0.1:0")...)
	log, err := program.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := program.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = program.Process.Kill() })
	line, err := bufio.NewReader(log).ReadString('\n')
	found := regexp.MustCompile(`^listening on (\S+), asking `).FindStringSubmatch(line)
	if err != nil || found == nil {
		t.Fatalf("first line of the log is %q: %v", line, err)
	}
	return program, found[1]
}

func TestSignalEndsTheBridge(t *testing.T) {
	t.Parallel()
	server := startServer(t, t.TempDir())
	program, addr := startProgram(t, "grpc_health_bridge", append(patient, "-addr="+server.Addr)...)
	says(t, client(t, addr), "", "SERVING")
	if err := program.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := program.Wait(); err != nil {
		t.Errorf("after SIGTERM: %v", err)
	}
}

// A log that nobody reads, or that takes nothing more, stops no answer and no end.
func TestLogThatIsNotRead(t *testing.T) {
	t.Parallel()
	for name, stop := range map[string]func(t *testing.T, read, write *os.File){
		"closed": func(_ *testing.T, read, _ *os.File) { read.Close() },
		"full":   func(t *testing.T, _, write *os.File) { fill(t, write) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := startServer(t, t.TempDir())
			read, write, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { read.Close(); write.Close() })
			words := slices.Concat(patient, []string{"-addr=" + server.Addr, "-listen=127.0.0.1:0"})
			program := exec.Command("grpc_health_bridge", words...)
			program.Stderr = write
			if err := program.Start(); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = program.Process.Kill() })
			line, err := bufio.NewReader(read).ReadString('\n')
			if err != nil {
				t.Fatal(err)
			}
			addr, _, _ := strings.Cut(strings.TrimPrefix(line, "listening on "), ",")
			stop(t, read, write)
			for i := range 100 { // each with a line for the log
				want := healthpb.HealthCheckResponse_ServingStatus(1 + i%2)
				server.Health.SetServingStatus("", want)
				says(t, client(t, addr), "", want.String())
			}
			if got := getFrom(t, "127.0.0.1", "http://"+addr+livePage); !strings.HasPrefix(got, "200 ") {
				t.Errorf("the page is %s", got)
			}
			text := getFrom(t, "127.0.0.1", "http://"+addr+metricsPage)
			if !regexp.MustCompile(`\ngrpc_health_bridge_dropped_log_lines_total [1-9]`).MatchString(text) {
				t.Errorf("no dropped lines are counted in %s", text)
			}
			if err := program.Process.Signal(syscall.SIGTERM); err != nil {
				t.Fatal(err)
			}
			if err := program.Wait(); err != nil {
				t.Errorf("after SIGTERM: %v", err)
			}
		})
	}
}

// fill writes to a pipe until it takes nothing more.
func fill(t *testing.T, pipe *os.File) {
	t.Helper()
	fd := int(pipe.Fd())
	err := syscall.SetNonblock(fd, true)
	for err == nil {
		_, err = syscall.Write(fd, make([]byte, 1<<16))
	}
	if again := syscall.SetNonblock(fd, false); !errors.Is(err, syscall.EAGAIN) || again != nil {
		t.Fatal(err, again)
	}
}

func TestFlagsThatTheBridgeDoesNotHave(t *testing.T) {
	t.Parallel()
	for flags, want := range map[string]string{
		"-watch": `error: checking flags: the bridge has no -watch (flag)
hint: leave it out, and call Health/Watch of the bridge
`,
		"-wait=1s": `error: checking flags: the bridge has no -wait (flag)
hint: leave it out: the bridge's callers try again
`,
		"-o=json": `error: checking flags: the bridge has no -o (flag)
hint: leave it out, and get /healthz of the bridge with Accept: application/json
`,
		"-discover": `error: checking flags: the bridge has no -discover (flag)
hint: run grpc_health_probe -discover, which is beside the bridge
`,
		"-spiffe": `error: checking flags: the bridge has no -spiffe (flag)
hint: use an exec probe of the full variant instead of the bridge
`,
		"-allow=10.0.0.7,everybody": `error: parsing -allow: "everybody" is neither an address nor a network
hint: write it as 10.0.0.7 or 10.1.0.0/16, with commas between several
`,
		"-name=$(POD)": `error: checking flags: -name="$(POD)" is not up to 63 letters, digits, hyphens and dots
hint: set it to the name of the Deployment
`,
		"-listen=:": `error: checking flags: -listen=":" has no port
hint: set it to the port that the probes ask, such as :8086
`,
		"-listen=:-1": `error: listening on ":-1": address -1: invalid port
hint: set -listen to a free port, such as :8087: pods with hostNetwork share those of the node
`,
		"-listen=1.2.3.4:99999": `error: listening on "1.2.3.4:99999": address 99999: invalid port
hint: set -listen to a free port, such as :8087: pods with hostNetwork share those of the node
`,
	} {
		out, err := exec.Command("grpc_health_bridge", "-addr=:1", flags).CombinedOutput()
		if err == nil || string(out) != want {
			t.Errorf("with %s it is %v:\n%s\nwant:\n%s", flags, err, out, want)
		}
	}
}

// A bridge that is asked ten thousand times, while connections are lost and a certificate changes, has no more files
// and hardly more memory than before.
func TestBridgeKeepsNothing(t *testing.T) {
	t.Parallel()
	const (
		callers, checks = 20, 10_000
		losses          = 100
		growth          = 4 << 10 // KiB that the heap may have grown by, between two collections
	)
	dir := t.TempDir()
	words := []string{"san=127.0.0.1", "clientauth=required"}
	server := startServer(t, dir, words...)
	front := newFront(t, server.Addr)
	program, addr := startProgram(t, shipped(t), append(patient,
		"-addr="+front.addr, "-tls", "-tls-ca-cert="+filepath.Join(dir, "ca.pem"),
		"-tls-client-cert="+filepath.Join(dir, "client.pem"),
		"-tls-client-key="+filepath.Join(dir, "client-key.pem"))...)
	clients := make([]healthpb.HealthClient, callers)
	for i := range clients {
		clients[i] = client(t, addr)
	}
	round := func(each int) {
		var asking sync.WaitGroup
		for _, asked := range clients {
			asking.Go(func() {
				for range each {
					says(t, asked, "", "SERVING")
				}
			})
		}
		asking.Wait()
	}
	round(20)
	files, memory := footprint(t, program.Process.Pid)
	for range losses {
		front.cut()
		round(checks / callers / losses)
	}
	later := time.Now().Add(time.Second)
	if err := os.Chtimes(filepath.Join(dir, "client.pem"), later, later); err != nil {
		t.Fatal(err)
	}
	round(1)
	if made := front.made(); made < losses+2 {
		t.Errorf("%d connections were made, want one for each of %d losses and one for the certificate", made, losses)
	}
	finds(t, "the files to be closed", func() bool {
		now, _ := footprint(t, program.Process.Pid)
		return now <= files
	})
	if _, now := footprint(t, program.Process.Pid); now > memory+growth {
		t.Errorf("memory has grown from %d KiB to %d KiB", memory, now)
	}
}

// shipped compiles the bridge as it is shipped: with the race detector, which the tests may have, its memory would not
// tell anything.
func shipped(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "grpc_health_bridge")
	compile := exec.Command("go", "build", "-trimpath", "-o", path, "../../cmd/grpc_health_bridge")
	compile.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := compile.CombinedOutput(); err != nil {
		t.Fatalf("compiling the bridge: %v\n%s", err, out)
	}
	return path
}

// footprint returns the open files of a process apart from its callers' connections, and its resident memory in KiB.
func footprint(t *testing.T, pid int) (files, memory int) {
	t.Helper()
	entries, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
	if err != nil {
		t.Fatal(err)
	}
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(status)) {
		if rest, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			_, err = fmt.Sscan(rest, &memory)
		}
	}
	if err != nil || memory == 0 {
		t.Fatalf("reading the resident memory: %v", err)
	}
	return len(entries), memory
}
