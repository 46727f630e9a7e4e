package python

import (
	"regexp"
	"slices"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/address"
	"github.com/grpc-cnb/health-probe/detect/source"
)

var (
	// passedOn are parts of the arguments by which a source passes on what others declare.
	passedOn = source.NewKeywords("port=", "addr=", "address=", "bind=", "listen=", "endpoint=", "url=")
	// startsServer are threads that may start a server, and calls that leave a server's port to its default.
	startsServer = source.NewKeywords("erve()", "erver()", "target=")
	// withoutDefault are parts of fields that have no default. They say that a field of the same name is not the only
	// one.
	withoutDefault = source.NewKeywords("_port:", " port:", "_PORT:", " addr:", "_addr:", " address:", "_address:")
	constant       = regexp.MustCompile(`(?m)^(?P<name>[A-Za-z_]\w*)[ \t]*(?::[ \t]*[\w.\[\], ]+)?=[ \t]*`)
	// keywordArgument is an argument that a call gives by its name.
	keywordArgument = regexp.MustCompile(`[(,]\s*(?P<name>\w*(?:port|addr|address|bind|listen|endpoint|url))\s*=\s*`)
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
		all = append(all, names().Declaration(name, value))
	}
	for _, m := range t.FindAll(constant, -1) {
		name := string(t.Code[m[2]:m[3]])
		if value := (source.Span{From: m[1], To: t.Until(m[1], "\n")}); listenName.MatchString(name) {
			add(name, value)
			add("."+module+"."+name, value)
			if strings.ToUpper(name) == name {
				add("."+name, value)
			}
		}
	}
	options := readOptions(t)
	for _, f := range classFields(t) {
		options = append(options, f.NamedValue)
	}
	for _, o := range options {
		if strings.HasPrefix(o.Name, ".") && listenName.MatchString(o.Name) && len(all) < maxConstants {
			all = append(all, names().DeclarationOf(o))
		}
	}
	own := append(t.Names(functionDefinition), t.Names(classDefinition)...)
	if len(all) > 0 || slices.ContainsFunc(own, listenName.MatchString) {
		for _, f := range names().Returned {
			if !strings.HasPrefix(f.Name, ".") {
				f.Name = module + "." + f.Name
			}
			add(f.Name, f.Value)
		}
	}
	for _, m := range t.FindAll(keywordArgument, address.MaxListeners) {
		if called := calledWith(t, m[0]); called != "" && !slices.Contains(own, called) {
			name := address.ArgumentName(called, string(t.Code[m[2]:m[3]]))
			add(name, source.Span{From: m[1], To: t.Until(m[1], ",")})
		}
	}
	if mayGive.In(t.Raw) {
		for _, calls := range []*regexp.Regexp{call, inThread, inPool} {
			for _, a := range names().ArgumentsOf(calls, i.imported) {
				add(a.Name, a.Value)
			}
		}
	}
	return all
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
	call = regexp.MustCompile(`(?:^|[^\w.])(?P<name>[A-Za-z_]\w*)\(`)
	// inThread is a function that a thread or a process calls, and inPool one that a pool or a loop does.
	inThread = regexp.MustCompile(`\btarget\s*=\s*(?:self\.)?(?P<name>[A-Za-z_]\w*)\s*,\s*` +
		`(?:\w+\s*=[^,()]*,\s*)*args\s*=\s*[(\[]`)
	inPool = regexp.MustCompile(`\b(?:(?:submit|to_thread|start_soon)\s*\(|run_in_executor\s*\([^,()]*,)\s*` +
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
	return isGRPC && passedOn.In(text) || startsServer.In(text) || withoutDefault.In(text) || address.HasPortLine(text)
}

// calledBefore is a name after which the arguments of a call begin.
var calledBefore = regexp.MustCompile(`(\w+)[ \t]*$`)

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
