package release_test

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
)

// TestBridges executes the bridges for linux on all architectures. Each asks a server over TLS, on a connection that it
// keeps, and is asked by HTTP and by gRPC.
func TestBridges(t *testing.T) {
	if runtime.GOOS != "linux" {
		leaveOut(t, "it needs linux")
	}
	servers := serve(t)
	for arch := range emulators {
		t.Run(arch, func(t *testing.T) {
			t.Parallel()
			program := filepath.Join(folder, "grpc_health_bridge-linux-"+arch)
			if _, err := os.Stat(program); err != nil {
				leaveOut(t, "it needs what scripts/release.sh makes: "+err.Error())
			}
			address := startBridge(t, append(command(t, program, arch), "-listen=127.0.0.1:0",
				"-connect-timeout=60s", "-rpc-timeout=60s", "-addr="+servers.secure, "-tls",
				"-tls-ca-cert="+servers.certificate))
			wantPage(t, address)
			wantStatus(t, address, "", healthpb.HealthCheckResponse_SERVING)
			wantStatus(t, address, "stopped", healthpb.HealthCheckResponse_NOT_SERVING)
		})
	}
}

// startBridge runs a bridge until the end of the test, ends it by SIGTERM, and returns where it answers. Under
// qemu-i386, which cannot deliver signals (emulators), it is killed.
func startBridge(t *testing.T, command []string) string {
	t.Helper()
	bridge := exec.CommandContext(t.Context(), command[0], command[1:]...)
	signals := command[0] != "qemu-i386"
	if signals {
		bridge.Cancel = func() error { return bridge.Process.Signal(syscall.SIGTERM) }
	}
	stderr, err := bridge.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := bridge.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan string)
	t.Cleanup(func() {
		rest := <-ended
		if err := bridge.Wait(); signals && bridge.ProcessState.ExitCode() != 0 {
			t.Errorf("the bridge ended: %v\n%s", err, rest)
		}
	})
	log := bufio.NewReader(stderr)
	line, err := log.ReadString('\n')
	go func() {
		rest, _ := io.ReadAll(log)
		ended <- string(rest)
	}()
	found := regexp.MustCompile(`^listening on (\S+), asking `).FindStringSubmatch(line)
	if err != nil || found == nil {
		t.Fatalf("the first line of the bridge's log is %q: %v", line, err)
	}
	return found[1]
}

func wantPage(t *testing.T, address string) {
	t.Helper()
	response, err := http.Get("http://" + address + "/healthz")
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK || !strings.Contains(string(body), "status: SERVING") {
		t.Errorf("the bridge answers with %s and %q (%v)", response.Status, body, err)
	}
}

func wantStatus(t *testing.T, address, service string, want healthpb.HealthCheckResponse_ServingStatus) {
	t.Helper()
	conn, err := grpc.NewClient("passthrough:///"+address, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	answer, err := healthpb.NewHealthClient(conn).Check(context.Background(),
		&healthpb.HealthCheckRequest{Service: service})
	if err != nil || answer.GetStatus() != want {
		t.Errorf("the bridge says of %q %v (%v), want %v", service, answer.GetStatus(), err, want)
	}
}
