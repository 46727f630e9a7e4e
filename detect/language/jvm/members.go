package jvm

import (
	"bytes"
	"regexp"
	"slices"
	"strconv"

	"github.com/grpc-cnb/health-probe/detect/address"
	"github.com/grpc-cnb/health-probe/detect/source"
)

// portWords are in every source that other files may take a port from.
var portWords = source.NewKeywords("PORT", "Port", " port", "Server(", "void main(", "fun main(", "extends App")

var (
	typeName = regexp.MustCompile(`\b(?:class|object|interface|enum|record)\s+(?P<name>[A-Z]\w*)`)
	// portConstant is a constant or a field that names a port, portFunction a function that is one expression, and
	// portMethod one with a body.
	portConstant = regexp.MustCompile(`\b(?:static|final|const|va[lr]|int|Integer)\b[ \t]+(?:\w+[ \t]+)*?` +
		`(?P<name>\w*[pP](?:ort|ORT)\w*)` + typeOf + `=\s*`)
	portFunction = regexp.MustCompile(`\b(?:fun|def)\s+(?P<name>\w*[pP]ort\w*)\s*(?:\(\s*\))?` + typeOf + `=\s*`)
	portMethod   = regexp.MustCompile(`\b(?P<name>\w*[pP]ort\w*)\s*\(\s*\)` + typeOf + `\{`)
	returned     = regexp.MustCompile(`\breturn\b[ \t]*`)
	// constructed is an object that may have a port among its arguments.
	constructed = regexp.MustCompile(`\b(?P<name>[A-Z]\w*)\s*\(`)
)

const (
	// maxMembers is how many members of each form are looked at in one source, maxCalls how many calls, and
	// maxArguments how many arguments of a call.
	maxMembers   = 16
	maxCalls     = 64
	maxArguments = 4
)

// stated is the port that a member of a class states, or that a constructor is given, and its line. Of a class whose
// fields are settings it is what their keys begin with.
type stated struct {
	port, line int
	prefix     string
}

// portsForOthers returns the ports that other files may take from a source: of constants and methods as Class.NAME, of
// arguments as Class#0. It is nil where there are none.
func portsForOthers(p *ports) map[string]stated {
	t := p.text
	m := members{t: t, ports: p, types: t.FindAll(typeName, maxValues), found: map[string]stated{}}
	for _, pattern := range []*regexp.Regexp{portConstant, portFunction} {
		for _, match := range t.FindAll(pattern, maxMembers) {
			name, _ := t.Group(pattern, match, "name")
			m.add(name, match[0], []source.Span{{From: match[1], To: t.Until(match[1], ends[p.ext])}})
		}
	}
	for _, match := range t.FindAll(portMethod, maxMembers) {
		name, _ := t.Group(portMethod, match, "name")
		m.add(name, match[0], returnedValues(t, match[1]))
	}
	m.addArguments()
	m.addSettings()
	if len(m.found) == 0 {
		return nil
	}
	return m.found
}

// members collects the ports of one source.
type members struct {
	t     *source.Text
	types [][]int // where types are declared
	ports *ports
	found map[string]stated
}

// add adds a member of the type that is declared before an offset, whose value is one of those in spans.
func (m *members) add(name string, at int, spans []source.Span) {
	class := ""
	for _, declared := range m.types {
		if declared[0] > at {
			break
		}
		class = string(m.t.Raw[declared[2]:declared[3]])
	}
	if class != "" {
		m.state(class+"."+name, spans)
	}
}

// mayBePort is an expression that may be worth evaluating: a number, a constant, a name of a port, or what comes from
// the environment with a default.
var mayBePort = regexp.MustCompile(`\b\d{2,5}\b|[pP](?:ort|ORT)|^[A-Z][A-Z0-9_]*$|[eE]nv`)

// state keeps the one port that the values state. Where they state several, it is not known.
func (m *members) state(name string, values []source.Span) {
	values = slices.DeleteFunc(values, func(v source.Span) bool { return !mayBePort.Match(m.t.Code[v.From:v.To]) })
	for _, value := range values {
		port := m.ports.declarations().Port(value)
		if port.Number == address.UnknownPort {
			continue
		}
		if before, ok := m.found[name]; ok && before.port != port.Number {
			port.Number = address.UnknownPort
		}
		m.found[name] = stated{port: port.Number, line: m.t.Line(port.At)}
	}
}

// returnedValues returns what a body returns that begins at an offset.
func returnedValues(t *source.Text, from int) []source.Span {
	_, body := t.Arguments(from)
	var values []source.Span
	for _, m := range returned.FindAllIndex(t.Code[body.From:body.To], maxMembers) {
		at := body.From + m[1]
		values = append(values, source.Span{From: at, To: t.Until(at, ";")})
	}
	return values
}

// addArguments adds the arguments that constructors are given.
func (m *members) addArguments() {
	for _, match := range m.t.FindAll(constructed, maxCalls) {
		name, _ := m.t.Group(constructed, match, "name")
		each, _ := m.t.Arguments(match[1])
		for i, argument := range each[:min(len(each), maxArguments)] {
			m.state(name+"#"+strconv.Itoa(i), []source.Span{argument})
		}
	}
}

// settingsClass is the annotation of a class whose fields are settings, of Spring, Micronaut and Quarkus.
var settingsClass = regexp.MustCompile(
	`@(?:ConfigurationProperties|ConfigMapping)\s*\(\s*(?:(?:prefix|value)\s*=\s*)?"(?P<prefix>[ ]+)"`)

// addSettings adds the classes whose fields are settings, as @Class.
func (m *members) addSettings() {
	for _, match := range m.t.FindAll(settingsClass, maxMembers) {
		for _, declared := range m.types {
			if declared[0] > match[1] {
				prefix, _ := m.t.Group(settingsClass, match, "prefix")
				m.found["@"+string(m.t.Raw[declared[2]:declared[3]])] = stated{prefix: prefix}
				break
			}
		}
	}
}

// hasPortWords reports whether other files may take a port from a source. "import" does not count.
func hasPortWords(text []byte) bool {
	return portWords.In(text) && bytes.ContainsAny(text, "0123456789")
}
