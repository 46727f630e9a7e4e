package swift

import (
	"bytes"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/oldaddress"
	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

var (
	// property is a variable that is a port, up to its value if it has one.
	property = lazyregexp.New(
		`\b(?:let|var)[ \t]+(?P<name>(?:\w*P|(?:\w*_)?p)ort)\b(?:[ \t]*:[ \t]*[\w.]+\??)?(?:[ \t]*=)?`)
	// propertySet is another value that a property gets.
	propertySet = lazyregexp.New(`(?m)^[ \t]*(?:self\.)?(?P<name>(?:\w*P|(?:\w*_)?p)ort)[ \t]*=[ \t]*`)
	// fieldSet gives a property of an object a value.
	fieldSet = lazyregexp.New(`(?P<object>[\w)\]!?]+)\.(?P<name>(?:\w*P|(?:\w*_)?p)ort)[ \t]*=[ \t]*`)
	// typeBody is the head of a type, with the brace that opens its body.
	typeBody = lazyregexp.New(`\b(?:class|struct|actor|enum|extension)\s+(?P<name>[\w.]+)[^{;]*\{`)
	portName = lazyregexp.New(`Port$|\bport$|_port$`)
)

// hasProperty are in sources that may have a property that is a port, with a value or without one.
var hasProperty = source.NewKeywords("ort: Int", "ort: UInt16", "ort: String", "ort =")

const (
	// maxProperties is how many properties of a source are looked at, and maxBack how many bytes before one the brace
	// may stand that opens its type.
	maxProperties = 64
	maxBack       = 10_000
)

// properties returns the properties of types that are ports, as other sources reach them: Type.port of the type, and
// .port of anything. A property without a value says that another one of its name is not the only one.
func properties(names *address.Names) []address.Declaration {
	types := map[int]string{}
	for _, m := range names.FindAll(typeBody, maxFunctions) {
		name, _ := names.Group(typeBody, m, "name")
		types[m[1]-1] = name
	}
	var all []address.Declaration
	for _, m := range names.FindAll(property, maxProperties) {
		_, open := names.Around(m[0], m[0]-maxBack, "")
		if types[open] == "" {
			continue
		}
		_, body := names.Arguments(open + 1)
		if body.To < m[1] {
			continue // the type is longer than what is read of it
		}
		name := string(names.Code[m[2]:m[3]])
		for _, v := range address.OneOf(propertyValues(names, types[open], name, m[1], body)) {
			all = append(all, address.Declaration{Name: "." + name, Value: v},
				address.Declaration{Name: types[open] + "." + name, Value: v})
		}
	}
	for _, m := range names.FindAll(fieldSet, maxProperties) {
		name, _ := names.Group(fieldSet, m, "name")
		if object, _ := names.Group(fieldSet, m, "object"); object != "self" { // see above
			all = append(all, names.Variable("."+name, source.Span{From: m[1], To: names.Until(m[1], "\n;")}))
		}
	}
	return all
}

// propertyValues returns the values of a property of a type: the one that it is declared with, or returns, and those
// that the type gives it. The one that it is declared with never holds if an initializer sets it to a parameter, and
// not if the initializer is the one that Swift writes, which has a parameter for it too, and a call gives it.
func propertyValues(names *address.Names, of, name string, declared int, in source.Span) []address.Value {
	after := bytes.TrimLeft(names.Code[declared:in.To], " \t")
	at := in.To - len(after)
	preset := source.Span{From: at, To: names.Until(at, "\n;{")}
	var values []address.Value
	isParameter := false
	for _, m := range names.FindAll(propertySet, maxProperties) {
		if in.Contains(m[0]) && string(names.Code[m[2]:m[3]]) == name {
			value := source.Span{From: m[1], To: names.Until(m[1], "\n;}")}
			if strings.TrimSpace(names.Slice(value)) == name {
				isParameter = true
				names.Forget(name, preset)
			}
			values = append(values, names.Value(value))
		}
	}
	switch {
	case names.Code[declared-1] == '=' && !isParameter:
		v := names.Value(preset)
		v.Names = append(v.Names, address.Name{Path: address.ArgumentName(of, name)})
		values = append(values, v)
	case len(after) > 0 && after[0] == '{':
		_, body := names.Arguments(at + 1)
		values = append(values, names.Value(body))
	}
	if len(values) == 0 {
		values = append(values, names.Nothing(declared))
	}
	return values
}

// global returns what a name is in other sources: a property of a type, or of an object.
func global(u address.Use) address.Name {
	dot := strings.LastIndexByte(u.Dotted, '.')
	switch {
	case dot <= 0 || !portName.MatchString(u.Dotted):
		return address.Name{}
	case u.Dotted[0] >= 'A' && u.Dotted[0] <= 'Z' && strings.Count(u.Dotted, ".") == 1:
		return address.Name{Path: u.Dotted}
	}
	return address.Field(u.Dotted)
}
