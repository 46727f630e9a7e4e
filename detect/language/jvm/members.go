package jvm

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/address"
	"github.com/grpc-cnb/health-probe/detect/source"
)

// portWords are in every source that other files may take a port from. "import" does not count.
var portWords = source.NewKeywords(
	"PORT", "Port", " port", ".port", "Server(", "void main(", "fun main(", "extends App", "IOApp",
)

var (
	typeName = regexp.MustCompile(`\b(?:class|object|interface|enum|record)\s+(?P<name>[A-Z]\w*)`)
	// portMembers are a constant or a field that names a port, and a function that is one expression.
	portMembers = []*regexp.Regexp{
		regexp.MustCompile(`\b(?:static|final|const|va[lr]|int|Integer)\b[ \t]+(?:\w+[ \t]+)*?` +
			`(?P<name>\w*[pP](?:ort|ORT)\w*)` + typeOf + `=\s*`),
		regexp.MustCompile(`\b(?:fun|def)\s+(?P<name>\w*[pP]ort\w*)\s*(?:\(\s*\))?` + typeOf + `=\s*`),
	}
	// called is a constructor, a method of a type, or a function that starts something, which may be given a port.
	called = regexp.MustCompile(
		`(?:^|\W)(?P<name>[A-Z]\w*(?:\.[a-z]\w*)?|(?:start|run|serve|launch)\w*)` + typeArguments + `\(`)
	// settingsClass is the annotation of a class whose fields are settings, of Spring, Micronaut and Quarkus, and
	// settingsField such a field.
	settingsClass = regexp.MustCompile(
		`@(?:ConfigurationProperties|ConfigMapping)\s*\(\s*(?:(?:prefix|value)\s*=\s*)?"(?P<prefix>[ ]+)"`)
	settingsField = regexp.MustCompile(`\b(?:int|Integer|String|va[lr])\s+(?P<name>\w*[pP]ort\w*)\b`)
	// mayBePort is an expression that may be worth evaluating: a number, a constant, a name of a port, or what comes
	// from the environment with a default.
	mayBePort = regexp.MustCompile(`\b\d{2,5}\b|[pP](?:ort|ORT)|^[A-Z][A-Z0-9_]*$|[eE]nv`)
)

const (
	// maxMembers is how many members of each form are looked at in one source, maxCalls how many calls, and
	// maxArguments how many arguments of a call.
	maxMembers   = 16
	maxCalls     = 64
	maxArguments = 4
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
	for _, match := range t.FindAll(portMethod, maxMembers) {
		m.method(match)
	}
	for _, match := range t.FindAll(called, maxCalls) {
		callable, _ := t.Group(called, match, "name")
		if isMethod := t.Code[match[0]] == '.' && !startsWithCapital.MatchString(callable); isMethod {
			continue
		}
		each, _ := t.Arguments(match[1])
		for i, argument := range each[:min(len(each), maxArguments)] {
			name := argumentOf(callable, i)
			if named := argumentName.FindString(t.Slice(argument)); named != "" {
				argument.From += len(named)
				name = namedArgument(callable, strings.TrimRight(named, " =\t\r\n"))
			}
			m.declareArgument(name.Path, argument)
		}
	}
	for _, match := range t.FindAll(settingsClass, maxMembers) {
		prefix, _ := t.Group(settingsClass, match, "prefix")
		m.settings(prefix, match[1])
	}
	return m.found
}

// argumentOf is the name of an argument that a constructor is given, a method that is called as Class.method, or a
// function of no class. Programs that have nothing to do with each other may have classes with one name, so it reaches
// no further than a project.
func argumentOf(callable string, i int) address.Name {
	return address.Name{Path: address.ArgumentName(callable, strconv.Itoa(i))}
}

// namedArgument is the same of one that is given by the name of its parameter.
func namedArgument(callable, parameter string) address.Name {
	return address.Name{Path: address.ArgumentName(callable, parameter)}
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
func (m *members) member(pattern *regexp.Regexp, match []int, values []source.Span) {
	name, _ := m.text.Group(pattern, match, "name")
	if class := m.typeAt(match[0]); class != "" {
		for _, value := range values {
			m.declare(class+"."+name, value)
		}
	}
}

// method declares a method by what it returns.
func (m *members) method(match []int) {
	name, _ := m.text.Group(portMethod, match, "name")
	class, returned := m.typeAt(match[0]), returnedValues(m.text, match[1])
	mayBe := func(s source.Span) bool { return mayBePort.Match(m.text.Code[s.From:s.To]) }
	if class == "" || !slices.ContainsFunc(returned, mayBe) {
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

// declare declares a name if the source says something of its value.
func (m *members) declare(name string, value source.Span) {
	if !mayBePort.Match(m.text.Code[value.From:value.To]) {
		return
	}
	if v := m.values().Value(value); v.Certainty != address.Unknown || len(v.Names) > 0 {
		m.found = append(m.found, address.Declaration{Name: name, Value: v})
	}
}

// declareArgument declares what a call gives. If that may be a port, it is declared also if the source says nothing of
// it: the parameter's default does not hold then.
func (m *members) declareArgument(name string, value source.Span) {
	code := m.text.Code[value.From:value.To]
	if isDeclared.Match(code) || !mayBePort.Match(code) && !ofCommandLine.Match(code) {
		return
	}
	m.found = append(m.found, address.Declaration{Name: name, Value: m.values().Value(value)})
}

// isDeclared is a parameter where it is declared, and no argument: int port, val port: Int = 9090.
var isDeclared = regexp.MustCompile(`^(?:@?[\w.<>?\[\]]+\s+)+\w+$|^(?:\w+\s+)*\w+\s*:`)

// ofCommandLine is an expression with arguments of the program.
var ofCommandLine = regexp.MustCompile(`\bargs\b`)

// settings declares the fields of the class after an offset, whose keys begin with a prefix. What they are assigned is
// their default.
func (m *members) settings(prefix string, at int) {
	class := ""
	for _, declared := range m.typesOfFile() {
		if declared[0] > at {
			class = string(m.text.Raw[declared[2]:declared[3]])
			break
		}
	}
	for _, match := range m.text.FindAll(settingsField, maxMembers) {
		if class == "" || m.typeAt(match[0]) != class {
			continue
		}
		i := 2 * settingsField.SubexpIndex("name")
		v := m.values().Value(source.Span{From: match[i], To: match[i+1]})
		name := string(m.text.Raw[match[i]:match[i+1]])
		v.Names = []address.Name{settingName(prefix + "." + name)}
		m.found = append(m.found, address.Declaration{Name: fieldOf(class, name).Path, Value: v})
	}
}
