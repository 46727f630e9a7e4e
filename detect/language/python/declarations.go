package python

import (
	"slices"

	"github.com/grpc-cnb/health-probe/detect/oldaddress"
	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

var (
	assignment = lazyregexp.New(
		`(?m)^[ \t]*(?P<statement>)(?:self\.|cls\.)?(?P<name>[A-Za-z_]\w*)[ \t]*(?::[ \t]*[\w.\[\], ]+)?=[ \t]*`)
	// loop is a loop over the elements of a list.
	loop = lazyregexp.New(`\bfor[ \t]+(?P<name>[A-Za-z_]\w*)[ \t]+in[ \t]+` +
		`(?:(?P<list>[A-Za-z_]\w*)[ \t]*[:\])]|[\[(])`)
	// assignmentAfter is one behind another statement, or a condition: if "PORT" in os.environ: port = 8080.
	assignmentAfter = lazyregexp.New(`(?m)(?:;|^[ \t]*(?:if|elif|else|try|except|finally|with|for|while)\b[^\n]*:)` +
		`[ \t]*(?P<statement>)(?P<name>[A-Za-z_]\w*)[ \t]*=[ \t]*`)
	// global names the variables of the module that a function sets.
	global = lazyregexp.New(`\bglobal[ \t]+(?P<names>\w+(?:[ \t]*,[ \t]*\w+)*)`)
	// assignmentInCode is one in an expression: if port := os.environ.get("PORT").
	assignmentInCode = lazyregexp.New(`\b(?P<name>[A-Za-z_]\w*)[ \t]*:=[ \t]*`)
)

// readDeclarations returns the values of the variables of a source, which is that of a module, of the fields of its
// classes, of the options of its command line, and of parameters: the arguments that they are given in this source, and
// their defaults.
func readDeclarations(t *source.Text, module string, functions []function) *address.Names {
	d := address.Read(t, "\n", assignment, assignmentAfter, assignmentInCode)
	d.AddsNumbers, d.ReadsSettings = true, true
	d.AssignGlobal(global)
	if t.Matches(replacesModule) {
		constants := t.Names(constant)
		d.DeleteFunc(func(name string) bool { return slices.Contains(constants, name) })
	}
	for _, f := range classFields(t) {
		f.declare(d)
	}
	for _, o := range readOptions(t) {
		d.DeclareValue(o)
	}
	if listenKeys.In(t.Raw) {
		d.DeclareElements(elements)
	}
	d.DeclareLoops(loop)
	d.DeclareStarts(inThread, inPool)
	for _, f := range functions {
		f.declare(d, module)
	}
	d.CallsModules = true
	classes := t.FindAll(classDefinition, maxFunctions)
	d.TypeAt = func(at int) string { return classAt(t, classes, at) }
	declareReturns(d, functions)
	return d
}

var (
	elements = address.Elements{
		Read: lazyregexp.New(`\b(?P<key>[A-Za-z_]\w*)(?:\[["'](?P<key2> *)["']\]|` +
			`\.get\(["'](?P<key3> *)["'](?:\s*,\s*(?P<default>))?)`),
		Literal:    lazyregexp.New(`(?m)^[ \t]*(?P<name>[A-Za-z_]\w*)[ \t]*(?::[ \t]*[\w.\[\], ]+)?=[ \t]*\{`),
		Key:        lazyregexp.New(`^["'](?P<key> *)["']\s*:\s*`),
		Assignment: lazyregexp.New(`(?m)^[ \t]*(?P<name>[A-Za-z_]\w*)\[["'](?P<key> *)["']\][ \t]*=[ \t]*`),
	}
	// listenKeys are the ends of keys that say where something listens.
	listenKeys = source.NewKeywords(`port"`, `port'`, `PORT"`, `PORT'`, `addr"`, `addr'`, `ADDR"`, `ADDR'`,
		`ddress"`, `ddress'`, `DDRESS"`, `DDRESS'`, `bind"`, `bind'`, `listen"`, `listen'`, `ndpoint"`, `ndpoint'`)
)

var (
	returnStatement = lazyregexp.New(`(?m)^[ \t]+return[ \t]+`)
	// credentialsFunction is the name of a function that returns credentials.
	credentialsFunction = lazyregexp.New(`(?i)cred|ssl|tls|secur`)
)

// tellsName reports whether a function has a name that says that it returns an address, or credentials.
func tellsName(name string) bool {
	return listenName.MatchString(name) || credentialsFunction.MatchString(name)
}

// declareReturns declares what the functions return, whose heads are given, that return one expression, and else None
// at most, or credentials.
func declareReturns(d *address.Names, functions []function) {
	if !slices.ContainsFunc(functions, func(f function) bool { return tellsName(f.name) }) {
		return
	}
	returned := make([][]source.Span, len(functions))
	for _, m := range d.FindAll(returnStatement, maxFunctions) {
		value := d.Trim(source.Span{From: m[1], To: d.Until(m[1], "\n")})
		if i := around(functions, d.Text, m[1]); i >= 0 && d.Slice(value) != "None" {
			returned[i] = append(returned[i], value)
		}
	}
	for i, values := range returned {
		name := functions[i].name
		if !tellsName(name) || len(values) > 1 && !credentialsFunction.MatchString(name) {
			continue
		}
		for _, v := range values {
			d.DeclareFunction(d.TypeAt(v.From), name, v)
			if functions[i].isProperty(d.Text) {
				d.Declare("."+name, v)
				d.Returned = append(d.Returned, address.NamedValue{Name: "." + name, Value: v})
			}
		}
	}
}

// classAt returns the name of the class that an offset is in, "" for none. classes are the heads of all.
func classAt(t *source.Text, classes [][]int, at int) string {
	indent := t.Indented(t.LogicalLine(at))
	for _, m := range slices.Backward(classes) {
		if own := t.Indented(t.LogicalLine(m[2])); m[2] < at && own < indent {
			return string(t.Code[m[2]:m[3]])
		} else if m[2] < at {
			indent = min(indent, own)
		}
	}
	return ""
}

// listenName matches the names of parameters, constants and fields that say where something listens.
var listenName = lazyregexp.New(`(?i)port|addr|bind|listen|endpoint|url`)
