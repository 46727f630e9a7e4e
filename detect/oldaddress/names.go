package address

import (
	"maps"
	"slices"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

// Names are the names that a text declares, with the expressions they are declared with, in all languages that
// are read as text. They tell which port an expression states: the one port that occurs in it and in the declarations
// of its names that are visible there. What comes from the environment or from an option is not known, and its default
// is: PORT || 50051. If several ports occur, or something is calculated, no port is stated.
type Names struct {
	*source.Text
	Scoping
	byName map[string][]declaration
	blocks *source.Blocks
	left   int // how many expressions may still be read
	// Returned is what functions return, as [Names.DeclareFunction] has it.
	Returned []NamedValue
	loads    *bool // whether the text loads settings, nil before it is searched
	// replaced says of the names of settings that were asked for whether others replace these, and leftLoaded is how
	// many names may still be followed to those in files.
	replaced   map[string]bool
	leftLoaded int
	leftAt     map[source.Span][]Condition // what [Names.Left] found, by where it looked
	// defined are the functions that the text defines, nil before they are read.
	defined []definedFunction
	// flags are those that give a name.
	flags map[string][]string
	// keyed match what reads a value by a key, in the group "key": results['port'].
	keyed []*lazyregexp.Regexp
	// filledHashes are those that get elements which the text does not name.
	filledHashes []string
	// started are where the arguments begin of functions that others call, by their names.
	started map[string][]int
	// called are functions that calls in the text give something.
	called []calledFunction
	// callables are the functions whose parameters other files may give something to.
	callables []Callable
}

// declaration is a name's value and the scope that the name is visible in.
type declaration struct {
	value expression
	scope int // the index of a block
	// isParameter says that no other function can see the name.
	isParameter bool
	// isBare says that it is an assignment which declares no variable.
	isBare bool
}

// expression is a part of a text, or code in a string of it.
type expression struct {
	raw, code []byte
	at        int // its offset in the text, or that of the string
	// isOption says that it is the default of an option, or of the environment variables.
	isOption  bool
	variables []string
	// of is a name that is asked for first, if the expression is a default: "options.port".
	of string
	// instead are the names of what other files may give, which goes before this expression, and given those of what
	// they may give so that neither is known to hold.
	instead []Name
	given   []Name
}

// MaxListeners is how many listeners of one file are looked at.
const MaxListeners = 16

const (
	// maxDeclarations is how many declarations of one name are read, and maxExpressions how many expressions of one
	// text. Real texts have few; those that are made to take long have many.
	maxDeclarations = 16
	maxExpressions  = 1000
)

// Read collects the declarations that the patterns match. The group "name" of a pattern is what is declared, or
// the group "field" what is reached as a field. The group "value" is its value. Without such a group the value is what
// follows the match, up to the first of the bytes in ends that stands in no bracket. A pattern with a group "statement"
// matches nothing in brackets: what looks like an assignment there is an argument of a call.
func Read(t *source.Text, ends string, patterns ...*lazyregexp.Regexp) *Names {
	d := &Names{Text: t, byName: map[string][]declaration{}, blocks: source.FindBlocks(t), left: maxExpressions}
	d.leftLoaded = 2 * maxExpressions
	for _, p := range patterns {
		isArgument := func(int) bool { return false }
		if p.SubexpIndex("statement") >= 0 {
			isArgument = t.InBrackets()
		}
		for _, m := range t.FindAll(p, -1) {
			name, at := declared(t, p, m)
			if name == "" || len(d.byName[name]) == maxDeclarations || isArgument(at) {
				continue
			}
			value := source.Span{From: m[1]}
			if i := p.SubexpIndex("value"); i >= 0 {
				value = source.Span{From: m[2*i], To: m[2*i+1]}
			} else {
				value.To = t.Until(m[1], ends)
			}
			// What begins so is a comparison, or what a function returns.
			if value.From < len(t.Code) && strings.IndexByte("=>", t.Code[value.From]) < 0 {
				d.add(name, at, value)
			}
		}
	}
	d.readTuples(ends)
	return d
}

// declared returns the name that a match declares, "" for none, and its offset.
func declared(t *source.Text, pattern *lazyregexp.Regexp, match []int) (name string, at int) {
	if i := pattern.SubexpIndex("field"); i >= 0 && match[2*i] >= 0 {
		field, _ := t.Group(pattern, match, "field")
		// An option --listen-port is read as listen_port.
		return "." + strings.ReplaceAll(strings.TrimLeft(field, "-"), "-", "_"), match[2*i]
	}
	if i := pattern.SubexpIndex("name"); i >= 0 && match[2*i] >= 0 {
		name, _ := t.Group(pattern, match, "name")
		return name, match[2*i]
	}
	return "", 0
}

// Keyed says how the text reads values by a key: options of the command line, elements of a hash, settings. The groups
// of the pattern whose names begin with "key" are the parts of the key, and a default begins with the group "default".
// It declares the keys that further patterns match, with their values after the match, as [Names.Declare] does by
// [Key].
func (d *Names) Keyed(read *lazyregexp.Regexp, declared ...*lazyregexp.Regexp) {
	d.keyed = append(d.keyed, read)
	for _, p := range declared {
		for _, m := range d.FindAll(p, maxKeys) {
			key, _ := d.Group(p, m, "key")
			d.Declare(Key(key), source.Span{From: m[1], To: d.Until(m[1], ",")})
		}
	}
}

// maxKeys is how many keys of one kind are read.
const maxKeys = 128

// Key is the name of what is read by a key.
func Key(key string) string { return ".[" + key + "]" }

// Declare adds a declaration of a name, with the expression in a span, to the scope that the span is in.
func (d *Names) Declare(name string, value source.Span) { d.add(name, value.From, value) }

// DeclareOption adds a declaration of a name that an option of the command line, or an environment variable, gives when
// the app runs, with its default in a span. The variable is "" for an option that has none, and the span is empty for
// one without a default.
func (d *Names) DeclareOption(name, variable string, value source.Span) {
	d.add(name, value.From, value)
	declared := &d.byName[name][len(d.byName[name])-1].value
	if declared.isOption = true; variable != "" {
		declared.variables = []string{variable}
	}
}

// DeclareField declares a name as a field of something else, with its default in a span, which is empty for none:
// { port = 50051 } = options.
func (d *Names) DeclareField(name, of string, value source.Span) {
	d.add(name, value.From, value)
	d.byName[name][len(d.byName[name])-1].value.of = of
}

// GivenElsewhere says that other files may give a name, instead of the value that it is declared with in a span, what
// they declare by further names.
func (d *Names) GivenElsewhere(name string, in source.Span, by []Name) {
	for i, x := range d.byName[name] {
		if x.value.at >= in.From && x.value.at <= in.To {
			d.byName[name][i].value.instead = by
		}
	}
}

// NamedValue is a name with the span of its value, which is empty for none.
type NamedValue struct {
	Name  string // ".name" of what is reached as a field
	Value source.Span
	// IsOption says that the environment or the command line may give another value, Variable by which environment
	// variable, "" for none, and Flags by which flags.
	IsOption bool
	Variable string
	Flags    []string
}

// DeclareValue adds a declaration of a name that has a value, or that is given one when the app runs. The names are
// those of what other files may give instead: then neither is known to hold.
func (d *Names) DeclareValue(v NamedValue, given ...Name) {
	d.DeclareFlags(v.Name, v.Flags...)
	switch {
	case v.IsOption:
		d.DeclareOption(v.Name, v.Variable, v.Value)
	case v.Value.From < v.Value.To:
		d.Declare(v.Name, v.Value)
	default:
		return
	}
	d.byName[v.Name][len(d.byName[v.Name])-1].value.given = given
}

// add adds a declaration of a name that stands at an offset. What is reached as a field of anything is visible
// everywhere.
func (d *Names) add(name string, at int, value source.Span) {
	scope := 0
	if !strings.HasPrefix(name, ".") {
		isField := strings.HasPrefix(name, "@") || at > 0 && d.Code[at-1] == '.'
		scope = d.blocks.ScopeOf(d.LogicalLine(at), isField)
	}
	d.byName[name] = append(d.byName[name], declaration{value: d.expression(value), scope: scope, isBare: d.isBare(at)})
}

// visible returns the values of a name that are visible at an offset: those of the innermost scope around it. If none
// is, all are that the text has, or, of the parameter of a function, those that are passed to it.
func (d *Names) visible(name string, at int) []expression {
	var others []declaration
	var innermost []expression
	line, deepest := d.LogicalLine(at), 0
	for _, x := range d.byName[name] {
		switch depth := d.blocks.Depth(x.scope, line); {
		case depth < 0 && !x.isParameter:
			others = append(others, x)
		case depth < deepest:
		case depth > deepest:
			innermost, deepest = []expression{x.value}, depth
		default:
			innermost = append(innermost, x.value)
		}
	}
	if innermost == nil {
		for _, x := range d.passed(name, line, others) {
			innermost = append(innermost, x.value)
		}
	}
	return innermost
}

// DeleteFunc removes the declarations of the names for which del returns true.
func (d *Names) DeleteFunc(del func(name string) bool) {
	maps.DeleteFunc(d.byName, func(name string, _ []declaration) bool { return del(name) })
}

// DeleteUnclear removes the names with several values one of which states no port and is unclear: it is no default then
// that another one states.
func (d *Names) DeleteUnclear(unclear func(name, value string) bool) {
	for name, values := range d.byName {
		if len(values) < 2 {
			continue
		}
		own := map[int]bool{}
		for _, v := range values {
			own[v.value.at] = true
		}
		for _, v := range values {
			if v.value.isOption || d.isLocal(name, v.value) || !unclear(name, string(v.value.code)) {
				continue
			}
			e := evaluation{Names: d, seen: maps.Clone(own)}
			if e.evaluate(v.value); len(e.found) == 0 {
				d.byName[name] = []declaration{unknownAt(v.value.at)}
				break
			}
		}
	}
}

// isLocal reports whether a value is a name that is declared in a function, as that of the field: this.port = port.
func (d *Names) isLocal(name string, value expression) bool {
	return string(value.code) == name && slices.ContainsFunc(d.byName[name], func(x declaration) bool {
		return x.scope != 0 && x.value.at != value.at && d.blocks.Depth(x.scope, d.LogicalLine(value.at)) > 0
	})
}

// UsesName reports whether code has a name that is not a property of another one, beside other code.
func UsesName(code, name string) bool {
	if strings.TrimSpace(strings.TrimLeft(code, "$@")) == name {
		return false
	}
	for at := 0; ; at += len(name) {
		next := strings.Index(code[at:], name)
		if next < 0 {
			return false
		}
		at += next
		end := at + len(name)
		if (at == 0 || !source.IsWordByte(code[at-1]) && strings.IndexByte(".>:", code[at-1]) < 0) &&
			(end == len(code) || !source.IsWordByte(code[end])) {
			return true
		}
	}
}

func (d *Names) expression(s source.Span) expression {
	t := d.Text
	return expression{raw: t.Raw[s.From:s.To], code: t.Code[s.From:s.To], at: s.From}
}

// Use is the use of a name in an expression.
type Use struct {
	// Path is the name as other files may declare it: "NAME", ".field" of what is reached as a field, "function()".
	Path   string
	Dotted string // as it is written: config.grpc.port
	After  string // what follows it, such as the arguments of a call
	At     int    // the offset of the expression that has it

	name Name // what other files may declare it as, if that is known already
}

// Values returns the values that a name has where it is used at an offset.
func (d *Names) Values(name string, at int) []source.Span {
	var values []source.Span
	for _, x := range d.visible(name, at) {
		values = append(values, source.Span{From: x.at, To: x.at + len(x.raw)})
	}
	return values
}

// Hosted reports whether an expression has a host, or a part of one, before its port.
func (d *Names) Hosted(s source.Span) bool { return d.evaluated(d.expression(s)).hosted }

// Host returns the host that an expression is, UnknownHost if it states none or several.
func (d *Names) Host(s source.Span) Host {
	host := UnknownHost
	for i, text := range d.evaluated(d.expression(s)).texts {
		of := hostOf(strings.Trim(text, "[]"))
		if i > 0 && of != host {
			return UnknownHost
		}
		host = of
	}
	return host
}

// evaluated returns the evaluation of an expression.
func (d *Names) evaluated(x expression) *evaluation {
	e := &evaluation{Names: d, seen: map[int]bool{}}
	e.evaluate(x)
	return e
}
