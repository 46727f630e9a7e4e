package python

import (
	"regexp"
	"slices"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/address"
	"github.com/grpc-cnb/health-probe/detect/source"
)

var (
	assignment = regexp.MustCompile(
		`(?m)^[ \t]*(?:self\.|cls\.)?(?P<name>[A-Za-z_]\w*)[ \t]*(?::[ \t]*[\w.\[\], ]+)?=[ \t]*`)
	functionDefinition = regexp.MustCompile(`(?m)^[ \t]*(?:async[ \t]+)?def[ \t]+(\w+)[ \t]*\(`)
	parameterName      = regexp.MustCompile(`^\w+`)
	parameterDefault   = regexp.MustCompile(`^\w+[ \t]*(?::[^=]*)?=\s*(.+)$`)
	// functionCall is a call. Its second group is the closing parenthesis where the call has no arguments.
	functionCall = regexp.MustCompile(`\b(\w+)[ \t]*\([ \t]*(\)?)`)
)

// readDeclarations returns the values of a source's variables, of the fields of its classes, of the options of its
// command line, and of parameters: the arguments that they are given in this source, and their defaults.
func readDeclarations(t *source.Text) *address.Names {
	d := address.Read(t, "\n", assignment)
	for _, f := range classFields(t) {
		d.Declare("."+f.name, f.value)
	}
	for _, o := range readOptions(t) {
		if o.value.From < o.value.To {
			d.Declare(o.name, o.value)
		}
	}
	withoutArguments := calledWithoutArguments(t)
	for _, m := range t.FindAll(functionDefinition, maxFunctions) {
		name, from := string(t.Code[m[2]:m[3]]), m[1]
		parameters, all := t.Arguments(from)
		var names []string
		for _, p := range parameters {
			parameter := parameterName.FindString(t.Slice(p))
			if len(names) > 0 || parameter != "self" && parameter != "cls" {
				names = append(names, parameter)
			}
			if value := parameterDefault.FindStringSubmatchIndex(t.Slice(p)); value != nil && withoutArguments[name] {
				d.Declare(parameter, source.Span{From: p.From + value[2], To: p.From + value[3]})
			}
		}
		if slices.ContainsFunc(names, listenName.MatchString) {
			d.DeclareArguments(name, m[2], all.To, names)
		}
	}
	return d
}

// maxFunctions is how many functions of a source are looked at.
const maxFunctions = 512

// listenName matches the names of parameters, constants and fields that say where something listens.
var listenName = regexp.MustCompile(`(?i)port|addr|bind|listen|endpoint|url`)

// namedValue is a name and the span of its value.
type namedValue struct {
	name  string
	value source.Span
}

var (
	classHead = regexp.MustCompile(`^[ \t]*class[ \t]`)
	// fieldLine is a field with or without a value: a class of settings may get the value from the environment.
	fieldLine = regexp.MustCompile(`^[ \t]+([A-Za-z_]\w*)[ \t]*(?::[ \t]*[\w.\[\]|, ]+)?(?:=[ \t]*|\r?$)`)
)

// classFields returns the fields of the classes of a source, such as those of pydantic's settings and of dataclasses.
// The value of one without a default is empty.
func classFields(t *source.Text) []namedValue {
	var fields []namedValue
	inClass, classIndent, bodyIndent, at := false, 0, -1, 0
	for line := range strings.SplitSeq(string(t.Code), "\n") {
		from := at
		at += len(line) + 1
		indent := len(line) - len(strings.TrimLeft(line, " \t"))
		switch {
		case strings.TrimSpace(line) == "":
		case classHead.MatchString(line):
			inClass, classIndent, bodyIndent = true, indent, -1
		case inClass && indent <= classIndent && !strings.HasPrefix(strings.TrimSpace(line), ")"):
			inClass = false
		case inClass && (bodyIndent < 0 || indent == bodyIndent):
			bodyIndent = indent
			m := fieldLine.FindStringSubmatchIndex(line)
			if m == nil || !listenName.MatchString(line[m[2]:m[3]]) || m[1] < len(line) && line[m[1]] == '=' {
				continue
			}
			value := source.Span{From: from + m[1], To: t.Until(from+m[1], "\n")}
			fields = append(fields, namedValue{line[m[2]:m[3]], value})
		}
	}
	return fields
}

// calledWithoutArguments returns the functions that the source calls, and never with an argument: their parameters have
// their defaults.
func calledWithoutArguments(t *source.Text) map[string]bool {
	without, all := map[string]int{}, map[string]int{}
	for _, m := range t.FindAll(functionCall, -1) {
		name := string(t.Code[m[2]:m[3]])
		all[name]++
		without[name] += m[5] - m[4]
	}
	functions := map[string]bool{}
	for name, n := range without {
		// The definition of a function that has parameters looks like one more call with arguments.
		functions[name] = n > 0 && n >= all[name]-1
	}
	return functions
}
