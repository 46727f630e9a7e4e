package node

import (
	"cmp"
	"path"
	"regexp"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/address"
	"github.com/grpc-cnb/health-probe/detect/source"
)

var (
	// functionHead is a function, or the value of a variable that may be one, up to its parameters.
	functionHead = regexp.MustCompile(`\bfunction\s+(?P<name>[A-Za-z_$][\w$]*)\s*(?:<[^<>()]*>\s*)?\(`)
	arrowHead    = regexp.MustCompile(`\b(?:const|let|var)\s+(?P<name>[A-Za-z_$][\w$]*)\s*(?::[^=;\n]{1,100})?=\s*` +
		`(?:async\s+)?(?:function\b\s*[\w$]*\s*)?(?:<[^<>()]*>\s*)?\(`)
	// defaultHead is a function without a name that a module exports as a whole, and defaultName a name.
	defaultHead = regexp.MustCompile(asWhole + `(?:async\s+)?(?:function\b\s*)?(?:<[^<>()]*>\s*)?\(`)
	defaultName = regexp.MustCompile(asWhole + `(?:async\s+)?(?:(?:function|class)\s+)?(?P<name>[A-Za-z_$][\w$]*)`)
	// methodHead is a method of a class, and functionBody what stands between parameters and the body.
	methodHead = regexp.MustCompile(`(?m)^[ \t]*(?:(?:public|private|protected|static|async)\s+)*` +
		`(?P<name>[A-Za-z_$][\w$]*)\s*(?:<[^<>()]*>\s*)?\(`)
	functionBody = regexp.MustCompile(`^\)\s*(?::[^={}]{0,100})?(?:=>\s*)?\{`)
	// parameter is a parameter, up to its default if it has one.
	parameter = regexp.MustCompile(`^(?:(?:public|private|protected|readonly|override)\s+)*` +
		`(?P<name>[\w$]+)\??\s*(?::[^=]*)?(?:=\s*)?`)
	listenParameter = regexp.MustCompile(`(?i)port|addr|bind|listen|endpoint|url`)
	// call is the call of a function, of a function of a module, or of a constructor.
	call = regexp.MustCompile(`(?:^|[^\w$.])(?P<name>(?:new\s+)?[A-Za-z_$][\w$]*(?:\.[\w$]+)?)\s*(?:<[^<>();]*>)?\(`)
)

// asWhole goes before what a module exports as a whole, and is imported under any name.
const asWhole = `(?:\bexport\s+default\s+|\bmodule\.exports\s*=\s*|(?m:^\s*export\s*=\s*))`

// maxReturnType is how many bytes after the parameters of a function its body begins.
const maxReturnType = 160

// declareFunctions declares the parameters of functions, methods and constructors that say where something listens.
func (p *pass) declareFunctions() {
	for _, m := range p.FindAll(functionHead, maxSettings) {
		if f, ok := p.callable(p.Part(functionHead, m, "name"), m[1]); ok {
			name := p.Part(functionHead, m, "name")
			all := address.Function{
				Name: name, At: m[2], End: p.end(m[1]), IsAlone: true, Parameters: f.Parameters,
			}
			if !p.names.DeclareArguments(all) {
				p.names.DeclareCallable(f)
			}
		}
	}
	for _, m := range p.FindAll(arrowHead, maxSettings) {
		if f, ok := p.callable(p.Part(arrowHead, m, "name"), m[1]); ok {
			p.names.DeclareCallable(f)
		}
	}
	for _, m := range p.FindAll(defaultHead, 1) {
		if f, ok := p.callable("default", m[1]); ok {
			p.names.DeclareCallable(f)
		}
	}
	for _, m := range p.FindAll(classHead, address.MaxListeners) {
		_, body := p.Arguments(m[1])
		p.declareMethods(p.Part(classHead, m, "name"), body)
	}
}

// declareMethods declares the parameters of the methods of a class. Those of its constructor may become fields.
func (p *pass) declareMethods(class string, body source.Span) {
	for _, m := range methodHead.FindAllSubmatchIndex(p.Code[body.From:body.To], maxSettings) {
		name := p.Slice(source.Span{From: body.From + m[2], To: body.From + m[3]})
		f, ok := p.callable("", body.From+m[1])
		if !ok {
			continue
		}
		if name == "constructor" {
			f.Name, f.Body = p.exported(class), body
		}
		p.names.DeclareCallable(f)
	}
}

// end returns where the parameters end that begin at an offset.
func (p *pass) end(parameters int) int {
	_, all := p.Arguments(parameters)
	return all.To
}

// callable returns the function whose parameters begin at an offset, and whether one of them says where something
// listens.
func (p *pass) callable(name string, at int) (f address.Callable, listens bool) {
	if f.At = at; name != "" {
		f.Name = p.exported(name)
	}
	var all source.Span
	f.Parameters, all = p.names.Parameters(at, parameter)
	f.Body = source.Span{From: at, To: p.Until(all.To+1, ";\n")}
	if open := functionBody.FindIndex(p.Code[all.To:min(len(p.Code), all.To+maxReturnType)]); open != nil {
		_, body := p.Arguments(all.To + open[1])
		f.Body.To = body.To
	}
	return f, address.AnyNamed(f.Parameters, listenParameter)
}

// exported returns the name of a function or a class for other modules.
func (p *pass) exported(name string) string {
	for _, m := range p.FindAll(defaultName, 1) {
		if p.Part(defaultName, m, "name") == name {
			name = "default"
		}
	}
	return p.module + "." + name
}

// declareGiven adds what the source gives to functions and constructors of the app's other modules, and to its own
// constructors.
func (p *pass) declareGiven() {
	for _, a := range p.variables().ArgumentsOf(call, p.calledElsewhere) {
		if len(p.declares) < maxSettings {
			p.declares = append(p.declares, address.Declaration{Name: a.Name, Value: p.value(a.Value)})
		}
	}
}

// calledElsewhere returns the name, for other files, of what is called; "" for what is none of the app's modules.
func (p *pass) calledElsewhere(called string) string {
	class, isNew := strings.CutPrefix(called, "new")
	if isNew = isNew && strings.TrimSpace(class) != class; isNew {
		called = strings.TrimSpace(class)
	}
	root, member, isMember := strings.Cut(called, ".")
	switch e, imported := p.Imports[root]; {
	case imported && !mayBeOwnModule(e.Module), isMember && e.Name != "":
		return ""
	case imported:
		return moduleName(e.Module) + "." + cmp.Or(member, e.Name, "default")
	case isNew && !isMember:
		return p.exported(root)
	}
	return ""
}

var sourceExtension = regexp.MustCompile(`\.[cm]?[jt]s$`)

// moduleName returns what an import and a file have in common: the last part of the path, or that before it if that is
// an index. Two modules may have functions of one name.
func moduleName(file string) string {
	name := sourceExtension.ReplaceAllString(path.Base(file), "")
	if name == "index" {
		return path.Base(path.Dir(file))
	}
	return name
}
