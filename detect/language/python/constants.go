package python

import (
	"slices"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/oldaddress"
	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

var (
	// passedOn are parts of the arguments by which a source passes on what others declare.
	passedOn = source.NewKeywords("port=", "addr=", "address=", "bind=", "listen=", "endpoint=", "url=")
	// startsServer are threads that may start a server, and calls that leave a server's port to its default.
	startsServer = source.NewKeywords("erve()", "erver()", "target=")
	// withoutDefault are parts of fields that have no default. They say that a field of the same name is not the only
	// one.
	withoutDefault = source.NewKeywords("_port:", " port:", "_PORT:", " addr:", "_addr:", " address:", "_address:")
	// fillsAny are in sources that may set what others declare, whatever it is called.
	fillsAny = source.NewKeywords("setattr(", "__dict__", "(**", "sys.modules[__name__]", "globals()")
	constant = lazyregexp.New(`(?m)^(?P<name>[A-Za-z_]\w*)[ \t]*(?::[ \t]*[\w.\[\], ]+)?=[ \t]*`)
	// replacesModule is what gives a module other variables than it declares, whatever they are called.
	replacesModule = lazyregexp.New(
		`(?m)\b(?:globals|^vars|^locals)\(\)(?:\.update\(|\[[^"'\]\n]*\]\s*=[^=])|\bsys\.modules\[__name__\]\s*=[^=]`)
	// keywordArgument is an argument that a call gives by its name.
	keywordArgument = lazyregexp.New(`[(,]\s*(?P<name>\w*(?:port|addr|address|bind|listen|endpoint|url))\s*=\s*`)
)

// maxConstants is how many constants of a source are kept, and maxConstantsSource how many bytes a source may have that
// is read for nothing else.
const (
	maxConstants       = 128
	maxConstantsSource = 64 << 10
)

// readConstants returns what a source declares for others to listen on: constants, the fields of classes, the options
// of the command line, and the arguments of calls.
func readConstants(t *source.Text, module string, i imports, names func() *address.Names) []address.Declaration {
	var all []address.Declaration
	add := func(name string, value source.Span) {
		if len(all) == maxConstants {
			return
		}
		all = append(all, names().Variable(name, value))
	}
	loads, isReplaced := address.LoadsSettings(t.Raw), t.Matches(replacesModule)
	if isReplaced {
		all = append(all, address.AnyOf(module))
	}
	for _, m := range t.FindAll(constant, -1) {
		name, value := string(t.Code[m[2]:m[3]]), source.Span{From: m[1], To: t.Until(m[1], "\n")}
		if isReplaced {
			value.To = value.From
		}
		if listenName.MatchString(name) {
			addConstant(add, module, name, value)
		} else if loads && names().IsLoaded(name, value) {
			add(name, value)
		}
	}
	var fields []classField
	for _, o := range readOptions(t) {
		fields = append(fields, classField{NamedValue: o})
	}
	for _, f := range append(fields, classFields(t)...) {
		if strings.HasPrefix(f.Name, ".") && listenName.MatchString(f.Name) && len(all) < maxConstants {
			all = append(all, names().DeclarationOf(f.NamedValue).GivenBy(f.given))
		}
	}
	for _, f := range selfFields(t) {
		add("."+f.Name, f.Value)
	}
	all = append(all, filledElsewhere(t, module, i)...)
	all = append(all, attributesSet(t, i, names)...)
	own := append(t.Names(functionDefinition), t.Names(classDefinition)...)
	if len(all) > 0 || slices.ContainsFunc(own, listenName.MatchString) {
		for _, f := range names().Returned {
			if !strings.HasPrefix(f.Name, ".") {
				f.Name = module + "." + f.Name
			}
			add(f.Name, f.Value)
		}
	}
	if loads {
		all = append(all, names().LoadedByFunctions()...)
		all = all[:min(len(all), maxConstants)]
	}
	addArguments(add, t, own, i, names)
	return all
}

// addArguments adds what a source gives to functions and classes that it does not define itself, which are own.
func addArguments(
	add func(string, source.Span), t *source.Text, own []string, i imports, names func() *address.Names,
) {
	for _, m := range t.FindAll(keywordArgument, address.MaxListeners) {
		if called := calledWith(t, m[0]); called != "" && !slices.Contains(own, called) && !i.isOfWeb(called) {
			name := address.ArgumentName(called, string(t.Code[m[2]:m[3]]))
			add(name, source.Span{From: m[1], To: t.Until(m[1], ",")})
		}
	}
	if mayGive.In(t.Raw) {
		for _, calls := range []*lazyregexp.Regexp{call, inThread, inPool} {
			for _, a := range names().ArgumentsOf(calls, i.imported) {
				add(a.Name, a.Value)
			}
		}
	}
}

// ofWeb matches the modules of servers for the web, which take settings by classes that apps call theirs too.
var ofWeb = lazyregexp.New(`^(?:uvicorn|hypercorn|gunicorn|granian|daphne)\b`)

// isOfWeb reports whether a class of a server for the web is called so, if the source imports one.
func (i imports) isOfWeb(called string) bool {
	if full := i.names[called]; full != "" {
		return ofWeb.MatchString(full)
	}
	for _, full := range i.names {
		if ofWeb.MatchString(full) && called == "Config" {
			return true
		}
	}
	return false
}

// addConstant adds a constant of a module by the names that others have for it.
func addConstant(add func(name string, value source.Span), module, name string, value source.Span) {
	add(name, value)
	add("."+module+"."+name, value)
	if strings.ToUpper(name) == name {
		add("."+name, value)
	}
}

// imported returns the name, for other files, of what a name is imported as: a class, or a function with its module. It
// is "" for a name that is not imported.
func (i imports) imported(called string) string {
	parts := strings.Split(i.names[called], ".")
	name := parts[len(parts)-1]
	if len(parts) > 1 && !isClass.MatchString(name) {
		return parts[len(parts)-2] + "." + name
	}
	return name
}

var (
	// call is the call of a function or a class by a name without a dot.
	call = lazyregexp.New(`(?:^|[^\w.])(?P<name>[A-Za-z_]\w*)\(`)
	// inThread is a function that a thread or a process calls, and inPool one that a pool or a loop does.
	inThread = lazyregexp.New(`\btarget\s*=\s*(?:self\.)?(?P<name>[A-Za-z_]\w*)\s*,\s*` +
		`(?:\w+\s*=[^,()]*,\s*)*args\s*=\s*[(\[]`)
	inPool = lazyregexp.New(`\b(?:(?:submit|to_thread|start_soon)\s*\(|run_in_executor\s*\([^,()]*,)\s*` +
		`(?:self\.)?(?P<name>[A-Za-z_]\w*)\s*,`)
	// mayGive are parts of the names of functions and classes that start a server.
	mayGive = source.NewKeywords("erve(", "erver(", "rpc", "Rpc", "RPC", "tart", "main", "run", "Run",
		"target=", "submit(", "thread(", "executor(")
)

// mayDeclareListener reports whether a source can have constants that matter: a field, a port in a line that says what
// it is for or, in a source about gRPC, an argument that passes on what another source declares.
func mayDeclareListener(text []byte, isGRPC bool) bool {
	if len(text) > maxConstantsSource {
		return false
	}
	return isGRPC && passedOn.In(text) || startsServer.In(text) || withoutDefault.In(text) || fillsAny.In(text) ||
		address.MayState(text) || address.LoadsSettings(text)
}

// calledBefore is a name after which the arguments of a call begin.
var calledBefore = lazyregexp.New(`(\w+)[ \t]*$`)

const (
	// maxArguments is how many bytes before an argument the bracket of its call is looked for.
	maxArguments = 2000
	// maxCalled is how many bytes before that bracket the name of what is called is looked for.
	maxCalled = 80
)

// calledWith returns the name of the function in whose arguments an offset is, where one begins; "" for none.
func calledWith(t *source.Text, offset int) string {
	depth := 0
	for at := offset; at > max(0, offset-maxArguments); at-- {
		switch t.Code[at] {
		case ')', ']', '}':
			depth++
		case '(', '[', '{':
			if depth--; depth >= 0 {
				continue
			}
			before := t.Code[max(0, at-maxCalled):at]
			if m := calledBefore.FindSubmatchIndex(before); m != nil && t.Code[at] == '(' &&
				!definedBefore.Match(before[:m[2]]) {
				return string(before[m[2]:m[3]])
			}
			return ""
		}
	}
	return ""
}
