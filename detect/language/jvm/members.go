package jvm

import (
	"slices"

	"github.com/grpc-cnb/health-probe/detect/oldaddress"
	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

// portWords are in every source that other files may take a port from. "import" does not count.
var portWords = source.NewKeywords(
	"PORT", "Port", " port", ".port", "Server(", "void main(", "fun main(", "extends App", "IOApp",
)

var (
	typeName = lazyregexp.New(`\b(?:class|object|interface|enum|record)\s+(?P<name>[A-Z]\w*)`)
	// portMembers are a constant or a field that names a port, and a function that is one expression.
	portMembers = []*lazyregexp.Regexp{
		lazyregexp.New(`\b(?:static|final|const|va[lr]|int|Integer)\b[ \t]+(?:\w+[ \t]+)*?` +
			`(?P<name>\w*[pP](?:ort|ORT)\w*)` + typeOf + `=\s*`),
		lazyregexp.New(`\b(?:fun|def)\s+(?P<name>\w*[pP]ort\w*)\s*(?:\(\s*\))?` + typeOf + `=\s*`),
	}
	// finalField is a field that nothing sets after the constructor, and fieldOfThis sets a field of an object.
	finalField  = lazyregexp.New(`\b(?:final\s+(?:static\s+)?\w+|val)\s+(?P<name>\w*[pP]ort\w*)\s*[;=:]`)
	fieldOfThis = lazyregexp.New(`\bthis\s*\.\s*(?P<name>\w*[pP]ort\w*)\s*=\s*`)
	// called is a constructor, a method of a type, or a function that starts something, which may be given a port.
	called = lazyregexp.New(`(?:(?:^|\W)(?P<name>[A-Z]\w*(?:\.[a-z]\w*)?)|` +
		`(?:^|[^\w.])(?P<name>(?:start|run|serve|launch)\w*))` + typeArguments + `\(`)
	// settingsClass is the annotation of a class whose fields are settings, of Spring, Micronaut and Quarkus, and
	// settingsField such a field.
	settingsClass = lazyregexp.New(
		`@(?:ConfigurationProperties|ConfigMapping)\s*\(\s*(?:(?:prefix|value)\s*=\s*)?"(?P<prefix>[ ]+)"`)
	settingsField = lazyregexp.New(`\b(?:int|Integer|String|va[lr])\s+(?P<name>\w*[pP]ort\w*)\b`)
	fieldDefault  = lazyregexp.New(`^` + typeOf + `=\s*`)
	// annotatedDefault stands before such a field and has its default, of Spring, Quarkus and Micronaut.
	annotatedDefault = lazyregexp.New(`@(?:[\w.]+\.)?(?:DefaultValue|WithDefault|Bindable)\s*` +
		`\(\s*(?:defaultValue\s*=\s*)?(?P<value>"[ ]*")\s*\)\s*(?:[a-z]+\s+)*$`)
	// mayBePort is an expression that may be worth evaluating: a number, a constant, a name of a port, or what comes
	// from the environment or the command line.
	mayBePort = lazyregexp.New(`\b\d{2,5}\b|[pP](?:ort|ORT)|^[A-Z][A-Z0-9_]*$|[eE]nv|\bargs\b`)
)

const (
	// maxMembers is how many members of each form are looked at in one source, and maxCalls how many calls.
	maxMembers = 16
	maxCalls   = 64
)

// members collects what a source declares for other files.
type members struct {
	*names
	found []address.Declaration
}

// declares returns the ports that other files may take from a source: of constants and methods as Class.NAME, of
// arguments as Class(0)=, of classes whose fields are settings as @Class.field.
func (n *names) declares() []address.Declaration {
	t := n.text
	m := members{names: n}
	for _, pattern := range portMembers {
		for _, match := range t.FindAll(pattern, maxMembers) {
			m.member(pattern, match, []source.Span{{From: match[1], To: t.Until(match[1], ends[n.ext])}})
		}
	}
	m.fieldsOfThis()
	for _, match := range t.FindAll(portMethod, maxMembers) {
		m.method(match)
	}
	if ports := n.givenPorts(); len(ports) > 0 {
		m.found = append(m.found, n.values().Given(called, func(callable string) string { return ports[callable] })...)
	}
	m.setters()
	for _, match := range t.FindAll(settingsClass, maxMembers) {
		prefix, _ := t.Group(settingsClass, match, "prefix")
		m.settings(prefix, match[1])
	}
	return m.found
}

func (n *names) mayBePort(s source.Span) bool { return mayBePort.Match(n.text.Code[s.From:s.To]) }

// givenPorts returns what calls give what may be a port, each by its own name. Most sources have no such call, and are
// not read further.
func (n *names) givenPorts() map[string]string {
	given := map[string]string{}
	for _, m := range n.text.FindAll(called, maxCalls) {
		if each, _ := n.text.Arguments(m[1]); slices.ContainsFunc(each, n.mayBePort) {
			callable, _ := n.text.Group(called, m, "name")
			given[callable] = callable
		}
	}
	return given
}

// typeAt returns the type that is declared last before an offset, "" for none.
func (n *names) typeAt(at int) string {
	class := ""
	for _, declared := range n.typesOfFile() {
		if declared[0] > at {
			break
		}
		class = string(n.text.Raw[declared[2]:declared[3]])
	}
	return class
}

// typesOfFile returns where the types are declared.
func (n *names) typesOfFile() [][]int {
	if n.types == nil {
		n.types = append([][]int{}, n.text.FindAll(typeName, maxValues)...)
	}
	return n.types
}

// member declares a member of a type, which a match of a pattern names, with the values that it may have.
func (m *members) member(pattern *lazyregexp.Regexp, match []int, values []source.Span) {
	name, _ := m.text.Group(pattern, match, "name")
	if class := m.typeAt(match[0]); class != "" {
		for _, value := range values {
			m.declare(class, name, value)
		}
	}
}

// fieldsOfThis declares the final fields that the one constructor of a source sets, if an environment variable gives
// them.
func (m *members) fieldsOfThis() {
	count := map[string]int{}
	all := m.text.FindAll(fieldOfThis, maxMembers)
	for _, match := range all {
		count[m.text.Slice(source.Span{From: match[2], To: match[3]})]++
	}
	for _, match := range all {
		name, _ := m.text.Group(fieldOfThis, match, "name")
		v := m.values().Value(source.Span{From: match[1], To: m.text.Until(match[1], ends[m.ext])})
		class, isRead := m.typeAt(match[0]), v.Variable != "" && count[name] == 1
		if class != "" && isRead && m.isFinal(name) {
			m.found = append(m.found, address.Declaration{Name: fieldOf(class, name).Path, Value: v})
		}
	}
}

// isFinal reports whether nothing sets a field again.
func (m *members) isFinal(name string) bool {
	return slices.Contains(m.text.Names(finalField), name)
}

// method declares a method by what it returns.
func (m *members) method(match []int) {
	name, _ := m.text.Group(portMethod, match, "name")
	class, returned := m.typeAt(match[0]), m.text.Returns(match[1])
	if class == "" || !slices.ContainsFunc(returned, m.mayBePort) {
		return
	}
	var values []address.Value
	for _, s := range returned {
		values = append(values, m.values().Value(s))
	}
	for _, v := range address.OneOf(values) {
		m.found = append(m.found, address.Declaration{Name: class + "." + name, Value: v})
	}
}

// declare declares a member of a class if the source says something of its value, which other files may replace.
func (m *members) declare(class, name string, value source.Span) {
	if !m.mayBePort(value) {
		return
	}
	v := m.values().Variable(name, value).Value
	isRead := v.Variable != "" && m.isFinal(name)
	if v.Certainty != address.Unknown || len(v.Names) > 0 {
		v.Names = append(v.Names, m.givenTo(class, name)...)
		m.found = append(m.found, address.Declaration{Name: class + "." + name, Value: v})
	}
	if isRead {
		m.found = append(m.found, address.Declaration{Name: fieldOf(class, name).Path, Value: v})
	}
}

// maxAnnotation is how many bytes an annotation with a default may have.
const maxAnnotation = 200

// defaultOf returns the default of a field that a match names: its value, or that of an annotation before it.
func (m *members) defaultOf(match []int) (source.Span, bool) {
	if of := fieldDefault.FindIndex(m.text.Code[match[1]:]); of != nil {
		from := match[1] + of[1]
		return source.Span{From: from, To: m.text.Until(from, ends[m.ext])}, true
	}
	from := max(0, match[0]-maxAnnotation)
	if of := annotatedDefault.FindSubmatchIndex(m.text.Code[from:match[0]]); of != nil {
		return source.Span{From: from + of[2], To: from + of[3]}, true
	}
	return source.Span{}, false
}

// settings declares the fields of the class after an offset, whose keys begin with a prefix, with their defaults. The
// framework calls their setters.
func (m *members) settings(prefix string, at int) {
	class := ""
	for _, declared := range m.typesOfFile() {
		if declared[0] > at {
			class = string(m.text.Raw[declared[2]:declared[3]])
			break
		}
	}
	var fields []string
	for _, match := range m.text.FindAll(settingsField, maxMembers) {
		name, _ := m.text.Group(settingsField, match, "name")
		if isSetter := slices.Contains(fields, name); isSetter || class == "" || m.typeAt(match[0]) != class {
			continue
		}
		fields = append(fields, name)
		v := m.values().Nothing(match[0])
		if of, ok := m.defaultOf(match); ok {
			v = m.values().Value(of)
		}
		v.Names = []address.Name{settingName(prefix + "." + name)}
		m.found = append(m.found, address.Declaration{Name: fieldOf(class, name).Path, Value: v})
	}
}
