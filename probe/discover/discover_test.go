//go:build linux

package discover_test

import (
	"context"
	"net"
	"os"
	"strings"
	"sync"
	"testing"

	"google.golang.org/grpc"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"

	"github.com/grpc-cnb/health-probe/probe/check"
	"github.com/grpc-cnb/health-probe/probe/check/outcome"
	"github.com/grpc-cnb/health-probe/probe/discover"
	"github.com/grpc-cnb/health-probe/probe/lean"
	"github.com/grpc-cnb/health-probe/probe/probetest"
)

// Each row is a container, by what listens in it on loopback, and what the report has of it for users: $1 and $2 are
// the addresses, and $PROBE is the path of the probe.
func TestReport(t *testing.T) {
	const alone = `readinessProbe: {"exec":{"command":["$PROBE"]},"timeoutSeconds":4}` + "\n"
	for _, test := range []struct {
		name    string
		servers []string // options of probetest.StartWith
		says    []string
		not     string
	}{
		{"nothing", nil, []string{"this container listens on nothing\n"}, "Probe"},
		{
			"one server",
			[]string{""},
			[]string{"$1: gRPC in plain text; the whole server is SERVING\n  " + alone},
			"liveness",
		},
		{
			"TLS",
			[]string{tlsServer},
			[]string{"$1: gRPC with TLS, certificate for 127.0.0.1, valid until ", "SERVING\n  " + alone},
			"-addr",
		},
		{
			"two servers",
			[]string{"", tlsServer},
			[]string{
				`  readinessProbe: {"exec":{"command":["$PROBE","-addr=$1"]},`,
				`  readinessProbe: {"exec":{"command":["$PROBE","-addr=$2","-tls","-tls-no-verify"]},`,
			},
			"liveness",
		},
		{
			"the names that Kubernetes advises",
			[]string{"status=:SERVING status=Liveness:SERVING status=readiness:SERVING"},
			[]string{
				`  readinessProbe: {"exec":{"command":["$PROBE","-service=readiness"]},"timeoutSeconds":4}` + "\n" +
					`  livenessProbe: {"exec":{"command":["$PROBE","-service=Liveness"]},"timeoutSeconds":4}` + "\n",
			},
			"-addr",
		},
		{"without health", []string{"health=none"}, []string{"$1: gRPC in plain text; "}, "Probe"},
		{"beside another", []string{"", "speaks=http1"}, []string{alone, "$2: HTTP/1.1"}, "-addr"},
	} {
		t.Run(test.name, func(t *testing.T) {
			program, err := os.Executable()
			if err != nil {
				t.Fatal(err)
			}
			values := []string{"$PROBE", program}
			for i, options := range test.servers {
				values = append(values, "$"+string(rune('1'+i)), start(t, options).Addr)
			}
			text := runDiscover(t, "").Text()
			for _, says := range test.says {
				if says = strings.NewReplacer(values...).Replace(says); !strings.Contains(text, says) {
					t.Errorf("it lacks\n%s\nand is\n%s", says, text)
				}
			}
			if strings.Contains(text, test.not) {
				t.Errorf("it has %q:\n%s", test.not, text)
			}
		})
	}
}

// A server on all addresses of the pod can be asked by Kubernetes itself.
func TestReportOfAServerOfThePod(t *testing.T) {
	server, err := probetest.Start(probetest.Config{Network: "tcp4", Address: "0.0.0.0:0"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Close)
	_, port, _ := strings.Cut(server.Addr, ":")
	want := `readinessProbe: {"grpc":{"port":` + port + `}}`
	if text := runDiscover(t, "").Text(); !strings.Contains(text, want) {
		t.Errorf("it lacks\n%s\nand is\n%s", want, text)
	}
}

// A server that closes a connection in plain text, as some do, is asked with TLS.
func TestDiscoverTLSThatClosesPlainText(t *testing.T) {
	secure := start(t, tlsServer)
	closing := serve(t, func(c net.Conn) {
		first := make([]byte, 1)
		if _, err := c.Read(first); err != nil || first[0] != 22 { // a record of a TLS handshake
			c.Close()
			return
		}
		target, err := net.Dial("tcp", secure.Addr)
		if err != nil {
			c.Close()
			return
		}
		_, _ = target.Write(first) // what follows fails if this does
		go copyAndClose(target, c)
		go copyAndClose(c, target)
	})
	for _, s := range runDiscover(t, "").Sockets {
		if s.Address == closing.addr {
			if s.Speaks != outcome.TLS || s.Certificate == nil || !s.GRPC {
				t.Errorf("it says %s", s.JSON())
			}
			return
		}
	}
	t.Errorf("%s is not found", closing.addr)
}

// together is a health service that answers when others of its kind are asked too.
type together struct {
	healthpb.UnimplementedHealthServer
	asked *sync.WaitGroup
}

func (h together) List(context.Context, *healthpb.HealthListRequest) (*healthpb.HealthListResponse, error) {
	h.asked.Done()
	h.asked.Wait()
	return &healthpb.HealthListResponse{}, nil
}

// Servers that take their time do not add up.
func TestDiscoverAsksServersAtTheSameTime(t *testing.T) {
	const servers = 3
	var asked sync.WaitGroup
	asked.Add(servers)
	for range servers {
		listener, err := net.Listen("tcp4", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		server := grpc.NewServer()
		healthpb.RegisterHealthServer(server, together{asked: &asked})
		go func() { _ = server.Serve(listener) }()
		t.Cleanup(server.Stop)
	}
	for _, s := range runDiscover(t, "-rpc-timeout=20s").Sockets {
		if s.Err != nil {
			t.Errorf("%s: %v", s.Address, s.Err)
		}
	}
}

// runDiscover returns the report of -discover, with the flags in args, in this process.
func runDiscover(t *testing.T, args string) *discover.Report {
	t.Helper()
	o, err := commandLine(t, args).Options(check.LookUpPort)
	if err != nil {
		t.Fatal(err)
	}
	r, err := discover.Run(lean.Transport{}, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}
