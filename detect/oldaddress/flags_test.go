package address

import (
	"slices"
	"strings"
	"testing"

	"github.com/grpc-cnb/health-probe/detect/source"
)

// options are names that flags give.
func options(expression string) (*Names, source.Span) {
	text := source.Grammar{source.String(`"`, `"`, source.Quoting{})}.Read([]byte(expression))
	d := Read(text, "\n")
	d.DeclareFlags(".port", "--port", "p", "-", "port")
	d.DeclareFlags(".host", "--host")
	return d, source.Span{To: len(expression)}
}

func TestGiversStandInTheirOrder(t *testing.T) {
	t.Parallel()
	for expression, want := range map[string]string{
		"8080":                                  "",
		"options.port":                          "--port --p",
		"options.port || 8080":                  "--port --p",
		"options.port ? options.port : 8080":    "--port --p",
		"options.host, options.port":            "--host --port --p",
		"options.port, options.host":            "--port --p --host",
		"env.PORT || options.port || 8080":      "$PORT --port --p",
		"options.port || env.PORT || 8080":      "--port --p $PORT",
		`getenv("PORT") or options.port or 808`: "$PORT --port --p",
		"own.options.port":                      "",
	} {
		d, s := options(expression)
		if got := strings.Join(d.Value(s).Givers, " "); got != want {
			t.Errorf("%s: %q may give it, want %q", expression, got, want)
		}
	}
}

func TestVariableOfAnOptionComesAfterItsFlags(t *testing.T) {
	t.Parallel()
	for variable, want := range map[string]string{"PORT": "--port --p $PORT", "": "--port --p"} {
		d, s := options("8080")
		got := d.Option(".port", variable, s)
		if strings.Join(got.Givers, " ") != want || got.Variable != variable || got.Certainty != Default {
			t.Errorf("%q: %+v, want the givers %s", variable, got, want)
		}
	}
}

func TestFlagsInTheWordsOfAnOption(t *testing.T) {
	t.Parallel()
	for code, want := range map[string][]string{
		`"-p, --grpc-port <port>"`: {"p", "grpc-port"}, `"--port=PORT"`: {"port"},
		`"-g|--grpc.port"`: {"g", "grpc.port"},
		`("--port")`:       {"port"}, `["-p"]`: {"p"}, `"port"`: nil, `"a-b"`: nil, `a --1`: nil,
	} {
		if got := FlagsIn(code); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", code, got, want)
		}
	}
	for name, want := range map[string]string{"grpcPort": "grpc-port", "grpc_port": "grpc-port", "PORT": "port"} {
		if got := Hyphenated(name); got != want {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
	}
}

func TestNameOfAnExpression(t *testing.T) {
	t.Parallel()
	for code, want := range map[string]bool{
		"port + 1": true, "int(port)": true, "1+port": true, "import, port": true,
		"port": false, "$port ": false, "a.port": false, "a->port": false, "a::port": false,
		"ports": false, "import()": false,
	} {
		if got := UsesName(code, "port"); got != want {
			t.Errorf("%q uses the name port: %t, want %t", code, got, want)
		}
	}
}
