package address_test

import (
	"strings"
	"testing"

	"github.com/grpc-cnb/health-probe/detect/address"
	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

var (
	grammar = source.Grammar{
		source.LineComment("//"), source.String(`"`, `"`, source.Quoting{Embeds: "#{"}),
		source.String("'", "'", source.Quoting{}), source.String("`", "`", source.Quoting{Embeds: "${"}),
	}
	assignment = lazyregexp.New(
		`(?m)(?:^|;)[ \t]*(?:(?:const|let|int)[ \t]+|(?:self|this)\.)?(?P<name>[@\w]+)[ \t]*=[ \t]*`)
	field   = lazyregexp.New(`\bflag\("(?P<field>[ ]*)",\s*`)
	listens = lazyregexp.New(`\blisten\(`)
)

// Each text calls listen with what states an address, or does not.
func TestAddresses(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`listen("0.0.0.0:50051")`:                                   "port 50051",
		`listen("localhost:50051")`:                                 "port 50051 on loopback",
		`listen("10.0.0.1:50051")`:                                  "",
		`listen(50051)`:                                             "port 50051",
		`listen(50_051)`:                                            "port 50051",
		`listen("unix:/run/a.sock")`:                                "unix:/run/a.sock",
		`listen("unix:" + name)`:                                    "",
		"const PORT = 50051\nlisten(\"[::]:\" + PORT)":              "port 50051",
		"host = \"127.0.0.1\"\nlisten(host + \":50051\")":           "port 50051 on loopback",
		"PORT = 1111\ndef f(PORT)\n  listen(PORT)\nend":             "",
		"PORT = 1111\nPORT = 2222\nlisten(PORT)":                    "",
		"port = 1111\nlisten { |v|\n  port = v\n}\nlisten(port)":    "",
		"port = load()\nlisten(port)":                               "",
		"port = 1111\nport = load\nlisten(port)":                    "",
		"def f\n  port = 1111\nend\ndef g\n  listen(port)\nend":     "",
		`listen(process.env.PORT || 50051)`:                         "port 50051 unless $PORT is set",
		`listen(getenv("GRPC_PORT", "50051"))`:                      "port 50051 unless $GRPC_PORT is set",
		`listen(ENV["PORT"])`:                                       "port $PORT",
		"port = ENV.fetch('PORT', 50051)\nlisten(\"[::]:#{port}\")": "port 50051 unless $PORT is set",
		`listen(args.port || 50051)`:                                "port 50051 by default",
		`listen(config.port || 50051)`:                              "",
		"flag(\"grpc-port\", 50051)\nlisten(options.grpc_port)":     "port 50051 by default",
		"flag(\"grpc-port\", 50051)\nlisten(options['grpc_port'])":  "port 50051 by default",
		`listen(50051 + id)`:                                        "",
		`listen(port ? port : 50051)`:                               "",
		"host, port = \"localhost\", 50051\nlisten(port)":           "port 50051 on loopback",
		"self.port = 50051\nlisten(self.port)":                      "port 50051",

		"def f(port)\n  listen(port)\nend\nf(50051)":                                       "port 50051",
		"def f(host, port = 1111)\n  listen(port)\nend\nf('', 50051)":                      "port 50051",
		"def f(host, port = 50051)\n  listen(port)\nend\nf('')":                            "port 50051 by default",
		"def f(port = 50051)\n  listen(port)\nend":                                         "",
		"def f(port)\n  listen(port)\nend\nf(1111)\nf(2222)":                               "",
		"def f(port)\n  listen(port)\nend\n" + strings.Repeat("f(1111)\n", 16) + "f(2222)": "",
		"def f(port)\n  listen(port)\nend\nf(load())":                                      "",
		"void f(int port) {\n  listen(port)\n}\nvoid f(int n, int port) {\n}\nf(1)":        "",
		"class A(port: Int) {\n  val s = listen(port)\n}\nport = 50051\na = A(port)":       "port 50051",
		"class A {\n  constructor(port) {\n    this.port = port\n  }\n  f() {\n    listen(this.port)\n  }\n}\n" +
			"new A(50051)": "port 50051",
		"port = 50051\nmain() {\n  port = getenv(\"PORT\")\n  listen(port)\n}":  "port 50051 unless $PORT is set",
		"port = 1111\ndef main\n  port = getenv(\"PORT\")\n  listen(port)\nend": "port $PORT",
		"// listen(1111)\nlisten(random(50051))":                                "",
		`listen({port: 50051, host: "0.0.0.0"})`:                                "port 50051",
		"listen(`${hostname()}:50051`)":                                         "port 50051",
		`listen(gethostname() + ":50051")`:                                      "",
	} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			got, why := addressIn(t, text)
			if got.String() != want {
				t.Errorf("got %q (%s), want %q", got, why, want)
			}
			if isKnown := got.IsKnown() || got.Host == address.OneInterface; isKnown == (why != "") {
				t.Errorf("%q, and why it is not known: %q", got, why)
			}
		})
	}
}

func addressIn(t *testing.T, text string) (a address.Address, why string) {
	t.Helper()
	read := grammar.Read([]byte(text))
	names := address.Read(read, ",;\n", assignment, field)
	calls := read.FindAll(listens, -1)
	if len(calls) == 0 {
		return a, "no call"
	}
	argument, _ := read.Argument(calls[len(calls)-1][1], 0)
	return names.Address(argument)
}

func TestWhyAnAddressIsNotKnown(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`listen(port)`: "port is not declared in the file",
		"PORT = 1111\nPORT = 2222\nlisten(PORT)": "several addresses are written: port 1111 in line 1, " +
			"port 2222 in line 2",
		`listen(base + 1)`: `"base + 1" calculates`,
		`listen("here")`:   "no port is written there",
		"flag(\"port\", \"\")\nlisten(options.port)": "no port is written there",
	} {
		if _, got := addressIn(t, text); got != want {
			t.Errorf("%s: got %q, want %q", text, got, want)
		}
	}
}

// An address of another file is named by its place there.
func TestAddressesOfOtherFilesDiffer(t *testing.T) {
	t.Parallel()
	read := grammar.Read([]byte("listen(PORT)"))
	names := address.Read(read, "\n", assignment)
	names.Elsewhere = func(string, int) []address.Address {
		one, other := address.Parse(":1111"), address.Parse(":2222")
		one.Place.Path, one.Place.Line, other.Place.Path, other.Place.Line = "a.go", 3, "b.go", 5
		return []address.Address{one, other}
	}
	argument, _ := read.Argument(len("listen("), 0)
	const want = "several addresses are written: port 1111 in a.go:3, port 2222 in b.go:5"
	if a, why := names.Address(argument); a.IsKnown() || why != want {
		t.Errorf("got %q, because %q; want %q", a, why, want)
	}
}

// A chain of names, each of which has several values, costs no more than the bounds.
func TestLongChainsOfNamesEnd(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	for range 2000 {
		text.WriteString("a = b + c\nb = c + a\nc = a + b\n")
	}
	text.WriteString("listen(a)")
	if got, _ := addressIn(t, text.String()); got.IsKnown() {
		t.Errorf("got %q", got)
	}
}

func FuzzAddress(f *testing.F) {
	f.Add("const A = 'x:1'\nlisten(A + \":#{b['c']}\" ? 80_80 : env(\"P\"))")
	f.Add("flag(\"a-b\", {1, 2})\nlisten(o->a_b.get(:a) || `unix:${x}`)")
	f.Fuzz(func(t *testing.T, text string) {
		got, _ := addressIn(t, text)
		if got.Port < 0 || got.Port > 65535 || got.Certainty != address.Unknown && !got.IsKnown() &&
			got.Host != address.OneInterface {
			t.Errorf("got %+v", got)
		}
	})
}
