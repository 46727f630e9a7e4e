package address

import (
	"strings"
	"testing"

	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

// server declares names and uses them; each test asks about its last line.
func server(lines string) (*Names, source.Span) {
	quotes := source.Grammar{source.String(`"`, `"`, source.Quoting{})}
	t := quotes.Read([]byte(lines))
	d := Read(t, ";\n", lazyregexp.New(`(?m)^[ \t]*(?:let )?(?P<name>\w+) = `))
	return d, source.Span{From: strings.LastIndexByte(lines, '\n') + 1, To: len(lines)}
}

func TestReachFollowsNamesAndTheirFields(t *testing.T) {
	t.Parallel()
	d, s := server("options = Options()\noptions.key = secret\nsecret = read(\"a.pem\")\nother = read(\"b.pem\")\n" +
		"serve(credentials(options))")
	if got := strings.Join(d.Strings(d.Reach(s)), " "); got != "a.pem" {
		t.Errorf("the strings in reach are %q, want a.pem alone", got)
	}
}

func TestPathsOfSockets(t *testing.T) {
	t.Parallel()
	for lines, want := range map[string]string{
		`"/run/app.sock"`:                        "unix:/run/app.sock",
		"path = \"app.sock\"\npath":              "unix:app.sock",
		`env::var("A_SOCKET").unwrap_or("/a/b")`: "unix:/a/b unless $A_SOCKET is set",
		`env::var("A_SOCKET")`:                   "a Unix domain socket",
		`format("{}/app.sock", dir)`:             "a Unix domain socket",
		`dir.join("app.sock")`:                   "a Unix domain socket",
		"dir = \"/run\"\ndir + \"/app.sock\"":    "a Unix domain socket",
	} {
		d, s := server(lines)
		if got := d.SocketAt(s).Address.String(); got != want {
			t.Errorf("%s is %q, want %q", lines, got, want)
		}
	}
}

func TestHostsApartFromPorts(t *testing.T) {
	t.Parallel()
	for lines, want := range map[string]Host{
		`"50051"`:                                           UnknownHost,
		`(Ipv4Addr::LOCALHOST, 50051)`:                      Loopback,
		`(Ipv6Addr::UNSPECIFIED, 50051)`:                    AllInterfaces,
		`UNSPECIFIED, 50051`:                                AllInterfaces,
		`([127, 0, 0, 1], 50051)`:                           Loopback,
		`({0, 0, 0, 0}, 50051)`:                             AllInterfaces,
		"host = \"localhost\"\nport = 50051\nf(host, port)": Loopback,
		"host = \"0.0.0.0\"\nhost = \"::1\"\nport = 50051\nf(host, port)": UnknownHost,
	} {
		d, s := server(lines)
		if got := d.Value(s); got.Host != want || got.Local() != 50051 {
			t.Errorf("%s is on host %d with port %d, want host %d", lines, got.Host, got.Local(), want)
		}
	}
	if d, s := server(`([10, 0, 0, 5], 50051)`); d.Value(s).Local() != 0 {
		t.Error("the port of one interface is taken for that of loopback")
	}
}

func TestConditionsOfCode(t *testing.T) {
	t.Parallel()
	d, s := server("b = builder\nif tls {\n  for c in all {\n    use(c)\n  }\n}\nb.serve()")
	at := strings.Index(string(d.Raw), "use")
	if got := d.ConditionsAround(at, s.From); len(got) != 1 || d.Slice(got[0]) != "tls" {
		t.Errorf("the conditions are %v", got)
	}
	if d.RunsWith(at, s.From) || !d.RunsWith(at, at+1) {
		t.Error("code in blocks of its own runs with the code around them, or not with itself")
	}
	if got := d.ConditionsAround(at, at+1); len(got) != 0 {
		t.Errorf("code depends on conditions %v that hold beside it", got)
	}
}

func TestConditionIsWhatCodeRunsUnder(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"void f() { b.HERE(); }":                             "",
		"if (tls) { b.HERE(); }":                             "tls",
		"if (tls) b.HERE();":                                 "tls",
		"if (debug) { log(); } b.HERE();":                    "",
		"if (debug) log(); b.HERE();":                        "",
		"x = tls ? HERE : b;":                                "tls",
		"x = tls ? b : HERE;":                                "not tls",
		"x = a ? b : c; HERE":                                "",
		"x = a ? b : c\nf(HERE)":                             "",
		"x = a\n  ? HERE\n  : b":                             "a",
		"if (a) { b(o -> { o.HERE(); }); }":                  "a",
		"if (a) { b(); } else { HERE }":                      "not a",
		"if (a) {\n  b();\n} else if (c) {\n  HERE\n}":       "c, not a",
		"unless a\n  b()\nelse\n  HERE\nend":                 "a",
		"x = a?.b ?? HERE":                                   "",
		"s = forPort(p)\n    .a()\n    .HERE()":              "",
		"s = if (tls) HERE else b":                           "tls",
		"s = if tls { b } else { HERE }":                     "not tls",
		"s = HERE if tls else b":                             "tls",
		"if (debug) log()\nb.HERE()":                         "",
		"if (tls)\n    b.HERE()":                             "tls",
		"serve { it.a { b() }.HERE() }":                      "",
		"if (a) {\n  b()\n}\nval s = new C(x, {\n  HERE\n})": "",
	} {
		d := Read(source.Grammar{}.Read([]byte(text)), ";\n")
		var got []string
		for _, c := range d.Conditions(strings.Index(text, "HERE"), 0) {
			got = append(got, map[bool]string{true: "not "}[c.Negated]+d.Slice(c.Span))
		}
		if got := strings.Join(got, ", "); got != want {
			t.Errorf("%q: conditions %q, want %q", text, got, want)
		}
	}
}

func TestConditionsOfOtherCodeAreNone(t *testing.T) {
	t.Parallel()
	text := "if (serve) {\n  b.start();\n  if (tls) { b.HERE() }\n}"
	d := Read(source.Grammar{}.Read([]byte(text)), ";")
	got := d.ConditionsAround(strings.Index(text, "HERE"), strings.Index(text, "start"))
	if len(got) != 1 || d.Slice(got[0]) != "tls" {
		t.Errorf("conditions %v", got)
	}
}
