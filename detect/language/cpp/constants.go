package cpp

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/oldaddress"
	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

var (
	// listenName matches the names of constants, fields, functions and parameters that say where something listens.
	listenName = lazyregexp.New(`(?i)port|addr|bind|listen|endpoint|url|uri`)
	constant   = lazyregexp.New(`(?m)^[ \t]*(?:inline\s+|static\s+|extern\s+)*(?:const|constexpr)\b[^=;(){}\n]*?` +
		`\b(?P<name>\w+)(?:\[\w*\])?\s*[={]\s*|#[ \t]*define[ \t]+(?P<name>\w+)[ \t]+`)
	flag         = lazyregexp.New(`\b(?:ABSL_FLAG\s*\(\s*[\w:]+\s*,|DEFINE_\w+\s*\()\s*(?P<name>\w+)\s*,\s*`)
	declaredFlag = lazyregexp.New(`\b(?:ABSL_DECLARE_FLAG\s*\(\s*[\w:]+\s*,|DECLARE_\w+\s*\()\s*(?P<name>\w+)\s*\)`)
	// tellingName matches those too that say what carries the calls.
	tellingName = lazyregexp.New(listenName.String() + `|` + securityName.String())
	// function is the head of a function, with its body or before it, and parameter a parameter without a default.
	function  = lazyregexp.New(`(?m)^[ \t]*[\w:<>,&*\t ]*?(?P<name>\w+)[ \t]*\(`)
	parameter = lazyregexp.New(`(\w+)$`)
	// bodyAhead is what stands between the parameters of a function and its body, or the list of its initializers.
	bodyAhead  = lazyregexp.New(`^\)\s*(?:const\b|noexcept\b|override\b|final\b|->\s*[\w:<>]+|\s)*(\{|:)`)
	structHead = lazyregexp.New(`\b(?:struct|class)\s+(?P<name>\w+)(?:\s+final)?(?:\s*:[^{;()]*)?\s*\{`)
	// field is a field of a class, with its default or without.
	field = lazyregexp.New(`^\s*[\w:<>]+(?:\s*<[^;{}()]*>)?[\s&*]+` +
		`(?P<name>\w+)\s*(?:[={]\s*(?P<value>[^;]*?)\}?)?;`)
	// fieldSet gives a field a value: options.port = 50051, {.port = 50051}, or in its class port = 50051.
	fieldSet = lazyregexp.New(
		`(?m)(?:(?P<object>\w*)(?:\.|->)(?P<name>\w+)|(?:^|[{;])[ \t]*(?P<name>\w+))[ \t]*=[ \t]*`)
	// boundOption is an option of Boost.Program_options that is written to a variable or a field.
	boundOption = lazyregexp.New(
		`\bvalue\s*<[^>;]*>\s*\(\s*&(?P<path>[\w.>-]+)\s*\)(?:\s*->\s*\w+\(\))*\s*->\s*default_value\s*\(\s*`)
	// namedOption is an option that is read by its name: ("port,p", po::value<int>()->default_value(50051)).
	namedOption = lazyregexp.New(`\(\s*"(?P<option> +)"\s*,[^;"]*?(?:"[ ]*"\s*,[^;"]*?)?` +
		`\bvalue\s*<[^>;]*>\s*\(\s*\)` +
		`\s*->\s*default_value\s*\(\s*`)
	// loop is a loop over the elements of a list.
	loop = lazyregexp.New(`\bfor\s*\(\s*(?:const\s+)?[\w:<>]+[\s&*]+(?P<name>\w+)\s*:\s*` +
		`(?:(?P<list>\w+)\s*\)|\{)`)
	// scan stores what a text says in a variable, storedIn. A stream does too, from which extracted takes it.
	scan = lazyregexp.New(
		`\b(?:sscanf|from_chars|SimpleAtoi|StringToInt\w*|try_lexical_convert)\s*\(`)
	// pointer is an argument that a call may set, and knownPointers are calls that are read otherwise.
	pointer       = lazyregexp.New(`[(,]\s*&(?P<name>[a-z_]\w*)\s*[,)]`)
	knownPointers = lazyregexp.New(`(?:` + scan.String() + `|\b(?:AddListeningPort|default_value|value<[^()]*>)\s*\()$`)
	storedIn      = source.Exactly(`&?\s*(?P<name>[A-Za-z_]\w*)`)
	stream        = lazyregexp.New(`\bi?stringstream\s*(?:(?P<name>\w+)\s*)?[({]`)
	extracted     = lazyregexp.New(`^[)}]?\s*>>\s*(?P<name>\w+)`)
	readOption    = lazyregexp.New(`\b(?P<name>\w+)\s*[={(]\s*\w+\s*\[\s*"(?P<option> +)"\s*\]\s*\.\s*as\s*<`)
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
	d.AssignOuter()
	d.Global = globals(t)
	set := t.Names(fieldSet)
	for _, f := range fields(t) {
		if slices.Contains(set, f.Name[1:]) {
			d.Forget(f.Name[1:], f.Value)
		}
	}
	declareOptions(d)
	declareFlags(d)
	d.DeclareLoops(loop)
	d.DeclareStored(scan, storedIn)
	d.DeclareReferences(pointer, knownPointers)
	declareExtracted(d)
	classes := classesIn(t)
	methods := slices.Clone(classes) // with those that are defined outside of their classes
	d.TypeAt = func(at int) string { return classOf(t, methods, at) }
	for _, m := range t.FindAll(function, maxFunctions) {
		name := string(t.Code[m[2]:m[3]])
		class := classOf(t, classes, m[2])
		parameters, all := d.Parameters(m[1], parameter)
		ahead := bodyAhead.FindSubmatchIndex(t.Code[all.To:min(len(t.Code), all.To+maxValue)])
		if ahead == nil {
			continue
		}
		body := source.Span{From: m[1], To: bodyEnd(t, all.To+1)}
		methods = append(methods, methodsOf{class, body})
		if from := all.To + ahead[1]; t.Code[from-1] == '{' && tellingName.MatchString(name) {
			for _, value := range t.Returns(from) {
				d.DeclareFunction(class, name, value)
			}
		}
		if address.AnyNamed(parameters, tellingName) {
			c := address.Callable{Name: name, At: m[1], Parameters: parameters, Body: body}
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
	// call is the call of a function that is no member, new X(...), or X{...}.
	call = lazyregexp.New(`(?:^|[^\w.>:])(?P<name>(?:\w+::)*\w+)[({]`)
	// smartPointer makes a smart pointer, and construction is the declaration of a variable: both have what a
	// constructor is given.
	smartPointer = lazyregexp.New(`\bmake_(?:unique|shared)\s*<\s*(?P<name>[\w:]+)\s*>\s*\(`)
	construction = lazyregexp.New(
		`(?m)^[ \t]*(?:const\s+|static\s+)*(?P<name>(?:\w+::)*[A-Za-z_]\w*)\s+\w+\s*[({]`)
)

// given returns what the source of a program gives to functions and constructors of other sources.
func given(names *address.Names) []address.Declaration {
	var all []address.Declaration
	for _, pattern := range []*lazyregexp.Regexp{call, smartPointer, construction} {
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

// declareExtracted declares the variables to which streams of texts give values: std::istringstream(text) >> port, or
// by the stream's name.
func declareExtracted(d *address.Names) {
	for _, m := range d.FindAll(stream, address.MaxListeners) {
		_, text := d.Arguments(m[1])
		after := []int{text.To}
		if name, ok := d.Group(stream, m, "name"); ok {
			for at := range d.Words(name) {
				after = append(after, at+len(name))
			}
		}
		for _, at := range after[:min(len(after), address.MaxListeners)] {
			if to := extracted.FindSubmatch(d.Code[at:min(len(d.Code), at+maxValue)]); to != nil {
				d.Declare(string(to[1]), text)
			}
		}
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
	boundFlag = lazyregexp.New(`\(\s*"(?P<names> +)"\s*,\s*(?:\w+::)*` +
		`value\s*<[^>;]*>\s*\(\s*&(?P<path>[\w.>-]+)\s*\)`)
	namedFlag = lazyregexp.New(`\(\s*"(?P<names> +)"\s*,`)
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

// fieldOf is a field of a class, with its number there: a class without constructors is given values in this order.
type fieldOf struct {
	address.NamedValue
	class  string
	number int
}

// fields returns the fields of classes that say where something listens. The value of one without a default is empty.
func fields(t *source.Text) []fieldOf {
	var found []fieldOf
	for _, m := range t.FindAll(structHead, maxConstants) {
		end, number := min(len(t.Code), m[1]+maxBody), 0
		for depth, at, from := 0, m[1], m[1]; at < end && depth >= 0; at++ {
			switch c := t.Code[at]; {
			case c == '{':
				depth++
			case c == '}':
				depth--
			case c == ';' && depth == 0:
				if f, ok := fieldIn(t, source.Span{From: from, To: at + 1}); ok {
					if listenName.MatchString(f.Name) {
						found = append(found, fieldOf{f, string(t.Code[m[2]:m[3]]), number})
					}
					number++
				}
				from = at + 1
			case c == ':' && depth == 0 && t.Code[at-1] != ':' && t.Code[at+1] != ':':
				from = at + 1 // public:
			}
		}
	}
	return found
}

// fieldIn returns the field that a statement declares, if it declares one.
func fieldIn(t *source.Text, statement source.Span) (address.NamedValue, bool) {
	m := field.FindSubmatchIndex(t.Code[statement.From:statement.To])
	if m == nil {
		return address.NamedValue{}, false
	}
	name := t.Slice(source.Span{From: statement.From + m[2], To: statement.From + m[3]})
	value := source.Span{From: statement.From + max(m[4], 0), To: statement.From + max(m[5], 0)}
	return address.NamedValue{Name: "." + name, Value: value}, true
}

// fieldsSet returns what a source gives fields. Of an object whose class it does not say, it may be any field of that
// name.
func fieldsSet(names func() *address.Names) []address.NamedValue {
	var set []address.NamedValue
	t := names().Text
	if !slices.ContainsFunc(t.Names(fieldSet), listenName.MatchString) {
		return nil
	}
	classes, objects := classesIn(t), classesOfObjects(names())
	for _, m := range t.FindAll(fieldSet, maxFunctions) {
		name, _ := t.Group(fieldSet, m, "name")
		class := classOf(t, classes, m[0])
		if object, ok := t.Group(fieldSet, m, "object"); ok && object != "this" {
			class = objects[object]
		}
		f := address.NamedValue{Name: "." + name, Value: source.Span{From: m[1], To: t.Until(m[1], ",;\n")}}
		if class != "" && class != unknownClass {
			f.Name = address.ArgumentName(class, name)
		}
		set = append(set, f)
	}
	return set
}

// readConstants returns what a source declares for others to listen on.
func readConstants(t *source.Text, names func() *address.Names) []address.Declaration {
	var all []address.Declaration
	add := func(name string, value source.Span) {
		if len(all) < maxConstants && listenName.MatchString(name) {
			all = append(all, names().Variable(name, value))
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
		before := len(all)
		if add(f.Name, f.Value); len(all) > before {
			given := address.ArgumentName(f.class, strconv.Itoa(f.number))
			all[before].Names = append(all[before].Names, address.Name{Path: given},
				address.Name{Path: address.ArgumentName(f.class, f.Name[1:])})
		}
	}
	for _, f := range fieldsSet(names) {
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
var constantName = lazyregexp.New(`^(?:k[A-Z]\w*|[A-Z][A-Z0-9_]*)$`)

// mayDeclareListener reports whether a source without a server can have constants that matter.
func mayDeclareListener(text []byte) bool {
	return len(text) <= maxConstantsSource &&
		(address.MayState(text) || withoutDefault.In(text) || bytes.Contains(text, []byte("int main(")))
}

// withoutDefault are parts of fields that have no default, which say that a field of the same name is not the only one,
// and of what gives fields a value.
var withoutDefault = source.NewKeywords(
	" port;", "_port;", "Port;", "port = ", "Port = ", "port_ = ", "addr = ", "address = ",
)
