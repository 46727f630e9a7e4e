package cpp

import (
	"bytes"
	"regexp"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/address"
	"github.com/grpc-cnb/health-probe/detect/source"
)

var (
	// listenName matches the names of constants, fields, functions and parameters that say where something listens.
	listenName = regexp.MustCompile(`(?i)port|addr|bind|listen|endpoint|url|uri`)
	constant   = regexp.MustCompile(`(?m)^[ \t]*(?:inline\s+|static\s+|extern\s+)*(?:const|constexpr)\b[^=;(){}\n]*?` +
		`\b(?P<name>\w+)(?:\[\w*\])?\s*[={]\s*|#[ \t]*define[ \t]+(?P<name>\w+)[ \t]+`)
	flag         = regexp.MustCompile(`\b(?:ABSL_FLAG\s*\(\s*[\w:]+\s*,|DEFINE_\w+\s*\()\s*(?P<name>\w+)\s*,\s*`)
	declaredFlag = regexp.MustCompile(`\b(?:ABSL_DECLARE_FLAG\s*\(\s*[\w:]+\s*,|DECLARE_\w+\s*\()\s*(?P<name>\w+)\s*\)`)
	// tellingName matches those too that say what carries the calls.
	tellingName = regexp.MustCompile(listenName.String() + `|` + securityName.String())
	// function is the head of a function, with its body or before it, and parameter a parameter without a default.
	function  = regexp.MustCompile(`(?m)^[ \t]*[\w:<>,&*\t ]*?(?P<name>\w+)[ \t]*\(`)
	parameter = regexp.MustCompile(`(\w+)$`)
	// bodyAhead is what stands between the parameters of a function and its body, or the list of its initializers.
	bodyAhead  = regexp.MustCompile(`^\)\s*(?:const\b|noexcept\b|override\b|final\b|->\s*[\w:<>]+|\s)*(\{|:)`)
	structHead = regexp.MustCompile(`\b(?:struct|class)\s+(?P<name>\w+)(?:\s+final)?(?:\s*:[^{;()]*)?\s*\{`)
	// field is a field of a class, with its default or without.
	field = regexp.MustCompile(`^\s*[\w:<>]+(?:\s*<[^;{}()]*>)?[\s&*]+` +
		`(?P<name>\w+)\s*(?:[={]\s*(?P<value>[^;]*?)\}?)?;`)
	// boundOption is an option of Boost.Program_options that is written to a variable or a field.
	boundOption = regexp.MustCompile(
		`\bvalue\s*<[^>;]*>\s*\(\s*&(?P<path>[\w.>-]+)\s*\)(?:\s*->\s*\w+\(\))*\s*->\s*default_value\s*\(\s*`)
	// namedOption is an option that is read by its name: ("port,p", po::value<int>()->default_value(50051)).
	namedOption = regexp.MustCompile(`\(\s*"(?P<option> +)"\s*,[^;"]*?(?:"[ ]*"\s*,[^;"]*?)?` +
		`\bvalue\s*<[^>;]*>\s*\(\s*\)` +
		`\s*->\s*default_value\s*\(\s*`)
	// loop is a loop over the elements of a list.
	loop = regexp.MustCompile(`\bfor\s*\(\s*(?:const\s+)?[\w:<>]+[\s&*]+(?P<name>\w+)\s*:\s*` +
		`(?:(?P<list>\w+)\s*\)|\{)`)
	readOption = regexp.MustCompile(`\b(?P<name>\w+)\s*[={(]\s*\w+\s*\[\s*"(?P<option> +)"\s*\]\s*\.\s*as\s*<`)
)

const (
	// maxFunctions is how many functions of a source are looked at, maxConstants how many of its constants are kept,
	// and maxBody how many bytes a function or a class is read of.
	maxFunctions = 512
	maxConstants = 64
	maxBody      = 4096
	// maxConstantsSource is how many bytes a source may have that is read for nothing but its constants.
	maxConstantsSource = 64 << 10
)

// readDeclarations returns the values of variables, flags and options, and of the parameters that functions are given
// in this source.
func readDeclarations(t *source.Text) *address.Names {
	d := address.Read(t, ",;\n", declarations...)
	d.Global = globals(t)
	for _, f := range fields(t) {
		d.DeclareValue(f)
	}
	declareOptions(d)
	declareFlags(d)
	d.DeclareLoops(loop)
	classes := classesIn(t)
	for _, m := range t.FindAll(function, maxFunctions) {
		name := string(t.Code[m[2]:m[3]])
		parameters, all := d.Parameters(m[1], parameter)
		ahead := bodyAhead.FindSubmatchIndex(t.Code[all.To:min(len(t.Code), all.To+maxValue)])
		if ahead == nil {
			continue
		}
		if from := all.To + ahead[1]; t.Code[from-1] == '{' && tellingName.MatchString(name) {
			for _, value := range t.Returns(from) {
				d.DeclareFunction(name, value)
			}
		}
		if address.AnyNamed(parameters, tellingName) {
			c := address.Callable{Name: name, At: m[1], Parameters: parameters}
			c.Body = source.Span{From: m[1], To: bodyEnd(t, all.To+1)}
			class := classOf(t, classes, m[2])
			f := address.Function{Name: name, At: m[2], End: all.To, Parameters: parameters}
			switch {
			case class == name: // a constructor
				d.DeclareCallable(c)
			case !d.DeclareArguments(f):
				if class != "" {
					c.Name, c.Unsure = class+"::"+name, unknownClass+"::"+name
				}
				d.DeclareCallable(c)
			}
		}
	}
	return d
}

var (
	// call is the call of a function that is no member, or new X(...).
	call = regexp.MustCompile(`(?:^|[^\w.>:])(?P<name>(?:\w+::)*\w+)\(`)
	// smartPointer makes a smart pointer, and construction is the declaration of a variable: both have what a
	// constructor is given.
	smartPointer = regexp.MustCompile(`\bmake_(?:unique|shared)\s*<\s*(?P<name>[\w:]+)\s*>\s*\(`)
	construction = regexp.MustCompile(
		`(?m)^[ \t]*(?:const\s+|static\s+)*(?P<name>(?:\w+::)*[A-Za-z_]\w*)\s+\w+\s*[({]`)
)

// given returns what the source of a program gives to functions and constructors of other sources.
func given(names *address.Names) []address.Declaration {
	var all []address.Declaration
	for _, pattern := range []*regexp.Regexp{call, smartPointer, construction} {
		all = append(all, names.Given(pattern, calledFunction)...)
	}
	return append(all, givenToMethods(names)...)
}

// calledFunction returns the name, for other files, of a function or a constructor that is called.
func calledFunction(called string) string {
	switch name := called[strings.LastIndexByte(called, ':')+1:]; name {
	case "if", "for", "while", "switch", "return", "main", "else", "new", "delete", "throw", "case", "struct", "class":
		return ""
	default:
		return name
	}
}

// bodyEnd returns where the body of a function ends, from the end of its parameters. The braces of a constructor's
// initializers follow a name.
func bodyEnd(t *source.Text, from int) int {
	for at := from; at < min(len(t.Code), from+maxBody); at++ {
		if c := t.Code[at]; c == ';' {
			return at
		} else if c == '(' || c == '{' {
			_, inner := t.Arguments(at + 1)
			if isInitializer := source.IsWordByte(t.Code[at-1]) || c == '('; !isInitializer {
				return inner.To
			}
			at = inner.To
		}
	}
	return from
}

// maxValue is how many bytes the end of a function's head may have.
const maxValue = 200

var (
	// boundFlag is an option that is written to a variable or a field, and namedFlag any that is described by its
	// names.
	boundFlag = regexp.MustCompile(`\(\s*"(?P<names> +)"\s*,\s*(?:\w+::)*` +
		`value\s*<[^>;]*>\s*\(\s*&(?P<path>[\w.>-]+)\s*\)`)
	namedFlag = regexp.MustCompile(`\(\s*"(?P<names> +)"\s*,`)
)

// declareFlags says which flags give variables and fields: those of gflags and Abseil, of Boost.Program_options and of
// cxxopts.
func declareFlags(d *address.Names) {
	for _, name := range d.Text.Names(flag) {
		d.DeclareFlags(name, name)
		d.DeclareFlags("FLAGS_"+name, name)
	}
	for _, m := range d.FindAll(boundFlag, maxConstants) {
		names, _ := d.Group(boundFlag, m, "names")
		path, _ := d.Group(boundFlag, m, "path")
		name := path[strings.LastIndexAny(path, ".>")+1:]
		d.DeclareFlags(name, strings.Split(names, ",")...)
		d.DeclareFlags("."+name, strings.Split(names, ",")...)
	}
	byOption := map[string][]string{}
	for _, m := range d.FindAll(namedFlag, maxConstants) {
		names, _ := d.Group(namedFlag, m, "names")
		for name := range strings.SplitSeq(names, ",") {
			byOption[name] = strings.Split(names, ",")
		}
	}
	for _, m := range d.FindAll(readOption, maxConstants) {
		name, _ := d.Group(readOption, m, "name")
		option, _ := d.Group(readOption, m, "option")
		d.DeclareFlags(name, byOption[option]...)
	}
}

// declareOptions adds the options of Boost.Program_options and cxxopts that have a default.
func declareOptions(d *address.Names) {
	for _, m := range d.FindAll(boundOption, address.MaxListeners) {
		path, _ := d.Group(boundOption, m, "path")
		value := source.Span{From: m[1], To: d.Until(m[1], ",")}
		name := path[strings.LastIndexAny(path, ".>")+1:]
		d.Declare(name, value)
		d.Declare("."+name, value)
	}
	values := map[string]source.Span{}
	for _, m := range d.FindAll(namedOption, address.MaxListeners) {
		names, _ := d.Group(namedOption, m, "option")
		for name := range strings.SplitSeq(names, ",") {
			values[name] = source.Span{From: m[1], To: d.Until(m[1], ",")}
		}
	}
	for _, m := range d.FindAll(readOption, address.MaxListeners) {
		name, _ := d.Group(readOption, m, "name")
		option, _ := d.Group(readOption, m, "option")
		if value, ok := values[option]; ok {
			d.Declare(name, value)
		}
	}
}

// fields returns the fields of classes. The value of one without a default is empty.
func fields(t *source.Text) []address.NamedValue {
	var found []address.NamedValue
	for _, m := range t.FindAll(structHead, maxConstants) {
		end := min(len(t.Code), m[1]+maxBody)
		for depth, at, from := 0, m[1], m[1]; at < end && depth >= 0; at++ {
			switch c := t.Code[at]; {
			case c == '{':
				depth++
			case c == '}':
				depth--
			case c == ';' && depth == 0:
				if f, ok := fieldIn(t, source.Span{From: from, To: at + 1}); ok {
					found = append(found, f)
				}
				from = at + 1
			case c == ':' && depth == 0 && t.Code[at-1] != ':' && t.Code[at+1] != ':':
				from = at + 1 // public:
			}
		}
	}
	return found
}

// fieldIn returns the field that a statement declares, if its name says that it is about listening.
func fieldIn(t *source.Text, statement source.Span) (address.NamedValue, bool) {
	m := field.FindSubmatchIndex(t.Code[statement.From:statement.To])
	if m == nil {
		return address.NamedValue{}, false
	}
	name := t.Slice(source.Span{From: statement.From + m[2], To: statement.From + m[3]})
	value := source.Span{From: statement.From + max(m[4], 0), To: statement.From + max(m[5], 0)}
	return address.NamedValue{Name: "." + name, Value: value}, listenName.MatchString(name)
}

// readConstants returns what a source declares for others to listen on.
func readConstants(t *source.Text, names func() *address.Names) []address.Declaration {
	var all []address.Declaration
	add := func(name string, value source.Span) {
		if len(all) < maxConstants && listenName.MatchString(name) {
			all = append(all, names().Declaration(name, value))
		}
	}
	for _, m := range t.FindAll(constant, maxFunctions) {
		name, _ := t.Group(constant, m, "name")
		add(name, source.Span{From: m[1], To: t.Until(m[1], ";\n")})
	}
	for _, m := range t.FindAll(flag, maxConstants) {
		add("FLAGS_"+string(t.Code[m[2]:m[3]]), source.Span{From: m[1], To: t.Until(m[1], ",")})
	}
	for _, f := range fields(t) {
		if f.Value.From == f.Value.To {
			// A constructor may initialize it.
			if values := names().Values(f.Name[1:], f.Value.From); len(values) == 1 {
				f.Value = values[0]
			}
		}
		add(f.Name, f.Value)
	}
	for _, m := range t.FindAll(boundOption, address.MaxListeners) {
		path, _ := t.Group(boundOption, m, "path")
		if dot := strings.LastIndexAny(path, ".>"); dot >= 0 {
			add("."+path[dot+1:], source.Span{From: m[1], To: t.Until(m[1], ",")})
		}
	}
	for _, f := range names().Returned {
		add(f.Name, f.Value)
	}
	return all
}

// globals returns the function that says what a name that the source does not declare may be in other sources: a field,
// a function, a flag that is declared here and defined elsewhere, or a constant.
func globals(t *source.Text) func(u address.Use) address.Name {
	flags := map[string]bool{}
	for _, name := range t.Names(declaredFlag) {
		flags[name] = true
	}
	return func(u address.Use) address.Name {
		switch name := u.Path; {
		case strings.HasPrefix(name, "."):
			return address.Field(name)
		case memberName.MatchString(name):
			return address.Field("." + name)
		case flags[name]:
			return address.Name{Path: "FLAGS_" + name}
		case strings.HasSuffix(name, ")"), strings.ToUpper(name) == name, constantName.MatchString(name):
			return address.Name{Path: name}
		}
		return address.Name{}
	}
}

// memberName matches the names that style guides give to the members of classes: port_, m_port.
var memberName = source.Exactly(`[a-z]\w*_|m_\w+`)

// constantName matches the names that style guides give to constants: kPort, PORT_.
var constantName = regexp.MustCompile(`^(?:k[A-Z]\w*|[A-Z][A-Z0-9_]*)$`)

// mayDeclareListener reports whether a source without a server can have constants that matter.
func mayDeclareListener(text []byte) bool {
	return len(text) <= maxConstantsSource &&
		(address.HasPortLine(text) || withoutDefault.In(text) || bytes.Contains(text, []byte("int main(")))
}

// withoutDefault are parts of fields that have no default. They say that a field of the same name is not the only one.
var withoutDefault = source.NewKeywords(" port;", "_port;", "Port;")
