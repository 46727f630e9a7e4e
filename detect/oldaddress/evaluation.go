package address

import (
	"bytes"
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

// evaluation collects the addresses of one expression and of the declarations of its names.
type evaluation struct {
	*Names
	seen   map[int]bool // the declarations that were followed, by the offsets of their values
	before []Use        // names whose default a port is, which were not followed
	others []Use        // parameters that were followed, and to which calls in other files may give something else
	found  []found
	// hosts are those that stand apart from a port, UnknownHost for one of which nothing is known.
	hosts []Host
	// sockets are the Unix domain sockets among the addresses, "" for one whose path is not known.
	sockets []string
	// variables are the environment variables that are asked.
	variables []string
	// givers are what may give the value when the process starts.
	givers []giver
	// whole is the environment variable that has the whole address, whatever its name.
	whole  string
	hosted bool
	// texts are the contents of the strings.
	texts []string
	// outside says that the environment or the command line is asked, and unclear that what goes before a default is
	// not known to come from there.
	outside, unclear bool
	// ifCalled is the name that a call declares which leaves a parameter to its default, if that is the address.
	ifCalled string
	// holdsUnset is [Value.HoldsUnset].
	holdsUnset bool
	given      []Name // as [Value.Given] has them
	// undeclared are the names that were asked for and that the text does not declare.
	undeclared []Use
}

// found is an address that is written at an offset. Its port is 0 if only the host is.
type found struct {
	Host Host
	Port int
	at   int
}

// minPort is the lowest number that is taken for a port where it stands alone: below it are indexes, radixes, counts.
const minPort = 80

// maxAfterName is how many bytes after a name are kept with it: the call of a method with a key or two.
const maxAfterName = 80

var (
	stringLiteral = lazyregexp.New("\"[ \\n]*\"|'[ \\n]*'|`[ \\n]*`")
	numberLiteral = lazyregexp.New(`\b(\d[\d_]*)(?:[ui](?:16|32)|[uUlL]+)?\b`)
	// addressLiteral is an address or a port. The host may be interpolated: "{}:", "${host}:", "\(host):", "%s:".
	addressLiteral = lazyregexp.New(`^(?:([\w.-]*|\[[\w.:]*\])|\\\([^)]*\)|[$#]?\{[^}]*\}|%s|\$\w+)` +
		`:(\d{1,5})$|^(\d{1,5})$`)
	// interpolation is the code at the end of a string, and what stands before it.
	interpolation = lazyregexp.New(`^(.*?)(?:(?:\\\(|[$#]?\{)((?:[^{}\\]|\{[^{}]*\})+)[)}]|\$(\w+))$`)
	// anyHostURL is the scheme of a URL, also of Arrow Flight, with the host names that stand for all addresses in
	// ASP.NET Core's URLs.
	anyHostURL          = lazyregexp.New(`^(?i:https?|grpc(?:\+t(?:cp|ls))?)://(?:[*+]|\[::\])?`)
	interpolationFormat = lazyregexp.New(`:[ds]$`)
	// ipNumbers are the numbers of an IP address, and of an index.
	ipNumbers = lazyregexp.New(`\[[\d\s,;]*\]|\{\s*\d+(?:\s*,\s*\d+){3,7}\s*\}|\bIpv[46]Addr::new\([^)]*\)`)
	// arithmetic is an operator between operands, or between the result of a call and a number, and resultArithmetic
	// one after a call.
	arithmetic       = lazyregexp.New(`[\w\]]\s*[+*/%-]\s*[\w(]|\)\s*[+*/%-]\s*\d`)
	resultArithmetic = lazyregexp.New(`\)\s*[+*/%-]\s*[\w(]`)
	// random makes a port that no source states: rand(65535), Random().nextInt(65535).
	random = lazyregexp.New(`\b[rR]and(?:om)?\w*\b|\w[rR]andom|\bnextInt\b`)
	// dottedName is a name with its fields, which may stand on lines of their own.
	dottedName = lazyregexp.New(`@?[A-Za-z_]\w*(?:(?:\s*\.|::|->)\w+)*`)
)

// evaluate collects the ports that an expression may have for its value.
func (e *evaluation) evaluate(x expression) {
	defer e.sortGivers(len(e.givers))
	if x.of != "" {
		e.field(expression{raw: []byte(x.of), code: []byte(x.of), at: x.at}, len(x.code) > 0)
	}
	for _, n := range x.instead {
		e.others = append(e.others, Use{name: n, At: x.at})
	}
	e.given = append(e.given, x.given...)
	e.askByConstants(x)
	if m := sum.FindSubmatch(x.code); m != nil && e.AddsNumbers {
		e.sum(expression{raw: m[1], code: m[1], at: x.at}, string(m[2]))
		return
	}
	literals := stringLiteral.FindAllIndex(x.code, -1)
	if e.left--; e.left < 0 || len(x.code) > source.MaxValue || arithmetic.Match(x.code) ||
		random.Match(x.code) || len(literals) == 0 && resultArithmetic.Match(x.code) {
		return
	}
	if asked := append(Variables(x.raw), x.variables...); x.isOption || len(asked) > 0 || outside.Match(x.raw) {
		e.outside = true
		e.variables = append(e.variables, asked...)
		e.givenByVariables(x)
		e.whole = cmp.Or(e.whole, variableOf(x.raw))
	}
	e.givenByArguments(x)
	e.givenByProperties(x)
	if e.branches(x) {
		return
	}
	before := len(e.found) + len(e.sockets)
	x = e.settings(x)
	if x = e.keys(x); len(e.found)+len(e.sockets) > before {
		return // a default after it does not count
	}
	for _, m := range stringLiteral.FindAllIndex(x.code, -1) {
		text := string(x.raw[m[0]+1 : m[1]-1])
		e.stringLiteral(text, x.at+m[0], e.hostBeside(x, text, m))
	}
	e.numbers(x)
	e.hostsIn(x)
	if len(e.found)+len(e.sockets) == before {
		e.names(x)
	}
	e.defaults(x)
}

// field asks for a field, which may have a default.
func (e *evaluation) field(x expression, hasDefault bool) {
	if !hasDefault || len(Variables(x.raw)) > 0 {
		e.evaluate(x)
		return
	}
	u := Use{Dotted: string(x.raw), Path: fieldOf(string(x.raw)), At: x.at}
	e.outside = true
	e.before = append(e.before, u)
	if _, c := e.fieldOfArgument(u); c != nil {
		e.ifCalled, e.holdsUnset = withoutArguments(c.qualified()), true
	} else {
		e.unclear = e.unclear || !e.isOption(u)
	}
}

// keys follows what the expression reads by keys, and returns it without these, except for the defaults after them.
func (e *evaluation) keys(x expression) expression {
	for _, p := range e.keyed {
		for i, m := range p.FindAllSubmatchIndex(x.code, -1) {
			if i == 0 {
				x.code = bytes.Clone(x.code)
			}
			var parts []string
			end := m[1]
			for g, name := range p.SubexpNames() {
				switch {
				case m[2*g] < 0:
				case strings.HasPrefix(name, "key"):
					parts = append(parts, string(x.raw[m[2*g]:m[2*g+1]]))
				case name == "default":
					end = m[2*g]
				}
			}
			key := strings.Join(parts, ".")
			if e.KeyAt != nil {
				key = e.KeyAt(key, source.Span{From: x.at + m[0], To: x.at + m[1]})
			}
			u := Use{Path: Key(key), At: x.at}
			e.outside, e.unclear = true, e.unclear || len(parts) > 1 && slices.Contains(e.filledHashes, parts[0])
			e.before = append(e.before, u)
			before := len(e.givers)
			e.follow(u.Path, u)
			e.standAt(before, x.at+m[0])
			if read := x.code[m[0]:end]; bytes.Count(read, []byte("(")) > bytes.Count(read, []byte(")")) {
				end += len(closing.Find(x.code[end:])) // without it, the bracket around the whole would close there
			}
			source.Blank(x.code[m[0]:end])
		}
	}
	return x
}

// closing ends a call that reads by a key.
var closing = lazyregexp.New(`^\s*\)`)

// nameAt returns the name that a match in an expression is.
func (x expression) nameAt(match []int) Use {
	after := x.raw[match[1]:min(match[1]+maxAfterName, len(x.raw))]
	dotted := strings.Join(strings.Fields(string(x.code[match[0]:match[1]])), "")
	return Use{Dotted: dotted, After: string(after), At: x.at}
}

// add adds an address that is written at an offset.
func (e *evaluation) add(a Address, at int) {
	if a.Host == UnixSocket {
		e.sockets = append(e.sockets, a.Socket)
		return
	}
	e.found = append(e.found, found{a.Host, a.Port, at})
}

// numbers takes the number literals of an expression that may be ports.
func (e *evaluation) numbers(x expression) {
	code := ipNumbers.ReplaceAllFunc(x.code, func(ip []byte) []byte { return bytes.Repeat([]byte("_"), len(ip)) })
	for _, m := range numberLiteral.FindAllSubmatchIndex(code, -1) {
		isPart := m[0] > 0 && strings.IndexByte(".-#$", code[m[0]-1]) >= 0 ||
			m[1]+1 < len(code) && code[m[1]] == '.' && code[m[1]+1] >= '0' && code[m[1]+1] <= '9'
		n, err := strconv.Atoi(strings.ReplaceAll(string(code[m[2]:m[3]]), "_", ""))
		if !isPart && err == nil && n >= minPort {
			e.add(Parse(strconv.Itoa(n)), x.at+m[0])
		}
	}
}

// names follows the names in an expression.
func (e *evaluation) names(x expression) {
	for _, m := range dottedName.FindAllIndex(x.code, -1) {
		after := byte(' ')
		if m[1] < len(x.code) {
			after = x.code[m[1]]
		}
		// A name after a dot belongs to something that is not known. A colon ends the name of an argument, and a quote
		// the prefix of a string.
		if m[0] > 0 && strings.IndexByte(".:>", x.code[m[0]-1]) >= 0 || strings.IndexByte(":\"'", after) >= 0 {
			continue
		}
		before := len(e.givers)
		e.name(x.nameAt(m), after == '(')
		e.standAt(before, x.at+m[0])
	}
}

// ownPrefix stands before the names of an object's or a class's own fields, and before the flags of gflags and Abseil.
var ownPrefix = lazyregexp.New(`^(?:(?:self|cls|this|Self)(?:\.|::|->)|FLAGS_)`)

// converted is what a name ends with whose value is read in another form.
var converted = lazyregexp.New(`\.(?:to_[si]|value)$`)

// name follows a name, which stands at an offset, to its declarations. name.field asks for the field, and name.method()
// for what the method returns if that is declared, and otherwise for the name.
func (e *evaluation) name(u Use, isCall bool) {
	name := converted.ReplaceAllString(Path(u.Dotted), "")
	dot := strings.LastIndexByte(name, '.')
	if isCall {
		function := e.FunctionCalled(u)
		if e.byName[function] != nil {
			e.follow(function, u)
			return
		}
		if function == "" && e.CallsModules {
			function = functionOf("", name[dot+1:])
		}
		if function != "" {
			e.askOthers(function, u)
		}
	}
	if isCall && dot >= 0 {
		name = name[:dot]
	}
	if _, field, ok := strings.Cut(name, "."); ok && e.byName["."+name] != nil {
		name = "." + name // a part of this very object
	} else if ok {
		name = cmp.Or(e.fieldOf(name), "."+field)
	}
	e.follow(name, u)
}

// fieldOf returns the name of a field with its type, "" if that is not known.
func (e *evaluation) fieldOf(dotted string) string {
	if e.FieldOf == nil {
		return ""
	}
	return e.FieldOf(dotted)
}

// Path returns a dotted name without what stands before the names of an object's own fields, and without namespaces.
func Path(dotted string) string {
	name := strings.ReplaceAll(ownPrefix.ReplaceAllString(dotted, ""), "->", ".")
	return name[strings.LastIndex(name, ":")+1:]
}

func (e *evaluation) askOthers(path string, u Use) {
	u.Path = path
	e.undeclared = append(e.undeclared, u)
}

// follow evaluates the declarations of a name that are visible where it is used, each of them once.
func (e *evaluation) follow(name string, u Use) {
	e.givenBy(name)
	values := e.visible(name, u.At)
	u.Path = name
	switch c, _ := e.parameterOf(u); {
	case values == nil:
		e.askOthers(name, u)
		e.parameterDefault(name, u)
	case c != nil && c.Name != "":
		e.others = append(e.others, u)
	}
	before, hosts := len(e.found)+len(e.sockets), len(e.hosts)
	for _, x := range values {
		switch {
		case !e.seen[x.at]:
			e.seen[x.at] = true
			e.evaluate(x)
		case x.at == u.At:
			e.askOthers(name, u) // a field that gets a parameter of its name: self.port = port
			e.parameterDefault(name, u)
		}
	}
	isFound, isHost := len(e.found)+len(e.sockets) > before, len(e.hosts) > hosts
	if len(values) < 2 || !isFound && !isHost {
		return
	}
	for _, x := range values {
		switch {
		case !e.isUnclear(name, x):
		case isFound && (optionsName.Match(x.code) || optionsName.MatchString(name)):
			e.outside = true // the others are defaults
		default:
			e.unclear = e.unclear || isFound
			e.hosts = append(e.hosts, UnknownHost)
		}
	}
}

// isUnclear reports whether a name gets a value of which nothing is known: it states no address, comes from nowhere
// that is known, and is not made of what the name had before.
func (e *evaluation) isUnclear(name string, x expression) bool {
	code := string(bytes.TrimSpace(x.code))
	isOwn := Path(strings.TrimLeft(code, "$@")) == name || UsesName(code, name)
	if isOwn || noValue.MatchString(code) {
		return false
	}
	own := evaluation{Names: e.Names, seen: map[int]bool{x.at: true}}
	own.evaluate(x)
	isNamed := func(text string) bool { return strings.ReplaceAll(text, "-", "_") == name }
	isElement := isElementRead.MatchString(code) && slices.ContainsFunc(own.texts, isNamed)
	if isElement || len(own.texts) > 0 && strings.IndexByte("\"'`", code[0]) >= 0 {
		return false // it is what has the name among options, or a host or another text
	}
	return !own.outside && len(own.found)+len(own.sockets)+len(own.variables)+len(own.givers)+len(own.before)+
		len(own.others)+len(own.given)+len(own.hosts) == 0
}

// isElementRead reads an element by a text.
var isElementRead = lazyregexp.New(`\w\s*\[\s*["']`)

// isName is a name alone.
var isName = lazyregexp.New(`^[A-Za-z_]\w*$`)

// noValue is what a name has before it gets a value.
var noValue = lazyregexp.New(`^(?:None|null|nil|undefined|NULL|nullptr|-?\d{1,2}|"\s*"|'\s*'|false)?$`)

// parameterDefault evaluates the default of a parameter, if a name is one that has a default. What calls in other files
// give goes before it.
func (e *evaluation) parameterDefault(name string, u Use) {
	u.Path = name
	c, number := e.parameterOf(u)
	if c == nil {
		return
	}
	if s := c.Parameters[number].Default; s.From < s.To && !e.seen[s.From] {
		e.seen[s.From] = true
		e.ifCalled, e.holdsUnset = withoutArguments(c.qualified()), c.Parameters[number].Position != ""
		e.before = append(e.before, u)
		e.evaluate(e.expression(s))
	}
}
