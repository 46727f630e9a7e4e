package dart

import (
	"slices"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/oldaddress"
	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

var (
	classHead = lazyregexp.New(`\bclass\s+(?P<name>\w+)[^{;]*\{`)
	// functionHead is a function of a library, or the constructor of a class, up to its parameters.
	functionHead = lazyregexp.New(`(?m)^[ \t]*(?:[\w<>?,]+[ \t]+)*(?P<name>\w+)[ \t]*\(`)
	functionBody = lazyregexp.New(`^\)\s*(?:async\s*)?(?:\{|=>)`)
	// parameter is a parameter, up to its default if it has one: int port, this.port, required this.port = 50051.
	parameter = lazyregexp.New(
		`^(?:(?:required|final|covariant|[A-Z]\w*\??|int\??|num\??)\s+)*(?:this\.)?(\w+)\s*(?:=\s*)?`)
	// field is a field of a class with a value, and fieldSet gives a field of an object another one.
	field           = lazyregexp.New(`(?m)^[ \t]*(?:late[ \t]+)?(?:int|num|var|String)\??[ \t]+(?P<name>\w+)\s*=`)
	fieldSet        = lazyregexp.New(`(?P<object>\w*)[)!?]*\.+(?P<name>\w+)\s*=\s*\b`)
	listenParameter = lazyregexp.New(`(?i)port|addr|bind|listen|host`)
	call            = lazyregexp.New(`(?:^|[^\w.])(?P<name>\w+)\(`)
)

const (
	// maxFunctions is how many functions of a source are looked at, and maxHead how many bytes after their parameters.
	maxFunctions = 256
	maxHead      = 40
)

// notCalled are what parentheses follow that is no function of the app's own.
var notCalled = []string{"if", "for", "while", "switch", "catch", "return", "main", "print", "assert", "super", "this"}

// declareFunctions declares the parameters of functions and constructors that say where something listens.
func declareFunctions(names *address.Names) {
	classes := map[string]source.Span{}
	for _, m := range names.FindAll(classHead, maxFunctions) {
		_, body := names.Arguments(m[1])
		classes[string(names.Code[m[2]:m[3]])] = body
	}
	for _, m := range names.FindAll(functionHead, maxFunctions) {
		parameters, all := parametersAt(names, m[1])
		if !address.AnyNamed(parameters, listenParameter) {
			continue
		}
		c := address.Callable{Name: string(names.Code[m[2]:m[3]]), At: m[1], Parameters: parameters}
		body, isConstructor := classes[c.Name]
		isFunction := functionBody.Match(names.Code[all.To:min(len(names.Code), all.To+maxHead)])
		switch {
		case isConstructor:
			c.Body = body
		case isFunction:
			c.Body = source.Span{From: all.From, To: names.BodyEnd(all.To)}
			if names.Indented(names.LogicalLine(m[0])) > 0 {
				c.Name = ""
			}
		default:
			continue
		}
		names.DeclareCallable(c)
	}
	for _, m := range names.FindAll(field, maxFunctions) {
		name, _ := names.Group(field, m, "name")
		for _, body := range classes {
			if body.Contains(m[0]) && listenParameter.MatchString(name) {
				names.DeclareCallable(address.Callable{
					Name: "." + name, At: m[0], Parameters: []address.Parameter{{Name: name}}, Body: body,
				})
			}
		}
	}
}

// parametersAt returns the parameters that begin at an offset, and the span of them all. Those that are given by name,
// or not at all, stand in brackets of their own.
func parametersAt(names *address.Names, at int) (parameters []address.Parameter, all source.Span) {
	each, all := names.Arguments(at)
	for _, s := range each {
		if text := names.Slice(s); strings.HasPrefix(text, "{") || strings.HasPrefix(text, "[") {
			named, _ := names.Parameters(s.From+1, parameter)
			parameters = append(parameters, named...)
			continue
		}
		parameters = append(parameters, names.Parameter(s, parameter))
	}
	return parameters, all
}

// mayStart are in the sources of programs that may give a port to a server in another source.
var mayStart = source.NewKeywords("erver(", "erve(", "rpc(", "Rpc(")

// setsField are in the sources that may give a port to a field.
var setsField = source.NewKeywords(".port =", "Port =", ".address =")

// given returns what the program in a source gives to functions and constructors of others.
func given(names *address.Names) []address.Declaration {
	return names.Given(call, func(called string) string {
		if slices.Contains(notCalled, called) {
			return ""
		}
		return called
	})
}

// fieldsSet returns what a source gives to fields of objects. Each may be of any class, so that the default of a field
// of that name is not known to hold.
func fieldsSet(t *source.Text) []address.Declaration {
	var all []address.Declaration
	for _, m := range t.FindAll(fieldSet, maxFunctions) {
		name, _ := t.Group(fieldSet, m, "name")
		if object, _ := t.Group(fieldSet, m, "object"); object != "this" && listenParameter.MatchString(name) {
			all = append(all, address.Declaration{Name: address.ArgumentName("."+name, name)})
		}
	}
	return all
}
