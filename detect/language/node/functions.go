package node

import (
	"bytes"
	"cmp"
	"path"
	"strconv"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/language/node/ecmascript"
	"github.com/grpc-cnb/health-probe/detect/oldaddress"
	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

var (
	// functionHead is a function, or the value of a variable that may be one, up to its parameters.
	functionHead = lazyregexp.New(`\bfunction\s+(?P<name>[A-Za-z_$][\w$]*)\s*(?:<[^<>()]*>\s*)?\(`)
	arrowHead    = lazyregexp.New(`\b(?:(?:const|let|var)\s+|(?:module\.)?exports\.)` +
		`(?P<name>[A-Za-z_$][\w$]*)\s*(?::[^=;\n]{1,100})?=\s*` +
		`(?:async\s+)?(?:function\b\s*[\w$]*\s*)?(?:<[^<>()]*>\s*)?\(`)
	// defaultHead is a function without a name that a module exports as a whole, and defaultName a name.
	defaultHead = lazyregexp.New(asWhole + `(?:async\s+)?(?:function\b\s*)?(?:<[^<>()]*>\s*)?\(`)
	defaultName = lazyregexp.New(asWhole + `(?:async\s+)?(?:(?:function|class)\s+)?(?P<name>[A-Za-z_$][\w$]*)`)
	// methodHead is a method of a class, and functionBody what stands between parameters and the body.
	methodHead = lazyregexp.New(`(?m)^[ \t]*(?:(?:public|private|protected|static|async)\s+)*` +
		`(?P<name>[A-Za-z_$][\w$]*)\s*(?:<[^<>()]*>\s*)?\(`)
	functionBody = lazyregexp.New(`^\)\s*(?::[^={}]{0,100})?(?:=>\s*)?\{`)
	// parameter is a parameter, up to its default if it has one.
	parameter = lazyregexp.New(`^(?:(?:public|private|protected|readonly|override)\s+)*` +
		`(?P<name>[\w$]+)\??\s*(?::[^=]*)?(?:=\s*)?`)
	// listenParameter is the name of a parameter that says where something listens, or whose fields may.
	listenParameter = lazyregexp.New(`(?i)port|addr|bind|listen|endpoint|url|opt|conf|sett|prop|param|args|cfg`)
	// call is the call of a function, of a function of a module, or of a constructor.
	call = lazyregexp.New(`(?:^|[^\w$.])(?P<name>(?:new\s+)?[A-Za-z_$][\w$]*(?:\.[\w$]+)?)\s*(?:<[^<>();]*>)?\(`)
)

// asWhole goes before what a module exports as a whole, and is imported under any name.
const asWhole = `(?:\bexport\s+default\s+|\bmodule\.exports\s*=\s*|(?m:^\s*export\s*=\s*))`

// maxReturnType is how many bytes after the parameters of a function its body begins.
const maxReturnType = 160

// declareFunctions declares the parameters of functions, methods and constructors that say where something listens.
func (p *pass) declareFunctions() {
	for _, m := range p.FindAll(defaultName, 1) {
		p.whole = p.Part(defaultName, m, "name")
	}
	for _, h := range p.functionHeads() {
		if f, ok := p.callable(cmp.Or(h.name, "default"), h.parameters); ok {
			p.names.DeclareCallable(f)
		}
	}
	for _, c := range p.classes() {
		p.declareMethods(c)
	}
}

// head is what a function begins with: its name, "" for what the module exports as a whole, and the offset of its
// parameters.
type head struct {
	name       string
	parameters int
}

// functionHeads returns the functions of the source.
func (p *pass) functionHeads() []head {
	if p.heads == nil {
		p.heads = []head{}
		for _, pattern := range []*lazyregexp.Regexp{functionHead, arrowHead, defaultHead} {
			for _, m := range p.FindAll(pattern, maxSettings) {
				p.heads = append(p.heads, head{p.Part(pattern, m, "name"), m[1]})
			}
		}
	}
	return p.heads
}

// declareMethods declares the parameters of the methods of a class. Those of its constructor may become fields.
func (p *pass) declareMethods(of class) {
	body := of.body
	for _, m := range methodHead.FindAllSubmatchIndex(p.Code[body.From:body.To], maxSettings) {
		name := p.Slice(source.Span{From: body.From + m[2], To: body.From + m[3]})
		f, ok := p.callable(of.name, body.From+m[1])
		if !ok {
			continue
		}
		if name == "constructor" {
			f.Body = body
		} else {
			f.Name += "." + name
		}
		p.names.DeclareCallable(f)
	}
}

// callable returns the function whose parameters begin at an offset, and whether one of them says where something
// listens.
func (p *pass) callable(name string, at int) (f address.Callable, listens bool) {
	f.At, f.Name = at, p.exported(name)
	var all source.Span
	f.Parameters, all = p.parameters(at)
	f.Body = source.Span{From: at, To: p.Until(all.To+1, ";\n")}
	if open := functionBody.FindIndex(p.Code[all.To:min(len(p.Code), all.To+maxReturnType)]); open != nil {
		_, body := p.Arguments(all.To + open[1])
		f.Body.To = body.To
	}
	return f, address.AnyNamed(f.Parameters, listenParameter)
}

// parameters returns the parameters that begin at an offset, and the span of them all. Each name that is taken out of
// an object of options is one: { port = 50051, host }.
func (p *pass) parameters(at int) (parameters []address.Parameter, all source.Span) {
	each, all := p.Arguments(at)
	for i, s := range each {
		position := strconv.Itoa(i)
		if s.From == s.To || p.Code[s.From] != '{' {
			one := p.names.Parameter(s, parameter)
			one.Position = position
			parameters = append(parameters, one)
			continue
		}
		for _, t := range p.Taken(s.From + 1) {
			parameters = append(parameters, address.Parameter{
				Name: t.Name, Default: t.Default, Position: position + "." + t.Property,
			})
		}
	}
	return parameters, all
}

// exported returns the name of a function or a class for other modules.
func (p *pass) exported(name string) string {
	if name == p.whole {
		name = "default"
	}
	return p.module + "." + name
}

// declareGiven adds what the source gives to functions and constructors of the app's modules, and to the fields of
// their options.
func (p *pass) declareGiven() {
	for _, a := range p.variables().ArgumentsOf(call, p.calledElsewhere) {
		p.declareArgument(a.Name, a.Value)
	}
}

// maxDots is how many dots the name of an argument may have: those of a module and of nested objects.
const maxDots = 2 * ecmascript.MaxNesting

// provided is an object that a container has by its class: app.get(ConfigService) says nothing of its settings.
var provided = lazyregexp.New(`^[\w$.]+\.(?:get|resolve)\(\s*[A-Z]\w*\s*\)\s*$`)

// declareArgument adds an argument or, of one that is an object, its fields and the objects that are spread into it.
func (p *pass) declareArgument(name string, value source.Span) {
	if provided.Match(p.Code[value.From:value.To]) {
		return
	}
	if isDeep := strings.Count(name, ".") > maxDots; isDeep || value.From == value.To || p.Code[value.From] != '{' {
		if len(p.declares) < maxSettings {
			p.declares = append(p.declares, address.Declaration{Name: name, Value: p.value(value)})
		}
		return
	}
	spread := p.spreadInto(value, value.From+1)
	for _, s := range spread {
		p.declareArgument(name, s)
	}
	leaves := len(spread) == 0
	for _, property := range p.Properties(value.From + 1) {
		p.declareArgument(address.FieldName(name, property.Name), property.Value)
		leaves = leaves && !listenParameter.MatchString(property.Name)
	}
	if leaves {
		p.declareArgument(name[:strings.LastIndexByte(name, '(')]+"()=", source.Span{From: value.To, To: value.To})
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
	case isNew && !isMember, !isMember && p.names.IsCallable(p.exported(root)):
		return p.exported(root)
	case isMember && !isNew:
		return p.methodOf(root, member)
	case !isNew:
		return p.passedFunctions()[root]
	}
	return ""
}

// passedFunctions returns the names, for other files, of the functions of other modules that calls give to parameters,
// by the names of these: main(start) to function main(startServer). It is "" for a parameter that gets several.
func (p *pass) passedFunctions() map[string]string {
	if p.passed != nil {
		return p.passed
	}
	p.passed = map[string]string{}
	for _, h := range p.functionHeads() {
		if h.name == "" {
			continue
		}
		parameters, all := p.parameters(h.parameters)
		for i, parameter := range parameters {
			if parameter.Name == "" || !bytes.Contains(p.Code, []byte(parameter.Name+"(")) {
				continue
			}
			of, ok := p.givenFunction(h.name, i, all)
			if before, isKnown := p.passed[parameter.Name]; isKnown && before != of {
				of = ""
			}
			if ok {
				p.passed[parameter.Name] = of
			}
		}
	}
	return p.passed
}

// givenFunction returns the one function of another module that calls of a function, whose parameters are in a span,
// give to one of these, and whether they give any.
func (p *pass) givenFunction(function string, number int, parameters source.Span) (of string, ok bool) {
	left := maxImports
	for at := range p.Words(function) {
		open := at + len(function) + 1
		if open > len(p.Code) || p.Code[open-1] != '(' || open == parameters.From {
			continue
		}
		if left--; left < 0 {
			break
		}
		given, _ := p.Argument(open, number)
		e, isImported := p.Imports[p.Slice(given)]
		if !isImported || !mayBeOwnModule(e.Module) {
			continue
		}
		name := moduleName(e.Module) + "." + cmp.Or(e.Name, "default")
		if ok && name != of {
			return "", true
		}
		of, ok = name, true
	}
	return of, ok
}

// methodOf returns the name, for other files, of a method of the object in a variable. It returns "" if the object is
// of none of the app's classes.
func (p *pass) methodOf(variable, method string) string {
	values := p.names.Values(variable, len(p.Code)-1)
	if len(values) != 1 {
		return ""
	}
	if m := newExpression.FindSubmatch(p.Code[values[0].From:values[0].To]); m != nil {
		if class := p.calledElsewhere("new " + string(m[1])); class != "" {
			return class + "." + method
		}
	}
	return ""
}

// moduleName returns what an import and a file have in common: the last part of the path, or that before it if that is
// an index. Two modules may have functions of one name.
func moduleName(file string) string {
	name := extension.ReplaceAllString(path.Base(file), "")
	if name == "index" {
		return path.Base(path.Dir(file))
	}
	return name
}
