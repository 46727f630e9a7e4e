package jvm

import (
	"github.com/grpc-cnb/health-probe/detect/oldaddress"
	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

// typeArguments stand between a name and what it is given in Scala: serve[F[_]: Async](port: Int), serve[IO](9090).
const typeArguments = `\s*(?:\[(?:[^\[\]()]|\[[^\[\]()]*\])*\]\s*)?`

var (
	// parameters are those of a function or a constructor that is declared: Server(int port),
	// class Server(val port: Int), def serve(port: Int)(services: List).
	parameters = lazyregexp.New(`\b(?P<name>[A-Za-z_]\w*)` + typeArguments +
		`\((?P<all>[^()]*)\)\s*(?:\([^()]*\)\s*)*` +
		`(?::[^={;()]*(?:\([^()]*\)[^={;()]*)?|throws\s+[\w.,\s]+)?(?:[{=]|extends\b|\n)`)
	// javaParameter is int port, and parameter port: Int = 9090, up to its default.
	javaParameter = lazyregexp.New(`(\w+)\s*$`)
	parameter     = lazyregexp.New(`(\w+)\s*:[^=]*(?:=\s*|$)`)
	// listenParameter is a parameter that says where something listens, by its name.
	listenParameter = lazyregexp.New(`(?i)port|addr|host|bind|^p$`)
)

// maxFunctions is how many functions of a source are declared whose parameters say where something listens: each is
// searched for in all of the text.
const maxFunctions = 32

// declareParameters declares the parameters of functions and constructors that say where something listens.
func (n *names) declareParameters() {
	left := maxFunctions
	for _, m := range n.text.FindAll(parameters, maxValues) {
		name := n.callable(m)
		pattern := parameter
		if n.ext == ".java" {
			pattern = javaParameter
		}
		at := m[2*parameters.SubexpIndex("all")]
		each, all := n.read.Parameters(at, pattern)
		if name == "catch" || !address.AnyNamed(each, listenParameter) {
			continue
		}
		if left--; left < 0 {
			return
		}
		for i, p := range each {
			n.read.Forget(p.Name, all)
			each[i].Given = n.propertyGivers(name, p.Name, all)
		}
		n.read.DeclareArguments(address.Function{Name: name, At: m[0], End: all.To, Parameters: each})
		n.read.DeclareCallable(address.Callable{
			Name: n.calledAs(name, m[0]), At: at, Parameters: each, Body: n.bodyAfter(m[1], all),
		})
	}
}

// callable returns the name of what has parameters, that of the type for its constructor and for what is called as an
// object of Scala is.
func (n *names) callable(match []int) string {
	name, _ := n.text.Group(parameters, match, "name")
	if name == "constructor" || name == "apply" {
		return n.typeAt(match[0])
	}
	return name
}

// calledAs returns how other files call a function, or the constructor of a type, that is declared at an offset.
func (n *names) calledAs(name string, at int) string {
	if startsWithCapital.MatchString(name) || n.text.Indented(n.text.LogicalLine(at)) == 0 {
		return name
	}
	return n.typeAt(at) + "." + name
}

// bodyAfter returns where parameters are visible, with the parameters themselves, by the end of the head of a function.
func (n *names) bodyAfter(head int, parameters source.Span) source.Span {
	if n.text.Code[head-1] != '{' {
		return source.Span{From: parameters.From, To: n.text.BodyEnd(parameters.To)}
	}
	_, body := n.text.Arguments(head)
	return source.Span{From: parameters.From, To: body.To}
}
