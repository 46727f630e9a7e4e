package dotnet

import (
	"bytes"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/oldaddress"
	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

var (
	// listenName matches the names of constants, properties, methods and parameters that say where something listens.
	listenName = lazyregexp.New(`(?i)port|addr|bind|listen|endpoint|url`)
	// credentialsName matches the names of methods that return credentials.
	credentialsName = lazyregexp.New(`(?i)credential|ssl|tls`)
	// constant is a constant or a read-only field, in C#, F# and VB.
	constant = lazyregexp.New(`\b(?:const|static\s+readonly|readonly\s+static)\s+[\w.?]+\s+(?P<name>\w+)\s*=\s*|` +
		`\[<Literal>\]\s*let\s+(?P<name>\w+)\s*=\s*|\bConst\s+(?P<name>\w+)(?:\s+As\s+\w+)?\s*=\s*`)
	// property is a property, with its default or without.
	property = lazyregexp.New(`\bpublic\s+(?:required\s+|virtual\s+)?[\w.?<>]+\s+(?P<name>\w+)\s*` +
		`\{\s*get;[^{}=;]*(?:set;|init;)?\s*\}(?P<default>\s*=\s*)?`)
	// method is the head of a method, up to its parameters.
	method = lazyregexp.New(`\b(?:public|private|protected|internal|static|async)\s+[\w.<>?\[\], ]*?` +
		`\b(?P<name>\w+)\s*\(`)
	// settingRead is a setting that is read by its key: Configuration["Grpc:Port"],
	// Configuration.GetSection("Grpc").GetValue("Port"), Configuration.GetSection("Grpc:Port").Value.
	settingRead = lazyregexp.New(`\b\w*[cC]onfig(?:uration)?\b\s*` +
		`(?:\.\s*GetSection\s*\(\s*"(?P<key>[ ]+)"\s*\)\s*\.\s*` +
		`(?:Value\b|Get\s*<(?:u?int|u?short|string)\??>\s*\(\s*\))(?P<default>)|` +
		`(?:\.\s*GetSection\s*\(\s*"(?P<key1>[ ]+)"\s*\)\s*)?` +
		`(?:\.\s*GetValue\s*(?:<\w+\??>|\(\s*Of\s+\w+\s*\))?\s*\(|\[|\(|\.\s*\[)\s*` +
		`"(?P<key2>[ ]+)"\s*,?(?P<default>))`)
	// tryParse stores what a text says in a variable, storedIn.
	tryParse = lazyregexp.New(`\bTryParse\s*\(`)
	// reference is an argument that a call may set.
	reference  = lazyregexp.New(`[(,]\s*(?:ref|out)\s+(?:var\s+)?(?P<name>[A-Za-z_]\w*)\s*[,)]`)
	storedIn   = source.Exactly(`(?:out\s+(?:[\w.?]+\s+)?)?(?P<name>[A-Za-z_]\w*)`)
	methodBody = lazyregexp.New(`^\)\s*(\{|=>)`)
	parameter  = lazyregexp.New(`(\w+)\s*(?:=\s*|$)`)
)

const (
	// maxMethods is how many methods of a source are looked at, and maxConstants how many of its constants are kept.
	maxMethods   = 512
	maxConstants = 64
	// maxConstantsSource is how many bytes a source may have that is read for nothing but its constants.
	maxConstantsSource = 64 << 10
	// maxHead is how many bytes may stand between the parameters of a method and its body.
	maxHead = 200
)

// readDeclarations returns the values of variables and constants, what methods return, and the parameters that methods
// are given in this source. Settings may give properties something else, so these are as those of other sources.
func readDeclarations(t *source.Text) *address.Names {
	d := address.Read(t, ";,\n", declaration)
	d.AssignOuter()
	d.Global = global
	d.Keyed(settingRead)
	d.DeclareStored(tryParse, storedIn)
	d.DeclareReferences(reference, tryParse)
	d.Holds = func(c address.Condition) bool {
		holds, known := inImage(d, c.Span, 0)
		return known && holds != c.Negated
	}
	d.GivenBy = func(name string) []string {
		if key, ok := strings.CutPrefix(name, ".["); ok {
			return settingGivers(strings.ReplaceAll(strings.TrimSuffix(key, "]"), ".", ":"))
		}
		return nil
	}
	classes := classesIn(t)
	d.TypeAt = func(at int) string { return classes.around(t, at) }
	for _, m := range t.FindAll(method, maxMethods) {
		name := string(t.Code[m[2]:m[3]])
		parameters, all := d.Parameters(m[1], parameter)
		for _, value := range returns(t, all.To) {
			if listenName.MatchString(name) || credentialsName.MatchString(name) {
				d.DeclareFunction(classes.around(t, m[0]), name, value)
			}
		}
		if !address.AnyNamed(parameters, listenName) {
			continue
		}
		for _, p := range parameters {
			d.Forget(p.Name, all)
		}
		if !d.DeclareArguments(address.Function{Name: name, At: m[2], End: all.To, Parameters: parameters}) {
			d.DeclareCallable(address.Callable{
				Name: name, At: m[1], Parameters: parameters,
				Body: source.Span{From: m[1], To: bodyEnd(t, all.To)},
			})
		}
	}
	return d
}

// bodyEnd returns where the body of a method ends, from the end of its parameters. What a constructor gives to another
// one stands before it.
func bodyEnd(t *source.Text, from int) int {
	open := bytes.IndexByte(t.Code[from:min(len(t.Code), from+maxHead)], '{')
	if open < 0 || t.Until(from+1, ";") < from+open {
		return t.Until(from+1, ";")
	}
	_, body := t.Arguments(from + open + 1)
	return body.To
}

// construction makes an object of a class of the app's own. A method of the same name is none.
var construction = lazyregexp.New(`\bnew\s+(?:\w+\.)*(?P<name>[A-Z]\w*)\s*\(`)

// returns finds the expressions that a method returns, whose parameters end at an offset.
func returns(t *source.Text, parametersEnd int) []source.Span {
	m := methodBody.FindSubmatchIndex(t.Code[parametersEnd:min(len(t.Code), parametersEnd+maxHead)])
	if m == nil {
		return nil
	}
	body := parametersEnd + m[1]
	if t.Code[body-1] == '{' {
		return t.Returns(body)
	}
	return []source.Span{{From: body, To: t.Until(body, ";")}}
}

// readConstants returns what a source declares for others to listen on.
func readConstants(d *address.Names) []address.Declaration {
	t := d.Text
	var all []address.Declaration
	add := func(name string, value source.Span) {
		if len(all) < maxConstants && listenName.MatchString(name) {
			all = append(all, d.Variable(name, value))
		}
	}
	for _, m := range t.FindAll(constant, maxMethods) {
		name, _ := t.Group(constant, m, "name")
		add("."+name, source.Span{From: m[1], To: t.Until(m[1], ";\n")})
	}
	classes := classesIn(t)
	for _, m := range t.FindAll(property, maxConstants) {
		value := source.Span{From: m[1], To: m[1]}
		if m[4] >= 0 {
			value.To = t.Until(m[1], ";")
		}
		name := string(t.Code[m[2]:m[3]])
		before := len(all)
		if add("."+name, value); len(all) > before {
			bound := boundName(classes.around(t, m[0]), name)
			all[before].Names = append([]address.Name{{Path: bound}}, all[before].Names...)
		}
	}
	all = append(all, givenProperties(d, all, classes)...)
	for _, method := range d.Returned {
		add(method.Name, method.Value)
	}
	return append(all, d.Given(construction, func(class string) string { return class })...)
}

// global returns what a name that the source does not declare may be in other sources: a constant or a property, which
// is reached through its class or its object, or a method.
func global(u address.Use) address.Name {
	switch name := u.Path; {
	case strings.HasPrefix(name, ".["):
		return settingName(strings.TrimSuffix(name[2:], "]"))
	case strings.HasPrefix(name, "."):
		return address.Field(name)
	case strings.HasSuffix(name, ")"):
		return address.Name{Path: name}
	}
	return address.Name{}
}

// mayDeclareListener reports whether a source without a server can have constants that matter.
func mayDeclareListener(text []byte) bool {
	return len(text) <= maxConstantsSource && (address.MayState(text) || withoutDefault.In(text) ||
		startsServer.In(text))
}

// startsServer are calls of constructors of servers that leave their parameters to the defaults.
var startsServer = source.NewKeywords("Server()", "Service()", "Host()")

// withoutDefault are parts of properties that may have no default, which say that a property of the same name is not
// the only one, and of what gives a property its value.
var withoutDefault = source.NewKeywords("Port {", "Port{", "Url {", "Address {", "Endpoint {", "Port =", "Port=")
