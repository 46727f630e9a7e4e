package release_test

import (
	"context"
	"encoding/pem"
	"errors"
	"net"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/health"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
)

// folder is where scripts/release.sh makes the files of a release.
const folder = "../../../dist/release"

// emulators execute programs for linux on other architectures (Debian's qemu-user). Under the qemu-i386 of Debian 12,
// no program in Go survives a signal, so Go's scheduler must not interrupt goroutines by signals there.
var emulators = map[string][]string{
	"386": {"qemu-i386", "-E", "GODEBUG=asyncpreemptoff=1"}, "amd64": {"qemu-x86_64"}, "arm": {"qemu-arm"},
	"arm64": {"qemu-aarch64"}, "ppc64le": {"qemu-ppc64le"}, "riscv64": {"qemu-riscv64"}, "s390x": {"qemu-s390x"},
}

// command returns how to execute a program of the release here: by itself if the kernel can, as most on amd64 can
// execute programs for 386, else by QEMU. The test is skipped if neither can, and fails with CI=true.
func command(t *testing.T, program, arch string) []string {
	t.Helper()
	if err := exec.CommandContext(t.Context(), program, "-help").Run(); !errors.Is(err, syscall.ENOEXEC) {
		return []string{program}
	}
	emulator := emulators[arch]
	if _, err := exec.LookPath(emulator[0]); err != nil {
		leaveOut(t, "it needs "+emulator[0]+", of the Debian package qemu-user")
	}
	return append(slices.Clone(emulator), program)
}

// leaveOut skips a test that lacks something, and fails it with CI=true.
func leaveOut(t *testing.T, why string) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatal("CI=true: " + why)
	}
	t.Skip("left out: " + why)
}

// TestProbes executes the probes for linux on all architectures. How the kernel takes addresses and times differs
// between them in size and in the order of bytes.
func TestProbes(t *testing.T) {
	if runtime.GOOS != "linux" {
		leaveOut(t, "it needs linux")
	}
	servers := serve(t)
	for arch := range emulators {
		for _, name := range []string{"grpc_health_probe", "grpc_health_probe_full"} {
			t.Run(name+"-"+arch, func(t *testing.T) {
				t.Parallel()
				program := filepath.Join(folder, name+"-linux-"+arch)
				if _, err := os.Stat(program); err != nil {
					leaveOut(t, "it needs what scripts/release.sh makes: "+err.Error())
				}
				servers.probe(t, command(t, program, arch))
			})
		}
	}
}

// servers are the addresses of gRPC servers.
type servers struct {
	ip4, ip6, secure, silent, refused string
	unix, abstract, certificate       string
}

// probe executes a probe with each kind of address, with TLS, and against servers that are not well.
func (s servers) probe(t *testing.T, command []string) {
	t.Helper()
	// QEMU takes seconds for what takes the processor milliseconds.
	patient := []string{"-connect-timeout=60s", "-rpc-timeout=60s"}
	// 292 years are the longest time that the flags take, and more seconds than 32 bits count.
	endless := []string{"-connect-timeout=2562047h", "-rpc-timeout=2562047h"}
	for _, run := range []struct {
		exit  int
		says  string
		flags []string
	}{
		{0, "status: SERVING", append(patient, "-addr="+s.ip4)},
		{0, "status: SERVING", append(patient, "-addr="+s.ip6)},
		{0, "status: SERVING", append(patient, "-addr=localhost:"+port(s.ip4))},
		{0, "status: SERVING", append(patient, "-addr=unix:"+s.unix)},
		{0, "status: SERVING", append(patient, "-addr=unix-abstract:"+s.abstract)},
		{0, "status: SERVING", append(endless, "-addr="+s.ip4)},
		{0, "status: SERVING", append(patient, "-addr="+s.secure, "-tls", "-tls-ca-cert="+s.certificate)},
		{4, "NOT_SERVING", append(patient, "-addr="+s.ip4, "-service=stopped")},
		{3, "unknown", append(patient, "-addr="+s.ip4, "-service=unknown")},
		{2, "", append(patient, "-addr="+s.refused)},
		{2, "", []string{"-addr=" + s.silent, "-connect-timeout=300ms"}},
	} {
		args := slices.Concat(command[1:], run.flags)
		output, err := exec.CommandContext(t.Context(), command[0], args...).CombinedOutput()
		exit := 0
		if failed, ok := errors.AsType[*exec.ExitError](err); ok {
			exit = failed.ExitCode()
		} else if err != nil {
			t.Fatal(err)
		}
		if exit != run.exit || !strings.Contains(string(output), run.says) {
			t.Errorf("%q: exit code %d, want %d and %q:\n%s", run.flags, exit, run.exit, run.says, output)
		}
	}
}

func port(address string) string {
	_, port, _ := net.SplitHostPort(address)
	return port
}

// serve starts the servers. One listens and never answers; where one has listened and does no more, connections are
// refused.
func serve(t *testing.T) servers {
	t.Helper()
	authority := httptest.NewTLSServer(nil) // for its certificate, which is for 127.0.0.1
	t.Cleanup(authority.Close)
	certificate := filepath.Join(t.TempDir(), "ca.pem")
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: authority.Certificate().Raw})
	if err := os.WriteFile(certificate, text, 0o644); err != nil {
		t.Fatal(err)
	}
	answers := health.NewServer()
	answers.SetServingStatus("stopped", healthpb.HealthCheckResponse_NOT_SERVING)
	start := func(network, address string, options ...grpc.ServerOption) string {
		listener := listen(t, network, address)
		server := grpc.NewServer(options...)
		healthpb.RegisterHealthServer(server, answers)
		go server.Serve(listener)
		t.Cleanup(server.Stop)
		return listener.Addr().String()
	}
	refused := listen(t, "tcp", "127.0.0.1:0")
	silent := listen(t, "tcp", "127.0.0.1:0")
	t.Cleanup(func() { silent.Close() })
	refused.Close()
	abstract := filepath.Base(t.TempDir()) + time.Now().Format("150405.000000")
	start("unix", "@"+abstract)
	return servers{
		ip4: start("tcp", "127.0.0.1:0"), ip6: start("tcp", "[::1]:0"), silent: silent.Addr().String(),
		secure: start("tcp", "127.0.0.1:0",
			grpc.Creds(credentials.NewServerTLSFromCert(&authority.TLS.Certificates[0]))),
		unix: start("unix", filepath.Join(t.TempDir(), "s")), abstract: abstract, refused: refused.Addr().String(),
		certificate: certificate,
	}
}

func listen(t *testing.T, network, address string) net.Listener {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(context.Background(), network, address)
	if err != nil {
		t.Fatal(err)
	}
	return listener
}
