package address

import (
	"regexp"
	"slices"
	"testing"

	"github.com/grpc-cnb/health-probe/detect/source"
)

// serve is a text with a function whose parameter other functions have too.
const serve = `
func connect(port) {
    dial(port)
}
func serve(port, name) {
    listen(port)
}
func main() {
    connect(1234)
    serve(settings.port, "x")
    serve(getPort(), "y")
}
`

func declare(t *testing.T, text string) (*Names, source.Span) {
	t.Helper()
	read := source.Grammar{source.String(`"`, `"`, source.Quoting{})}.Read([]byte(text))
	d := Read(read, ";\n", regexp.MustCompile(`\blet (?P<name>\w+) = `))
	for _, m := range read.FindAll(regexp.MustCompile(`func (\w+)\(`), -1) {
		parameters, all := read.Arguments(m[1])
		var names []string
		for _, p := range parameters {
			names = append(names, read.Slice(p))
		}
		d.DeclareArguments(string(read.Code[m[2]:m[3]]), m[2], all.To, names)
	}
	d.Global = func(u Use) Name { return Name{Path: u.Path} }
	call := regexp.MustCompile(`listen\(`).FindIndex(read.Code)
	address, _ := read.Argument(call[1], 0)
	return d, address
}

func TestArgumentsOfOtherFunctionsAreNotSeen(t *testing.T) {
	t.Parallel()
	d, address := declare(t, serve)
	if port := d.Value(address).Local(); port != 0 {
		t.Errorf("the port is %d", port)
	}
	want := []Name{{Path: ".port"}, {Path: "getPort()"}, {Path: "getPort"}}
	if got := d.Value(address).Names; !slices.Equal(got, want) {
		t.Errorf("not declared are %q, want %q", got, want)
	}
}

func TestArgumentsGiveThePort(t *testing.T) {
	t.Parallel()
	d, address := declare(t, "func serve(port) {\n    listen(port)\n}\n"+
		"func main() {\n    let p = 50051\n    serve(p)\n}\n")
	if v := d.Value(address); v.Local() != 50051 || v.Place.Line != 5 {
		t.Errorf("the port is %d in line %d", v.Local(), v.Place.Line)
	}
	if got := d.Value(address).Names; got != nil {
		t.Errorf("not declared are %q", got)
	}
}

func TestFunctionsGiveThePort(t *testing.T) {
	t.Parallel()
	d, address := declare(t, "listen(config.getPort())\n{ return options.port ? options.port : \"50052\"; }\n")
	for _, value := range d.Returns(len("listen(config.getPort())\n{")) {
		d.DeclareFunction("getPort", value)
	}
	if port := d.Value(address).Local(); port != 50052 {
		t.Errorf("the port is %d", port)
	}
}
