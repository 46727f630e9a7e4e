package cpp

import (
	"strings"

	"github.com/grpc-cnb/health-probe/detect/oldaddress"
	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

var (
	// methodCall is the call of a method of an object with a name.
	methodCall = lazyregexp.New(`(?:^|[^\w.>:])(?P<name>\w+(?:\.|->)\w+)\(`)
	// objects are the declarations of objects, and what makes them, with their classes.
	objects = []*lazyregexp.Regexp{
		lazyregexp.New(
			`(?m)^[ \t]*(?:const\s+|static\s+)*(?:\w+::)*(?P<type>[A-Za-z_]\w*)[ \t*&]+(?P<name>\w+)\s*[;({=]`),
		lazyregexp.New(`_ptr\s*<\s*(?:\w+::)*(?P<type>\w+)\s*>\s*(?P<name>\w+)`),
		lazyregexp.New(`\b(?P<name>\w+)\s*=\s*(?:\w+::)*make_(?:unique|shared)\s*<\s*(?:\w+::)*(?P<type>\w+)\s*>`),
		lazyregexp.New(`\b(?P<name>\w+)\s*[=(]\s*new\s+(?:\w+::)*(?P<type>\w+)`),
	}
	qualifier = lazyregexp.New(`(\w+)::$`)
)

// unknownClass stands for the class of an object of which the source does not say it.
const unknownClass = "?"

// methodsOf is where a class has its methods.
type methodsOf struct {
	name string
	body source.Span
}

// classesIn returns the classes of a source.
func classesIn(t *source.Text) []methodsOf {
	var all []methodsOf
	for _, m := range t.FindAll(structHead, maxConstants) {
		_, body := t.Arguments(m[1])
		all = append(all, methodsOf{string(t.Code[m[2]:m[3]]), body})
	}
	return all
}

// classOf returns the class whose method has its name at an offset, "" for a function.
func classOf(t *source.Text, classes []methodsOf, at int) string {
	if m := qualifier.FindSubmatch(t.Code[max(0, at-maxValue):at]); m != nil {
		return string(m[1])
	}
	var of methodsOf
	for _, c := range classes {
		if c.body.Contains(at) && (of.name == "" || c.body.Len() < of.body.Len()) {
			of = c
		}
	}
	return of.name
}

// classesOfObjects returns the classes of the objects that a source declares, unknownClass for one with several.
func classesOfObjects(names *address.Names) map[string]string {
	classes := map[string]string{}
	for _, pattern := range objects {
		for _, m := range names.FindAll(pattern, maxFunctions) {
			object, _ := names.Group(pattern, m, "name")
			class, _ := names.Group(pattern, m, "type")
			switch known := classes[object]; {
			case class == "auto" || calledFunction(class) == "":
			case known != "" && known != class:
				classes[object] = unknownClass
			default:
				classes[object] = class
			}
		}
	}
	return classes
}

// givenToMethods returns what a source gives to methods of its objects. Of an object whose class the source does not
// say, or says several of, it is not known which method gets it.
func givenToMethods(names *address.Names) []address.Declaration {
	classes := classesOfObjects(names)
	all := names.Given(methodCall, func(called string) string {
		at := strings.IndexAny(called, ".-")
		class, ok := classes[called[:at]]
		if !ok {
			class = unknownClass
		}
		return class + "::" + strings.TrimLeft(called[at:], ".->")
	})
	for i, d := range all {
		if strings.HasPrefix(d.Name, unknownClass) {
			all[i].Value = address.Value{}
		}
	}
	return all
}
