package main

import (
	"fmt"
	"net"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The command, its remark, what is not known and what Kubernetes can do are read from a log as users see it.
func TestFindProbe(t *testing.T) {
	t.Parallel()
	log := `  \x1b[34mgRPC server: Go, grpc-go (main.go:3); health service registered (main.go:4); port not known\x1b[0m
  Probe: /probe
    readinessProbe: {exec: {command: ["/probe", "-service=health"]}, timeoutSeconds: 4} # add -tls
  It is not known whether the server has TLS: if it does, add -tls -tls-ca-cert=FILE to the command
  Or: readinessProbe: {grpc: {port: 5000}} # Kubernetes asks by itself`
	got, err := findProbe(strings.Split(strings.ReplaceAll(log, `\x1b`, "\x1b"), "\n"))
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got.Command, []string{"/probe", "-service=health"}) ||
		got.Remark != "add -tls" || len(got.Doubts) != 1 ||
		!strings.HasPrefix(got.Alternative, "Or: ") {
		t.Errorf("got %+v", got)
	}
	if _, err := findProbe([]string{"Probe: /probe"}); err == nil {
		t.Error("got no error for a log without a command")
	}
}

// A verdict follows from what the log says, what the app serves, and how the printed probe ends.
func TestJudge(t *testing.T) {
	t.Parallel()
	said := claim{Evidence: "main.go:3", Health: "registered", Address: "localhost:80", Security: "plaintext"}
	serves := listener{Address: "localhost:80", Security: "plaintext", Health: true}
	with := func(change func(c *claim, l *listener)) (claim, listener) {
		c, l := said, serves
		change(&c, &l)
		return c, l
	}
	for name, c := range map[string]struct {
		change func(c *claim, l *listener)
		code   int
		want   verdict
	}{
		"all is right":          {func(*claim, *listener) {}, 0, passes},
		"the port is not known": {func(c *claim, _ *listener) { c.Address = "" }, 0, passes},
		"TLS is not known":      {func(c *claim, _ *listener) { c.Security = "" }, 0, passes},
		"another port":          {func(_ *claim, l *listener) { l.Address = "localhost:81" }, 0, wrong},
		"another port asked": {
			func(c *claim, l *listener) { c.Address, l.Address = "localhost:90", "localhost:90" }, 0, elsewhere,
		},
		"the port in a variable": {
			func(c *claim, l *listener) { c.Variable, l.Address = "PORT", "localhost:81" }, 0, passes,
		},
		"TLS": {func(_ *claim, l *listener) { l.Security = "tls" }, exitUnreachable, wrong},
		"TLS is not known, and there": {
			func(c *claim, l *listener) { c.Security, l.Security = "", "tls" }, exitUnreachable, named,
		},
		"no health service": {
			func(c *claim, l *listener) { c.Health, l.Health = "missing", false }, exitRPC, noHealth,
		},
		"health is not there": {func(_ *claim, l *listener) { l.Health = false }, exitRPC, wrong},
		"health is there":     {func(c *claim, _ *listener) { c.Health = "missing" }, 0, wrong},
		"another server":      {func(c *claim, _ *listener) { c.Evidence = "other.go:3" }, 0, wrong},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			says, is := with(c.change)
			r := result{
				App: app{Lead: "main.go"}, Claims: []claim{says}, Listeners: []listener{is}, Code: c.code,
				Asked: []string{"127.0.0.1:80", "localhost:81"},
			}
			if got := judge(r); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
	if got := judge(result{Claims: []claim{said}}); got != notStarted {
		t.Errorf("got %q for an app that serves nothing, want %q", got, notStarted)
	}
}

// What this process listens on is found among all listeners of the machine.
func TestAddresses(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "app.sock")
	want := []listener{{Address: "unix:" + path, Loopback: true}, {Address: "unix-abstract:" + path, Loopback: true}}
	for _, at := range []struct{ network, address string }{
		{"tcp4", "127.0.0.1:0"}, {"tcp6", "[::1]:0"}, {"tcp", ":0"}, {"unix", path}, {"unix", "@" + path},
	} {
		socket, err := net.Listen(at.network, at.address)
		if err != nil {
			t.Fatal(err)
		}
		defer socket.Close()
		if tcp, ok := socket.Addr().(*net.TCPAddr); ok {
			want = append(want, listener{
				Address: fmt.Sprintf("localhost:%d", tcp.Port), Loopback: tcp.IP.IsLoopback(),
			})
		}
	}
	all, err := addresses()
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range want {
		if !slices.Contains(all, l) {
			t.Errorf("%+v is not among %+v", l, all)
		}
	}
}

// An address that the probe prints is one of the log's, in the namespaces of an app.
func TestSameAddress(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"[::1]:50051", "localhost:50051", true},
		{"localhost:50051", "localhost:5005", false},
		{"unix:///tmp/a.sock", "unix:/tmp/a.sock", true},
		{"unix:a.sock", "unix:" + workspace + "/a.sock", true},
		{"unix-abstract:a", "unix:a", false},
	} {
		if got := sameAddress(c.a, c.b); got != c.want {
			t.Errorf("sameAddress(%q, %q) = %t, want %t", c.a, c.b, got, c.want)
		}
	}
}

// The table of apps can be read, and names what it expects in words that there are.
func TestTable(t *testing.T) {
	t.Parallel()
	apps, err := readTable("apps.toml")
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, a := range apps {
		if names[a.Name] || a.Name == "" || a.Run == "" || a.Language == "" {
			t.Errorf("the row %+v lacks something, or its name is there twice", a)
		}
		names[a.Name] = true
		if !slices.Contains([]verdict{passes, noHealth, named}, a.want()) {
			t.Errorf("%s expects %q", a.Name, a.Outcome)
		}
	}
}
