package swift

import (
	"github.com/grpc-cnb/health-probe/detect/oldaddress"
	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

var (
	typeHead = lazyregexp.New(`\b(?:class|struct|actor)\s+(?P<name>\w+)[^{;]*\{`)
	// storedProperty is a property without a value: the initializer of a structure takes it by its name.
	storedProperty = lazyregexp.New(`(?m)^[ \t]*(?:(?:private|public|internal|fileprivate)[ \t]+)?` +
		`(?:let|var)[ \t]+(\w*` + listens + `)[ \t]*:[ \t]*[\w.]+\??[ \t]*\r?$`)
	// functionHead is a function or an initializer, up to its parameters.
	functionHead = lazyregexp.New(`\b(?:func\s+(?P<name>\w+)|init)\s*(?:<[^<>()]*>\s*)?\(`)
	functionBody = lazyregexp.New(`^\)[^{};]{0,100}\{`)
	// parameter is a parameter that is given by its name, up to its default if it has one.
	parameter  = lazyregexp.New(`^(\w*` + listens + `)\s*:[^=]*(?:=\s*)?`)
	listenName = lazyregexp.New(listens)
	call       = lazyregexp.New(`(?:^|[^\w.])(?P<name>\w+)\(`)
)

const (
	// listens are the ends of the names of properties and parameters that say where something listens.
	listens = `(?:[pP]ort|[hH]ost|[aA]ddress)`
	// maxFunctions is how many functions of a source are looked at, and maxHead how many bytes after their parameters.
	maxFunctions = 256
	maxHead      = 120
)

// declareFunctions declares the parameters of functions and types that say where something listens.
func declareFunctions(names *address.Names) {
	for _, m := range names.FindAll(functionHead, maxFunctions) {
		c := address.Callable{At: m[1], Body: source.Span{From: m[1]}}
		if m[2] >= 0 && names.Indented(names.LogicalLine(m[0])) == 0 {
			c.Name = string(names.Code[m[2]:m[3]])
		}
		var all source.Span
		c.Parameters, all = names.Parameters(m[1], parameter)
		open := functionBody.FindIndex(names.Code[all.To:min(len(names.Code), all.To+maxHead)])
		if isInitializer := m[2] < 0; isInitializer || open == nil || !address.AnyNamed(c.Parameters, listenName) {
			continue
		}
		_, body := names.Arguments(all.To + open[1])
		c.Body.To = body.To
		names.DeclareCallable(c)
	}
	for _, m := range names.FindAll(typeHead, maxFunctions) {
		c := address.Callable{Name: string(names.Code[m[2]:m[3]])}
		_, c.Body = names.Arguments(m[1])
		code := names.Code[c.Body.From:c.Body.To]
		for _, f := range functionHead.FindAllSubmatchIndex(code, maxFunctions) {
			if isInitializer := f[2] < 0; isInitializer {
				parameters, _ := names.Parameters(c.Body.From+f[1], parameter)
				c.Parameters = append(c.Parameters, parameters...)
			}
		}
		for _, p := range storedProperty.FindAllSubmatch(code, maxFunctions) {
			c.Parameters = append(c.Parameters, address.Parameter{Name: string(p[1])})
		}
		names.DeclareCallable(c)
	}
}

// mayStart are in sources that may give a port to a server in another source.
var mayStart = source.NewKeywords("ort: ", "ddress: ")

// given returns what a source gives to functions and initializers of others.
func given(names *address.Names) []address.Declaration {
	return names.Given(call, func(called string) string { return called })
}
