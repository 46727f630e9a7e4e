package probe_test

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/grpc-cnb/health-probe/probe/probetest"
)

// If nobody listens on a port that the kernel gives to clients as well, a connection can be one to itself. In a
// network of its own, whose only such port is the server's, it always is.
func TestConnectionToItselfIsRefused(t *testing.T) {
	t.Parallel()
	const setUp = "ip link set lo up && echo 50051 50051 >/proc/sys/net/ipv4/ip_local_port_range"
	if out, err := exec.Command("unshare", "-rn", "sh", "-c", setUp).CombinedOutput(); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("making a network: %v: %s", err, out)
		}
		t.Skipf("needs networks of its own: %v: %s", err, out)
	}
	for program := range programs {
		for _, flags := range []string{"-addr=127.0.0.1:50051", "-addr=[::1]:50051", "-addr=127.0.0.1:50051 -tls"} {
			script := setUp + ` && exec "$@"`
			args := append([]string{"-rn", "sh", "-c", script, "sh", program}, strings.Fields(flags)...)
			out, _ := exec.Command("unshare", args...).CombinedOutput()
			refused := strings.Contains(string(out), `": connection refused`)
			// Package net tries again by itself, for which there is no second port.
			retried := program == "grpc_health_probe_full" &&
				strings.Contains(string(out), "cannot assign requested address")
			if !refused && !retried {
				t.Errorf("%s %s: want a refused connection, got\n%s", program, flags, out)
			}
		}
	}
}

// What /etc/hosts says of localhost is not asked.
func TestLocalhostIsThisMachine(t *testing.T) {
	t.Parallel()
	server, err := probetest.StartWith("server", t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	_, port, err := net.SplitHostPort(server.Addr)
	if err != nil {
		t.Fatal(err)
	}
	hosts := filepath.Join(t.TempDir(), "hosts")
	if err := os.WriteFile(hosts, []byte("127.0.0.2 localhost\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	const setUp = `mount --bind "$0" /etc/hosts && `
	if out, err := exec.Command("unshare", "-rm", "sh", "-c", setUp+"true", hosts).CombinedOutput(); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("mounting a file: %v: %s", err, out)
		}
		t.Skipf("needs mounts of its own: %v: %s", err, out)
	}
	for program := range programs {
		out, err := exec.Command("unshare", "-rm", "sh", "-c", setUp+`exec "$@"`, hosts,
			program, "-addr=localhost:"+port, "-connect-timeout=1m", "-rpc-timeout=1m").CombinedOutput()
		if err != nil {
			t.Errorf("%s: %v: %s", program, err, out)
		}
	}
}

// A watch takes long, so its connection has the kernel's keepalive. In the lean probe no other call costs that.
func TestKeepalive(t *testing.T) {
	t.Parallel()
	for program := range programs {
		if !hasKeepalive(t, program, probetest.Config{}, "-watch") {
			t.Errorf("%s -watch has no keepalive", program)
		}
	}
	if hasKeepalive(t, "grpc_health_probe", probetest.Config{Health: "hangs"}, "-rpc-timeout=1m") {
		t.Error("a probe without -watch has keepalive")
	}
}

// hasKeepalive runs a program until it has called a server, and reports whether its connection has keepalive.
func hasKeepalive(t *testing.T, program string, config probetest.Config, flag string) bool {
	t.Helper()
	config.Network, config.Address = "tcp4", "127.0.0.1:0"
	server, err := probetest.Start(config)
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cmd := exec.CommandContext(ctx, program, "-addr="+server.Addr, flag)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		cancel()
		_ = cmd.Wait() // it was killed
	}()
	for server.Seen() == "\n" {
		time.Sleep(time.Millisecond)
	}
	return strings.HasPrefix(timer(t, server.Addr), "02:")
}

// timer returns the column tr:tm->when of the connection to an address (proc_net_tcp.txt of the kernel): it begins with
// 02 for keepalive. While something that was sent is not acknowledged it begins with 01.
func timer(t *testing.T, address string) string {
	t.Helper()
	_, portText, err := net.SplitHostPort(address)
	if err != nil {
		t.Fatal(err)
	}
	port, err := strconv.Atoi(portText)
	if err != nil {
		t.Fatal(err)
	}
	for {
		table, err := os.ReadFile("/proc/net/tcp")
		if err != nil {
			if os.Getenv("CI") == "true" {
				t.Fatal(err)
			}
			t.Skip(err)
		}
		const established = "01"
		for line := range strings.Lines(string(table)) {
			columns := strings.Fields(line)
			if columns[2] == fmt.Sprintf("0100007F:%04X", port) && columns[3] == established &&
				!strings.HasPrefix(columns[5], "01:") {
				return columns[5]
			}
		}
		time.Sleep(time.Millisecond)
	}
}
