package address

import (
	"slices"
	"strings"
	"testing"

	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
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
	d := Read(read, ";\n", lazyregexp.New(`\blet (?P<name>\w+) = `))
	for _, m := range read.FindAll(lazyregexp.New(`func (\w+)\(`), -1) {
		parameters, all := read.Arguments(m[1])
		f := Function{Name: string(read.Code[m[2]:m[3]]), At: m[2], End: all.To, IsAlone: true}
		for _, at := range parameters {
			name, value, _ := strings.Cut(read.Slice(at), " = ")
			p := Parameter{Name: name}
			if value != "" {
				p.Default = source.Span{From: at.To - len(value), To: at.To}
			}
			f.Parameters = append(f.Parameters, p)
		}
		d.DeclareArguments(f)
	}
	d.Global = func(u Use) Name { return Name{Path: u.Path} }
	call := lazyregexp.New(`listen\(`).FindIndex(read.Code)
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

func TestDefaultsGiveThePort(t *testing.T) {
	t.Parallel()
	head := "func serve(host, port = 50053) {\n    listen(port)\n}\n"
	for call, want := range map[string]int{
		"serve()": 50053, "serve(a)": 50053, "serve(a, 50054)": 50054, "serve()\nserve(a, 50054)": 0,
		"serve(...all)": 0, "server.serve()": 0, "": 0,
	} {
		d, address := declare(t, head+call+"\n")
		if v := d.Value(address); v.Local() != want {
			t.Errorf("after %q the port is %d, want %d", call, v.Local(), want)
		}
	}
}

func TestFunctionsGiveThePort(t *testing.T) {
	t.Parallel()
	d, address := declare(t, "listen(getPort())\n{ return options.port ? options.port : \"50052\"; }\n")
	for _, value := range d.Returns(len("listen(getPort())\n{")) {
		d.DeclareFunction("", "getPort", value)
	}
	if port := d.Value(address).Local(); port != 50052 {
		t.Errorf("the port is %d", port)
	}
}

func TestDefaultThatIsTheParameterItselfIsNotKnown(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"func serve(port = port) {\n    listen(port)\n}\n",
		"func serve(port = other, other = port) {\n    listen(port)\n}\n",
	} {
		d, address := declare(t, text)
		if port := d.Value(address).Local(); port != 0 {
			t.Errorf("of %q the port is %d", text, port)
		}
	}
}
