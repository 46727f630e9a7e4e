package ruby

import (
	"regexp"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/address"
	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/source"
)

var (
	// addressCall is a call, with brackets or without, or an assignment that says where a server listens: on the first
	// argument, or on what is assigned.
	addressCall = regexp.MustCompile(`\.[ \t]*add_http2_port[ \t]*(?:(?P<open>\()|[ \t](?P<bare>[^\n,]*))|` +
		`\b(?:server_binding_url|rpc_host)[ \t]*=[ \t]*(?P<assigned>[^\n]*)`)
	// griffinPort is the setting of griffin in its configure block, and griffinServer what makes other settings of that
	// name griffin's.
	griffinPort   = regexp.MustCompile(`\b\w+\.port[ \t(]+(?P<port>\d+|[A-Z]\w*)`)
	griffinServer = regexp.MustCompile(`\bGriffin::Server\b`)

	// assignment is PORT = 50051 or @port ||= 50051.
	assignment = regexp.MustCompile(`(?m)^[ \t]*(?P<name>@{0,2}[A-Za-z_]\w*)[ \t]*(?:\|\|)?=[ \t]*`)
)

var (
	// element is an element of a hash that is the whole port of an address: options[:port].
	element = regexp.MustCompile(`\b(?P<hash>\w+)(?:\[:(?P<key>\w+)\]|\.fetch\(:(?P<fetched>\w+)\))`)
	// hashLiteral is the value of a variable, and elementAssignment that of an element.
	hashLiteral       = regexp.MustCompile(`(?m)^[ \t]*(?P<name>\w+)[ \t]*=[ \t]*\{`)
	elementAssignment = regexp.MustCompile(`\b(?P<hash>\w+)\[:(?P<key>\w+)\][ \t]*(?:\|\|)?=[ \t]*`)
	hashKey           = regexp.MustCompile(`^(?::(?P<arrow>\w+)\s*=>|(?P<key>\w+):)\s*`)
	// method is a method that may return a setting, up to its body, and endlessMethod one with a single expression.
	method        = regexp.MustCompile(`(?m)^[ \t]*def[ \t]+(?:self\.)?(?P<name>\w+)[ \t]*(?:\(\))?[ \t]*\n[ \t]*`)
	endlessMethod = regexp.MustCompile(`(?m)^[ \t]*def[ \t]+(?:self\.)?(?P<name>\w+)[ \t]*(?:\(\))?[ \t]*=[ \t]*`)
	constant      = regexp.MustCompile(`(?m)^[ \t]*(?P<name>[A-Z]\w*)[ \t]*=[ \t]*`)
)

// fromOutside is in a value that the environment or the command line gives.
var fromOutside = regexp.MustCompile(`\bENV\b|\bARGV\b|\boptions\b`)

// maxSettings is how many settings of one file are kept.
const maxSettings = 100

// pass is the analysis of the ports of one source.
type pass struct {
	*address.Names
	elements map[string][]source.Span // the values of the elements of hashes: options[port]
}

func newPass(t *source.Text) *pass {
	p := &pass{address.Read(t, "\n", assignment, endlessMethod), map[string][]source.Span{}}
	for _, m := range t.FindAll(method, -1) {
		name, _ := t.Group(method, m, "name")
		p.Declare(name, source.Span{From: m[1], To: t.Until(m[1], "\n")})
	}
	p.DeleteUnclear(func(name, value string) bool {
		return !fromOutside.MatchString(value) && !address.UsesName(value, name)
	})
	for _, m := range t.FindAll(hashLiteral, address.MaxListeners) {
		name, _ := t.Group(hashLiteral, m, "name")
		pairs, _ := t.Arguments(m[1])
		for _, pair := range pairs {
			if k := hashKey.FindSubmatchIndex(t.Code[pair.From:pair.To]); k != nil {
				key := string(t.Code[pair.From+max(k[2], k[4]) : pair.From+max(k[3], k[5])])
				p.addElement(name, key, source.Span{From: pair.From + k[1], To: pair.To})
			}
		}
	}
	for _, m := range t.FindAll(elementAssignment, address.MaxListeners) {
		name, _ := t.Group(elementAssignment, m, "hash")
		key, _ := t.Group(elementAssignment, m, "key")
		p.addElement(name, key, source.Span{From: m[1], To: t.Until(m[1], "\n;}")})
	}
	return p
}

func (p *pass) addElement(hash, key string, value source.Span) {
	name := hash + "[" + key + "]"
	p.elements[name] = append(p.elements[name], value)
}

// listeners returns the ports that the servers of a source listen on.
func (p *pass) listeners() []analyzer.Finding {
	var found []analyzer.Finding
	for _, m := range p.FindAll(addressCall, address.MaxListeners) {
		found = append(found, p.listener(addressOf(p.Text, m)))
	}
	if griffinServer.Match(p.Code) {
		for _, m := range p.FindAll(griffinPort, address.MaxListeners) {
			found = append(found, p.listener(source.Span{From: m[2], To: m[3]}))
		}
	}
	return found
}

// listener returns the port of an expression, or what other files may say of it. The elements of a hash have ports of
// their own: the other numbers in the hash are none.
func (p *pass) listener(expression source.Span) analyzer.Finding {
	if port, ok := p.elementPort(expression); ok {
		return analyzer.NewListener(p.Text, port)
	}
	port := p.Port(expression)
	found := analyzer.NewListener(p.Text, port)
	if port.Number != address.UnknownPort {
		return found
	}
	for _, n := range p.NamesIn(expression) {
		name := n.Dotted
		if root, _, _ := strings.Cut(name, "."); root != "Settings" {
			name = name[strings.LastIndexByte(name, ':')+1:]
			name, _, _ = strings.Cut(name, ".")
		}
		if name != "ENV" && name[0] >= 'A' && name[0] <= 'Z' {
			found.ImportPath = name
		}
	}
	return found
}

// elementPort returns the port of the elements of hashes that an expression consists of, or of those in the value of a
// variable that it is. It reports whether there are any.
func (p *pass) elementPort(expression source.Span) (address.Port, bool) {
	unknown := address.Port{Number: address.UnknownPort, At: expression.From}
	text := string(p.Raw[expression.From:expression.To])
	if word := strings.TrimSpace(text); wholeName.MatchString(word) {
		if values := p.Values(word, expression.From); len(values) == 1 {
			text = string(p.Raw[values[0].From:values[0].To])
		}
	}
	if strings.Contains(text, "ENV") {
		return unknown, false
	}
	isElement := false
	found := unknown
	for _, m := range element.FindAllStringSubmatch(text, -1) {
		isElement = true
		for _, value := range p.elements[m[1]+"["+m[2]+m[3]+"]"] {
			port := p.Port(value)
			if port.Number == address.UnknownPort || port.Number == found.Number {
				continue
			}
			if found.Number != address.UnknownPort {
				return unknown, true
			}
			found = port
		}
	}
	return found, isElement
}

var wholeName = regexp.MustCompile(`^@?\w+$`)

// settings returns the ports of the constants of the source, for other sources, as listeners.
func (p *pass) settings() map[string]analyzer.Finding {
	found := map[string]analyzer.Finding{}
	for _, m := range p.FindAll(constant, -1) {
		name, _ := p.Group(constant, m, "name")
		value := source.Span{From: m[1], To: p.Until(m[1], "\n")}
		if port := p.Port(value); port.Number != address.UnknownPort && len(found) < maxSettings {
			found[name] = analyzer.NewListener(p.Text, port)
		}
	}
	return found
}

// addressOf returns the expression that a match of the pattern addressCall has for its address.
func addressOf(t *source.Text, match []int) source.Span {
	open, bare, assigned := match[2:4], match[4:6], match[6:8]
	switch {
	case open[0] >= 0:
		first, _ := t.Argument(open[1], 0)
		return first
	case bare[0] >= 0:
		return source.Span{From: bare[0], To: bare[1]}
	default:
		return source.Span{From: assigned[0], To: assigned[1]}
	}
}
