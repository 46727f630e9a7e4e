package execprobe_test

import (
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/grpc-cnb/health-probe/build/execprobe"
	"github.com/grpc-cnb/health-probe/internal/golden"
	"github.com/grpc-cnb/health-probe/internal/plan"
)

// lines collects what is reported.
type lines struct{ strings.Builder }

func (l *lines) Headerf(format string, args ...any) { fmt.Fprintf(l, format+"\n", args...) }

// server returns a server with a health service.
func server(a plan.Address, s plan.Security) plan.Server {
	return plan.Server{
		Language: "go", Title: "Go", Framework: "grpc-go", Evidence: plan.Place{Path: "main.go", Line: 34},
		Health: plan.HealthRegistered, HealthEvidence: plan.Place{Path: "main.go", Line: 38}, Address: a, Security: s,
	}
}

var (
	port = plan.Address{
		Host: plan.AllInterfaces, Port: 5000, Certainty: plan.Written, Place: plan.Place{Path: "main.go", Line: 21},
	}
	replaced = plan.Address{Host: plan.AllInterfaces, Port: 8080, Certainty: plan.Default, Variable: "GRPC_PORT"}
	variable = plan.Address{Variable: "GRPC_PORT"}
	loopback = plan.Address{Host: plan.Loopback, Port: 8080, Certainty: plan.Written}
	anyHost  = plan.Address{Port: 8080, Certainty: plan.Written}
	socket   = plan.Address{Host: plan.UnixSocket, Socket: "unix:/run/app.sock", Certainty: plan.Written}
	aSocket  = plan.Address{Host: plan.UnixSocket}

	plaintext = plan.Security{Transport: plan.Plaintext}
	secure    = plan.Security{Transport: plan.TLS}
)

// unsure is a server of which it is not known whether it has a health service, which a place may register.
func unsure(registered plan.Place) plan.Server {
	s := server(port, plaintext)
	s.Health, s.HealthEvidence = "", registered
	return s
}

// asked is a server that sets statuses of services.
func asked(s plan.Server, service, liveness string) plan.Server {
	s.Service, s.Liveness = service, liveness
	return s
}

// withDefaults is what is known of a probe with default flags.
func withDefaults(t *testing.T, args []string) execprobe.Given {
	t.Helper()
	d, err := execprobe.Defaults(args)
	if err != nil {
		t.Fatal(err)
	}
	return execprobe.Given{
		Path: execprobe.ImagePath, Flags: args, Defaults: d, Server: server(port, plaintext), IsOwn: true,
	}
}

// Each combination of what is known of a server is printed as users see it. UPDATE_GOLDEN=1 writes the file.
func TestReports(t *testing.T) {
	t.Parallel()
	noHealth := server(port, plaintext)
	noHealth.Health = plan.HealthMissing
	defaults := func(args ...string) execprobe.Given { return withDefaults(t, args) }
	oneService, named := server(port, plaintext), server(port, plaintext)
	oneService.Health, oneService.Service = plan.HealthAutomatic, "anycable.RPC"
	named.Health, named.Service = plan.HealthRegistered, "shop.Shop"
	nameless := server(port, plaintext)
	nameless.IsServiceUnknown = true
	variablyNamed := nameless
	variablyNamed.StatusName, variablyNamed.StatusEvidence = "shop.Name()", plan.Place{Path: "main.go", Line: 41}
	var report lines
	for _, c := range []struct {
		title        string
		server       plan.Server
		readsAddress bool
	}{
		{"a port", server(port, plaintext), true},
		{"a port that a variable replaces", server(replaced, plaintext), true},
		{"the port in a variable", server(variable, plaintext), true},
		{"a port on loopback", server(loopback, plaintext), true},
		{"a port on a host that is not known", server(anyHost, plaintext), true},
		{"a socket", server(socket, plaintext), true},
		{"a socket that is not known", server(aSocket, plaintext), false},
		{"a port that is not known", server(plan.Address{}, plaintext), false},
		{"TLS", server(port, secure), true},
		{"TLS or plaintext not known", server(port, plan.Security{}), true},
		{"nothing known", server(plan.Address{}, plan.Security{}), false},
		{"no health service", noHealth, true},
		{"the health of one service", oneService, true},
		{"the health of a service, not of the server", named, true},
		{"the health of services whose names are not known", nameless, true},
		{"the health of a service that a variable names", variablyNamed, true},
		{"the health of several services", asked(server(port, plaintext), "shop.Orders,shop.Carts", ""), true},
		{"readiness and liveness", asked(server(port, plaintext), "readiness", "liveness"), true},
		{"readiness and liveness over TLS", asked(server(replaced, secure), "readiness", "liveness"), true},
		{"a health service that is not sure", unsure(plan.Place{Path: "main.go", Line: 38}), true},
		{"health not known", unsure(plan.Place{}), true},
		{"no server", plan.Server{}, false},
	} {
		g := defaults()
		g.Server, g.ReadsAddress = c.server, c.readsAddress
		report.Headerf("-- %s --\ngRPC server: %s", c.title, c.server)
		execprobe.New(g).Report(&report, false, false)
	}
	golden.Check(t, "testdata/reports.golden", report.String())
}

// A program of others is given what it does not find out by itself, and so is one that is not to search.
func TestReportsForOtherPrograms(t *testing.T) {
	t.Parallel()
	var report lines
	report.Headerf("-- TLS, of several servers, with a bridge --")
	g := withDefaults(t, nil)
	g.Server, g.ReadsAddress = server(port, secure), true
	execprobe.New(g).Report(&report, true, true)
	for _, c := range []struct {
		title  string
		server plan.Server
	}{
		{"the port in a variable", server(variable, plaintext)},
		{"a socket", server(socket, plaintext)},
		{"a port that is not known, with TLS", server(plan.Address{}, secure)},
		{"TLS or plaintext not known", server(port, plan.Security{})},
	} {
		g := withDefaults(t, nil)
		g.Server, g.IsOwn = c.server, false
		report.Headerf("-- %s, for a program that finds out nothing by itself --", c.title)
		execprobe.New(g).Report(&report, false, false)
	}
	for _, c := range []plan.Server{server(port, plaintext), server(plan.Address{}, secure)} {
		g := withDefaults(t, []string{"-discover=false"})
		g.Server, g.ReadsAddress = c, c.Address.IsKnown()
		report.Headerf("-- with -discover=false: %s --", c)
		execprobe.New(g).Report(&report, false, false)
	}
	golden.Check(t, "testdata/programs.golden", report.String())
}

// Kubernetes' own probe is printed if it asks what the exec probe asks with its default flags, else the bridge, unless
// the bridge does not take the flags either.
func TestReportsWithDefaultFlags(t *testing.T) {
	t.Parallel()
	oneService := server(port, plaintext)
	oneService.Health, oneService.Service = plan.HealthAutomatic, "anycable.RPC"
	missing := server(port, plaintext)
	missing.Health = plan.HealthMissing
	var report lines
	for _, c := range []struct {
		args   string
		server plan.Server
	}{
		{"", oneService},
		{"-service=shop.Orders", oneService},
		{"-service=my/service", server(port, plaintext)},
		{"-service=", server(port, plaintext)},
		{"-service=shop.Orders", server(port, secure)},
		{"-service=a,b", server(port, plaintext)},
		{"-service=a -service=b", server(port, plaintext)},
		{"-all", server(port, plaintext)},
		{"-mode=live", server(port, plaintext)},
		{"-mode=live", missing},
		{"-mode=connect", server(port, plaintext)},
		{"-mode=ready -v -o=text", server(port, plaintext)},
		{"-o=json", server(port, secure)},
		{"-gzip", server(port, plaintext)},
		{"-user-agent=me", server(port, plaintext)},
		{"-rpc-header=x:y", server(port, plaintext)},
		{"-rpc-header-file=x=/y", server(port, plaintext)},
		{"-wait=1m", server(port, plaintext)},
		{"-watch", server(port, plaintext)},
		{"-rpc-timeout=5s", server(port, plaintext)},
		{"-timeout=500ms", server(port, plaintext)},
		{"-addr=:5000", server(port, plaintext)},
		{"-addr=:6000", server(anyHost, plaintext)},
		{"-addr=:6000", server(replaced, plaintext)},
		{"-addr=:6000", server(plan.Address{}, plaintext)},
		{"-addr=:6000", server(loopback, plaintext)},
		{"-addr=:grpc", server(port, plaintext)},
		{"-addr=127.0.0.1:5000", server(port, plaintext)},
		{"-addr=other:5000", server(port, plaintext)},
		{"-addr=10.0.0.1:5000", server(port, plaintext)},
		{"-addr=unix:/run/app.sock", server(port, plaintext)},
		{"-addr=:1 -tls -tls-no-verify", server(port, secure)},
		{"-tls -tls-server-name=shop", server(port, plan.Security{})},
		{"-alts", server(port, plaintext)},
		{"-spiffe", server(port, plaintext)},
	} {
		g := withDefaults(t, strings.Fields(c.args))
		g.Server, g.ReadsAddress = c.server, !g.Defaults.HasAddress
		report.Headerf("-- %s --\ngRPC server: %s", c.args, c.server)
		execprobe.New(g).Report(&report, false, false)
	}
	golden.Check(t, "testdata/flags.golden", report.String())
}

// With an address in the default flags the probe is for the server that listens there, whichever leads.
func TestServerOfAnAddress(t *testing.T) {
	t.Parallel()
	lead, other := server(port, secure), server(loopback, plaintext)
	other.Evidence = plan.Place{Path: "cmd/other/main.go", Line: 5}
	onSocket := server(socket, plaintext)
	onSocket.Evidence = plan.Place{Path: "cmd/admin/main.go", Line: 7}
	both := plan.List([]plan.Server{lead, other, onSocket})
	var report lines
	for _, c := range []struct {
		args    string
		servers plan.Servers
		want    plan.Server
	}{
		{"", both, lead},
		{"-gzip", both, lead},
		{"-addr=:5000", both, lead},
		{"-addr=localhost:8080", both, other},
		{"-addr=[::1]:8080", both, other},
		{"-addr=unix:///run/app.sock", both, onSocket},
		{"-addr=:9000", both, plan.Server{}},
		{"-addr=other:8080", both, plan.Server{}},
		{"-addr=:9000", plan.List([]plan.Server{lead}), lead},
		{"-addr=:9000", plan.Servers{}, plan.Server{}},
	} {
		g := withDefaults(t, strings.Fields(c.args))
		g.Server, g.ReadsAddress = execprobe.ServerOf(c.servers, g.Flags), !g.Defaults.HasAddress
		if !reflect.DeepEqual(g.Server, c.want) {
			t.Errorf("with %q it is for the server at %s, want %s", c.args, g.Server.Evidence, c.want.Evidence)
		}
		report.Headerf("-- %s, of %d servers --", c.args, len(c.servers.Listed))
		execprobe.New(g).Report(&report, len(c.servers.Listed) > 1, false)
	}
	golden.Check(t, "testdata/servers.golden", report.String())
}

// Another program is given the same flags, and the address if it does not find that by itself.
func TestCommandOfAnotherProgram(t *testing.T) {
	t.Parallel()
	d, err := execprobe.Defaults(nil)
	if err != nil {
		t.Fatal(err)
	}
	p := execprobe.New(execprobe.Given{Path: "/probe", Defaults: d, Server: server(port, secure), IsOwn: true})
	for reads, want := range map[bool]string{
		true: "/bridge", false: "/bridge -addr=localhost:5000",
	} {
		command, remark := p.CommandOf("/bridge", reads)
		if got := strings.Join(command, " "); got != want || !strings.Contains(remark, "to verify the server") {
			t.Errorf("got %q with the remark %q, want %q", got, remark, want)
		}
	}
}

// The timeout is a second more than the probe takes, and one that Kubernetes takes, however long that is.
func TestTimeoutSeconds(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]int{
		"": 4, "-addr=:1": 3, "-timeout=1ns": 2, "-timeout=1500ms": 3, "-wait=1m": 64,
		"-rpc-timeout=2562047h": math.MaxInt32,
	} {
		if got := execprobe.New(withDefaults(t, strings.Fields(args))).TimeoutSeconds; got != want {
			t.Errorf("with %q it is %d, want %d", args, got, want)
		}
	}
}
