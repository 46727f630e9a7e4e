package address

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

// Address returns the one address that an expression states. why is the reason for an unknown address, for debugging:
// "port is not declared in the file".
func (n *Names) Address(s source.Span) (a Address, why string) {
	e := n.evaluate(s)
	return e.address(n.Line(s.From))
}

// AddressOn returns the address of a port, in a span, on a host in another span.
func (n *Names) AddressOn(host, port source.Span) (a Address, why string) {
	a, why = n.Address(port)
	if e := n.evaluate(host); a.Host == UnknownHost && len(e.hosts) == 1 && e.why == "" {
		a.Host = e.hosts[0]
	}
	return a, why
}

// evaluation collects the statements of an expression and of the declarations of its names.
type evaluation struct {
	*Names
	seen  map[int]bool // the offsets of the expressions already read
	ports []Address
	hosts []Host
	// sockets are the Unix domain sockets, "" for a socket with an unknown path.
	sockets   []string
	variables []string // the environment variables in the expressions
	// isOption says that the environment or the command line may replace the address.
	isOption bool
	why      string // the first reason for an unknown address
}

// undeclared is the reason for an unknown address from a name.
const undeclared = "%s is not declared in the file"

func (e *evaluation) fail(format string, of any) { e.why = cmp.Or(e.why, fmt.Sprintf(format, of)) }

func (n *Names) evaluate(s source.Span) *evaluation {
	e := &evaluation{Names: n, seen: map[int]bool{}}
	e.expression(n.expression(s))
	return e
}

// minPort is the lowest port that a bare number states: below are indexes, radixes, counts.
const minPort = 80

var (
	stringLiteral = lazyregexp.New("\"[ \\n]*\"|'[ \\n]*'|`[ \\n]*`")
	numberLiteral = lazyregexp.New(`\b(\d[\d_]*)(?:[ui](?:16|32)|[uUlL]+)?\b`)
	// ipNumbers matches the numbers of an IP address, and of an index.
	ipNumbers = lazyregexp.New(`\[[\d\s,;]*\]|\{\s*\d+(?:\s*,\s*\d+){3,7}\s*\}|\bIpv[46]Addr::new\([^)]*\)`)
	// arithmetic matches an operator between operands, or a function that makes a random number.
	arithmetic = lazyregexp.New(`[\w\])]\s*[+*/%-]\s*[\w(]|\b[rR]and(?:om)?\w*\b|\w[rR]andom|\bnextInt\b`)
	// dottedName matches a name with its fields, which may stand on separate lines.
	dottedName = lazyregexp.New(`[@$]?[A-Za-z_]\w*(?:(?:\s*\??\.|::|->)\w+)*`)
	// applicationSetting matches a call for a value from settings files, whatever the default.
	applicationSetting = lazyregexp.New(`\bApplication\.(?:get|fetch|compile)_env`)
	// asksOptions matches an expression with the environment, the command line, options, or a value in place of a
	// default.
	asksOptions = lazyregexp.New(`(?i)\b\w*(?:env|environ|environment|args?|argv|options?|flags?|getenv)\b|` +
		`\bdotenvy\b|FLAGS_|\bdefault_value|\bgetProperty\b|\bgetInteger\b|or(?:Else|Default)\b|\?:|\|\||\?\?`)
)

// expression reads an expression, once.
func (e *evaluation) expression(x expression) {
	if e.left--; e.left < 0 || e.seen[x.at] {
		return
	}
	e.seen[x.at] = true
	literals := stringLiteral.FindAllIndex(x.code, -1)
	isSum := arithmetic.Match(x.code) && (len(literals) == 0 || !bytes.ContainsRune(x.code, '+'))
	if len(x.code) > source.MaxValue || isSum {
		e.fail("%q calculates", source.Excerpt(x.raw))
		return
	}
	if m := applicationSetting.Find(x.code); m != nil {
		e.fail(undeclared, m)
	}
	e.variables = append(e.variables, Variables(x.raw)...)
	e.isOption = e.isOption || asksOptions.Match(x.raw)
	x = e.elements(x)
	for _, m := range stringLiteral.FindAllIndex(x.code, -1) {
		isPart := joined.Match(x.code[:m[0]])
		e.text(string(x.raw[m[0]+1:m[1]-1]), x.at+m[0], isPart)
	}
	e.numbers(x)
	e.hostsIn(x)
	e.names(x)
}

// element matches the read of an element by its key: options[:port], config['port'], settings.get("port"),
// Configuration.GetValue<int>("Grpc:Port").
var element = lazyregexp.New(`(?P<of>[\w.@$]+)\s*(?:\??\[\s*(?::(?P<symbol>\w+)|["'](?P<key>[\w.-]+)["'])\s*\]|` +
	`(?:\.|->)\s*(?:fetch|get\w*|dig)(?:<[^<>()]*>)?\(\s*[:"'](?P<method>[A-Za-z_][\w.:-]*)["']?)`)

// elements follows the elements that an expression reads by keys, and returns the expression without the elements.
func (e *evaluation) elements(x expression) expression {
	all := element.FindAllSubmatchIndex(x.raw, maxDeclarations)
	if len(all) > 0 {
		x.code = bytes.Clone(x.code)
	}
	for _, m := range all {
		if x.code[m[0]] == ' ' { // in a string
			continue
		}
		if len(Variables(x.raw[m[0]:m[1]])) > 0 {
			source.Blank(x.code[m[0]:m[1]])
			continue
		}
		key := Field(string(bytes.Join([][]byte{group(x.raw, m, 2), group(x.raw, m, 3), group(x.raw, m, 4)}, nil)))
		switch of := string(group(x.raw, m, 1)); {
		case e.byName[key] != nil:
			e.declarations(e.byName[key])
		case !asksOptions.MatchString(of):
			e.fail(undeclared, x.raw[m[0]:m[1]])
		}
		source.Blank(x.code[m[0]:m[1]])
	}
	return x
}

func group(text []byte, match []int, number int) []byte {
	if match[2*number] < 0 {
		return nil
	}
	return text[match[2*number]:match[2*number+1]]
}

// joined matches the end of code that a string is appended to.
var joined = lazyregexp.New(`[\w)\]"'](?:\s*(?:[+.]+|&|<>)\s*)$`)

// numbers adds the number literals of an expression that may be ports.
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

// add adds an address written at an offset.
func (e *evaluation) add(a Address, at int) {
	switch {
	case a.Host == UnixSocket:
		e.sockets = append(e.sockets, a.Socket)
	case a.Port != 0:
		a.Place.Line = e.Line(at)
		e.ports = append(e.ports, a)
	}
}

var (
	// own matches the text before the names of an object's or a class's own fields, and before the flags of gflags and
	// Abseil.
	own = lazyregexp.New(`^(?:(?:self|cls|this|Self)(?:\.|::|->)|FLAGS_)`)
	// hostName matches a name for a host without a port.
	hostName = lazyregexp.New(`(?i)host|\bip|interface|_ip$`)
	// noName matches words that are no names of values: keywords, conversions and types.
	noName = source.Exactly(`new|as|await|try|if|else|is|in|or|and|not|let|mut|true|false|None|nil|null|undefined|` +
		`self|this|cls|int|str|string|float|parse|some|return|when|unless|then|do|end|fn|u16|u32|i32|usize|` +
		`[A-Z]\w*[a-z]\w*(?:(?:\.|::)[A-Z]\w*)*|ref|to_[si]|const|static|move|std(?:::\w+)*|net(?:::\w+)*|[@$]?_`)
)

// key matches the text after the key of an element.
var key = lazyregexp.New(`^\s*=>`)

// names follows the names in an expression to their declarations.
func (e *evaluation) names(x expression) {
	for _, m := range dottedName.FindAllIndex(x.code, -1) {
		after := byte(' ')
		if m[1] < len(x.code) {
			after = x.code[m[1]]
		}
		isKey := key.Match(x.code[m[1]:])
		// A name after a dot belongs to an unknown value. A colon ends the name of an argument, and a quote
		// the prefix of a string.
		isPart := m[0] > 0 && (strings.IndexByte(".:>", x.code[m[0]-1]) >= 0 || source.IsWordByte(x.code[m[0]-1]))
		isLabel := after == ':' || after == '=' && m[1]+1 < len(x.code) && x.code[m[1]+1] != '='
		if !isPart && !isLabel && !isKey && strings.IndexByte("\"'", after) < 0 {
			name := strings.ReplaceAll(strings.Join(strings.Fields(string(x.code[m[0]:m[1]])), ""), "?", "")
			e.name(name, x.at, after == '(', e.Elsewhere(name, x.at+m[0]))
		}
	}
}

// converted matches a conversion at the end of a name.
var converted = lazyregexp.New(`\.(?:to_[si]|value|clone|as_str|get)$`)

// name follows a name at an offset. elsewhere are the addresses of the name from other files. A call name.method() is
// followed to the name, unless the file declares the method as a name.
func (e *evaluation) name(dotted string, at int, isCall bool, elsewhere []Address) {
	if noName.MatchString(dotted) && e.declarationsOf(dotted, at) == nil && elsewhere == nil {
		return
	}
	asks := asksOptions.MatchString(dotted)
	if isCall && e.visible(Path(dotted), at) == nil {
		dot := strings.LastIndexAny(dotted, ".>")
		if dot < 0 {
			return
		}
		if dotted = strings.TrimRight(dotted[:dot], ".->"); noName.MatchString(dotted) {
			return
		}
	}
	all := e.declarationsOf(dotted, at)
	switch {
	case len(elsewhere) > 0:
		e.elsewhere(dotted, elsewhere)
	case len(all) == 0 && hostConstant.MatchString(dotted):
	case len(all) == 0 && hostName.MatchString(dotted):
		e.hosts = append(e.hosts, UnknownHost)
	case len(all) == 0 && !asks:
		e.fail(undeclared, dotted)
	}
	e.declarations(all)
}

// elsewhere adds the addresses of a name from other files.
func (e *evaluation) elsewhere(name string, all []Address) {
	for _, a := range all {
		e.isOption = e.isOption || a.Certainty == Default
		if a.Variable != "" {
			e.variables = append(e.variables, a.Variable)
		}
		switch {
		case a.Port != 0:
			e.ports = append(e.ports, a)
		case a.Host == UnknownHost && a.Variable == "" && !hostName.MatchString(name):
			e.fail("%s is not known in another file", name)
		default:
			e.hosts = append(e.hosts, a.Host)
		}
	}
}

// declarations reads the values of a name. A value without a statement may replace the statement of another value.
func (e *evaluation) declarations(all []declaration) {
	for _, d := range all {
		stated := e.stated()
		e.isOption = e.isOption || d.isOption
		if d.variable != "" {
			e.variables = append(e.variables, d.variable)
		}
		if len(bytes.TrimSpace(d.value.code)) > 0 {
			isNew := !e.seen[d.value.at]
			e.expression(d.value)
			e.isOption = e.isOption || isNew && len(all) > 1 && e.stated() == stated
		}
	}
}

// stated returns the number of statements so far.
func (e *evaluation) stated() int {
	return len(e.ports) + len(e.hosts) + len(e.sockets) + len(e.variables)
}

// declarationsOf returns the declarations of a dotted name as written, or of the object's own field, or of the field of
// any declared object.
func (e *evaluation) declarationsOf(dotted string, at int) []declaration {
	name := converted.ReplaceAllString(Path(dotted), "")
	if all := e.visible(name, at); all != nil {
		return all
	}
	field := name[strings.LastIndexByte(name, '.')+1:]
	if all := e.byName["."+field]; all != nil {
		return all
	}
	isConstant := field != "" && field != name && field[0] >= 'A' && field[0] <= 'Z'
	if all := e.byName[field]; isConstant && len(all) == 1 {
		return all
	}
	return nil
}

// Path returns a dotted name without namespaces, and without the text before the names of an object's own fields.
func Path(dotted string) string {
	name := strings.ReplaceAll(own.ReplaceAllString(dotted, ""), "->", ".")
	return name[strings.LastIndex(name, ":")+1:]
}

// address returns the one address found in an expression on a line.
func (e *evaluation) address(line int) (a Address, why string) {
	a.Place.Line = line
	if e.why != "" {
		return a, e.why
	}
	a.Variable = oneVariable(e.variables)
	switch {
	case len(e.ports) > 0:
		return e.withPort(a)
	case len(e.sockets) > 0:
		return e.withSocket(a), ""
	case len(e.hosts) == 1:
		a.Host = e.hosts[0]
	}
	if a.Variable == "" {
		why = "no port is written there"
	}
	return a, why
}

// withPort returns the address of an expression with ports.
func (e *evaluation) withPort(a Address) (_ Address, why string) {
	one := e.ports[0]
	hosts := slices.Clone(e.hosts)
	for _, f := range e.ports {
		if f.Port != one.Port || len(e.sockets) > 0 {
			return a, fmt.Sprintf("several addresses are written: port %d in %s, port %d in %s",
				one.Port, where(one), f.Port, where(f))
		}
		if f.Host != UnknownHost {
			hosts = append(hosts, f.Host)
		}
	}
	slices.Sort(hosts)
	if hosts = slices.Compact(hosts); len(hosts) == 1 {
		a.Host = hosts[0]
	}
	a.Port, a.Certainty, a.Place = one.Port, Written, one.Place
	if e.isOption || len(e.variables) > 0 {
		a.Certainty = Default
	}
	return a, ""
}

// withSocket returns the address of an expression with Unix domain sockets alone.
func (e *evaluation) withSocket(a Address) Address {
	sockets := slices.Clone(e.sockets)
	slices.Sort(sockets)
	a.Host = UnixSocket
	if sockets = slices.Compact(sockets); len(sockets) > 1 || sockets[0] == "" {
		return a
	}
	a.Socket, a.Certainty = sockets[0], Written
	if e.isOption || len(e.variables) > 0 {
		a.Certainty = Default
	}
	return a
}

// where says where an address stands: on a line of the file, or in another file.
func where(a Address) string {
	if a.Place.Path != "" {
		return a.Place.String()
	}
	return fmt.Sprintf("line %d", a.Place.Line)
}
