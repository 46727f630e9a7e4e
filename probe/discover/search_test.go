//go:build linux

package discover_test

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/health"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"

	"github.com/grpc-cnb/health-probe/probe/check"
	"github.com/grpc-cnb/health-probe/probe/check/outcome"
	"github.com/grpc-cnb/health-probe/probe/flags"
	"github.com/grpc-cnb/health-probe/probe/grpcgo"
	"github.com/grpc-cnb/health-probe/probe/lean"
	"github.com/grpc-cnb/health-probe/probe/probetest"
)

var transports = map[string]check.Transport{"lean": lean.Transport{}, "full": grpcgo.Transport{}}

const tlsServer = "san=127.0.0.1"

// Each row is a container, by what listens in it, and how a probe without an address ends there.
func TestSearch(t *testing.T) {
	for _, test := range []struct {
		name    string
		servers []string // options of probetest.StartWith
		args    string
		code    outcome.ExitCode
		says    string
	}{
		{"nothing", nil, "", 2, "is the server up? For a server in another container, set -addr"},
		{"one server", []string{""}, "", 0, "status: SERVING"},
		{"one that is down", []string{"status=:NOT_SERVING"}, "", 4, "status is NOT_SERVING"},
		{"one without health", []string{"health=none"}, "", 3, "register the standard health service"},
		{"TLS", []string{tlsServer}, "", 0, "status: SERVING"},
		{"TLS that is to be verified", []string{tlsServer}, "-tls", 2, "-tls-ca-cert"},
		{
			"a client certificate",
			[]string{tlsServer + " clientauth=required"},
			"", 2,
			"-tls-client-key; flags -tls-... need -tls",
		},
		{"beside a web server", []string{"speaks=http1", ""}, "", 0, "status: SERVING"},
		{"beside h2c", []string{"speaks=http2", ""}, "", 0, "status: SERVING"},
		{"beside h2c that echoes", []string{"speaks=http2-echo", ""}, "", 0, "status: SERVING"},
		{"TLS beside others", []string{"speaks=http1", "speaks=smtp", tlsServer}, "", 0, "status: SERVING"},
		{"none is gRPC", []string{"speaks=http1", "speaks=smtp"}, "", 2, "another protocol"},
		{
			"none, and what to do",
			[]string{"speaks=http1"},
			"", 2,
			"is the server up? If one of these is the server, set -addr; -discover says more about each",
		},
		{"h2c alone", []string{"speaks=http2"}, "", 2, "HTTP/2 without gRPC"},
		{"h2c alone that echoes", []string{"speaks=http2-echo"}, "", 2, "HTTP/2 without gRPC"},
		{"silent ones", []string{"speaks=silence", "speaks=silence"}, "", 2, "silent"},
		{"beside silent ones", []string{"speaks=silence", "speaks=hangup", ""}, "", 0, "status: SERVING"},
		{"two", []string{"", ""}, "", 0, "status: SERVING"},
		{"two, one down", []string{"", "status=:NOT_SERVING"}, "", 4, "server at 127.0.0.1:"},
		{"two, one without health", []string{"", "health=none"}, "", 0, "status: SERVING"},
		{"two without health", []string{"health=none", "health=none"}, "", 3, "UNIMPLEMENTED"},
		{"live", []string{"status=:NOT_SERVING", "speaks=http1"}, "-mode=live", 0, "live: the server answers"},
		{"connect", []string{"health=none", "speaks=http1"}, "-mode=connect", 0, "connected"},
		{"all", []string{"status=:SERVING status=a:NOT_SERVING"}, "-all", 4, `service "a"`},
		{"a service that one knows", []string{"", "status=:SERVING status=a:SERVING"}, "-service=a", 0, "SERVING"},
		{"a service that none knows", []string{"", ""}, "-service=a", 3, "NOT_FOUND"},
		{"a token", []string{"header=authorization:x"}, "", 3, "send credentials with -rpc-header"},
		{"a token that is given", []string{"header=authorization:x"}, "-rpc-header=authorization:x", 0, "SERVING"},
		{"an abstract socket", []string{"net=unix-abstract:nettest"}, "", 0, "SERVING"},
		{"-watch of several", []string{"", ""}, "-watch -timeout=1s", 1, "several servers"},
		{"turned off", []string{""}, "-discover=false", 1, "no server address"},
	} {
		t.Run(test.name, func(t *testing.T) {
			for _, options := range test.servers {
				start(t, options)
			}
			wantOutcome(t, test.args, test.code, test.says)
		})
	}
}

// wantOutcome wants that a probe with the arguments ends with a code, and says a text, by both transports.
func wantOutcome(t *testing.T, args string, code outcome.ExitCode, says string) {
	t.Helper()
	for name, transport := range transports {
		got := probe(t, transport, args)
		lines := strings.Join(got.Lines(), "\n")
		if got.Code() != code || !strings.Contains(lines, says) {
			t.Errorf("%s ends with %d, want %d with %q:\n%s", name, got.Code(), code, says, lines)
		}
	}
}

// The outcome says which servers were asked, how, and how they are known to be the container's.
func TestSearchSaysWhatItFound(t *testing.T) {
	secure := start(t, tlsServer)
	unixSocket := start(t, "net=unix:"+filepath.Join(t.TempDir(), "app.sock"))
	got := string(probe(t, lean.Transport{}, "").JSON())
	for _, want := range []string{
		`{"address":"` + secure.Addr + `","transport":"tls","own":"process"}`,
		`{"address":"` + unixSocket.Addr + `","transport":"plaintext","own":"peer"}`,
		`"outcome":"pass"`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%s is not in %s", want, got)
		}
	}
}

// An address that a user gives is the only one that is asked, and gets one connection; so does one that the build has
// found, as long as gRPC answers there.
func TestKnownAddressIsTheOnlyOneAsked(t *testing.T) {
	for name, options := range map[string]string{
		"up": "", "down": "status=:NOT_SERVING", "without health": "health=none",
	} {
		t.Run(name, func(t *testing.T) {
			server, stranger := start(t, options), newCounter(t)
			counted := newProxy(t, server.Addr)
			for _, known := range []func(*testing.T) *outcome.Outcome{
				func(t *testing.T) *outcome.Outcome { return probe(t, lean.Transport{}, "-addr="+counted.addr) },
				func(t *testing.T) *outcome.Outcome { return probeFound(t, counted.addr, false) },
			} {
				counted.connections.Store(0)
				known(t)
				if n := counted.connections.Load(); n != 1 {
					t.Errorf("the known address got %d connections, want 1", n)
				}
			}
			if n := stranger.connections.Load(); n != 0 {
				t.Errorf("another socket got %d connections", n)
			}
		})
	}
}

// What the build has found goes first. If it is not there, or is no gRPC server, the server is looked for.
func TestFoundAddressThatIsWrong(t *testing.T) {
	server := start(t, "")
	web := start(t, "speaks=http1")
	for name, addr := range map[string]string{"refuses": "127.0.0.1:1", "speaks HTTP/1.1": web.Addr} {
		got := probeFound(t, addr, false)
		if got.Code() != 0 || got.Address != server.Addr {
			t.Errorf("if the known address %s, it asks %s and ends with %d:\n%s", name, got.Address, got.Code(),
				strings.Join(got.Lines(), "\n"))
		}
	}
	server.Close()
	if got := probeFound(t, "127.0.0.1:1", false); got.Code() != 2 ||
		!strings.Contains(got.Failures.Error(),
			`connecting to "127.0.0.1:1": connection refused; no other socket of this`) {
		t.Errorf("it ends with %d: %v", got.Code(), got.Failures)
	}
}

// A server that waits for its client counts beside an agent that speaks first, unless the build knows that the app's
// only server speaks first.
func TestServerThatWaitsForItsClient(t *testing.T) {
	start(t, "") // the agent
	statuses, down := health.NewServer(), grpc.NewServer()
	statuses.SetServingStatus("", healthpb.HealthCheckResponse_NOT_SERVING)
	healthpb.RegisterHealthServer(down, statuses)
	app := httptest.NewUnstartedServer(down)
	app.Config.Protocols = new(http.Protocols)
	app.Config.Protocols.SetUnencryptedHTTP2(true)
	app.Start()
	t.Cleanup(app.Close)
	for alone, want := range map[bool]outcome.ExitCode{false: 4, true: 0} {
		o, err := commandLine(t, "").Options(check.LookUpPort)
		if err != nil {
			t.Fatal(err)
		}
		o.Search.Alone = alone
		p := check.Prober{Transport: lean.Transport{}, Options: o}
		if got := p.Run(); got.Code() != want {
			t.Errorf("if the app's server speaks first (%t), it ends with %d, want %d", alone, got.Code(), want)
		}
	}
}

// What the build has found of TLS is only what is tried first.
func TestFoundTLSIsAHint(t *testing.T) {
	secure, plain := start(t, tlsServer), start(t, "")
	for _, addr := range []string{secure.Addr, plain.Addr} {
		for _, hint := range []bool{true, false} {
			if got := probeFound(t, addr, hint); got.Code() != 0 || got.Address != addr {
				t.Errorf("%s with the hint %t ends with %d: %v", addr, hint, got.Code(), got.Failures)
			}
		}
	}
}

// One that remembers what it found asks there, until the server is somewhere else.
func TestMemory(t *testing.T) {
	var memory check.Memory
	first := start(t, "")
	start(t, "speaks=http1")
	for _, want := range []*probetest.Server{first, first} {
		if got := probeWith(t, lean.Transport{}, &memory); got.Address != want.Addr || got.Code() != 0 {
			t.Errorf("it asks %s, want %s: %v", got.Address, want.Addr, got.Failures)
		}
	}
	first.Close()
	second := start(t, "")
	if got := probeWith(t, lean.Transport{}, &memory); got.Address != second.Addr || got.Code() != 0 {
		t.Errorf("it asks %s, want %s: %v", got.Address, second.Addr, got.Failures)
	}
	start(t, "status=:NOT_SERVING") // and is found with the next list
	for probeWith(t, lean.Transport{}, &memory).Code() != 4 {
		time.Sleep(100 * time.Millisecond)
	}
}

// start runs a server until the test ends, with options of probetest.StartWith.
func start(t *testing.T, options string) *probetest.Server {
	t.Helper()
	server, err := probetest.StartWith("server", t.TempDir(), strings.Fields(options)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Close)
	return server
}

// commandLine gathers the flags in args.
func commandLine(t *testing.T, args string) *flags.CommandLine {
	t.Helper()
	c := flags.Probe()
	if _, err := c.Gather(strings.Fields(args)); err != nil {
		t.Fatal(err)
	}
	return c
}

func probe(t *testing.T, transport check.Transport, args string) *outcome.Outcome {
	t.Helper()
	o, err := commandLine(t, args).Options(check.LookUpPort)
	if err != nil {
		return o.Ended(err)
	}
	p := check.Prober{Transport: transport, Options: o, Change: func(outcome.Answer) {}}
	return p.Run()
}

func probeWith(t *testing.T, transport check.Transport, memory *check.Memory) *outcome.Outcome {
	t.Helper()
	o, err := commandLine(t, "").Options(check.LookUpPort)
	if err != nil {
		t.Fatal(err)
	}
	p := check.Prober{Transport: transport, Options: o, Memory: memory}
	return p.Run()
}

// probeFound probes with an address that the build has found.
func probeFound(t *testing.T, addr string, hasTLS bool) *outcome.Outcome {
	t.Helper()
	c := commandLine(t, "")
	o, err := commandLine(t, "-addr="+addr).Options(check.LookUpPort)
	if err != nil {
		t.Fatal(err)
	}
	found, err := c.Options(check.LookUpPort)
	if err != nil {
		t.Fatal(err)
	}
	found.Addr, found.Address, found.Search.Found, found.Search.TLS = o.Addr, o.Address, true, hasTLS
	p := check.Prober{Transport: lean.Transport{}, Options: found}
	return p.Run()
}

// counter counts the connections to a listener.
type counter struct {
	addr        string
	connections atomic.Int64
}

// newCounter listens, and says nothing.
func newCounter(t *testing.T) *counter { return serve(t, func(net.Conn) {}) }

// newProxy hands each connection on.
func newProxy(t *testing.T, to string) *counter {
	return serve(t, func(c net.Conn) {
		target, err := net.Dial("tcp", to)
		if err != nil {
			return
		}
		go copyAndClose(target, c)
		go copyAndClose(c, target)
	})
}

func serve(t *testing.T, handle func(net.Conn)) *counter {
	t.Helper()
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	c := &counter{addr: listener.Addr().String()}
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			c.connections.Add(1)
			handle(conn)
		}
	}()
	return c
}

func copyAndClose(to, from net.Conn) {
	_, _ = io.Copy(to, from) // it ends with one of the two
	to.Close()
}
