package dotnet

import (
	"github.com/grpc-cnb/health-probe/detect/oldaddress"
	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

// What an app gives a property goes before the property's default: new ServerOptions { Port = port }, options.Port =
// port, and Port = port in the class itself.

var (
	// initializer begins what a new object's properties are given.
	initializer = lazyregexp.New(
		`\bnew\s+(?:\w+\.)*(?P<class>[A-Z]\w*)\s*(?:\([^(){};]*\)\s*)?\{|` +
			`\b(?P<class>[A-Z]\w*)\??\s+\w+\s*=\s*new\s*\(\s*\)\s*\{`)
	initialized = lazyregexp.New(`^(?P<name>[A-Z]\w*)\s*=\s*`)
	// assignment gives a property of an object, or of the class around it, a value.
	assignment = lazyregexp.New(
		`(?m)(?:^|[^.\w\s])\s*(?:(?P<object>[A-Za-z_]\w*)\s*\.\s*)?(?P<name>[A-Za-z_]\w*)\s*=(?P<value>)\s*[^=>\s]`)
	// field is a field with a default that may be given another value.
	field = lazyregexp.New(`\b(?:(?P<modifiers>(?:public|internal|protected|private|static|volatile)` +
		`(?:\s+(?:static|internal|volatile))*)\s+)(?:u?short|u?int|string|Int32|String)\??\s+(?P<name>\w+)\s*=\s*`)
	hiddenField = lazyregexp.New(`\bprivate\b`)
)

// anyClass is the class of an object that is not known.
const anyClass = "?"

// declareFields says of the fields of classes what other sources, or methods, may give them. It returns their names.
func declareFields(d *address.Names, in classes) map[string]bool {
	own := map[string]bool{}
	for _, m := range d.FindAll(field, maxConstants) {
		name, _ := d.Group(field, m, "name")
		class := in.around(d.Text, m[0])
		if class == "" || !listenName.MatchString(name) {
			continue
		}
		by := []address.Name{{Path: boundName(class, name)}}
		if modifiers, _ := d.Group(field, m, "modifiers"); !hiddenField.MatchString(modifiers) {
			by = append(by, address.Name{Path: boundName(anyClass, name)})
		}
		own[by[0].Path] = true
		d.GivenElsewhere(name, source.Span{From: m[0], To: m[1]}, by)
	}
	return own
}

// maxAssignments is how many values of properties are read in one source.
const maxAssignments = 16

// given collects what a source gives to properties.
type given struct {
	*address.Names
	own     map[string]bool // the properties that the source declares, by their bound names
	classes classes
	left    int
	found   []address.Declaration
}

// givenProperties returns what a source gives to properties, of which it declares some itself.
func givenProperties(d *address.Names, declared []address.Declaration, in classes) []address.Declaration {
	g := given{Names: d, own: declareFields(d, in), classes: in, left: maxAssignments}
	for _, property := range declared {
		for _, n := range property.Names {
			g.own[n.Path] = true
		}
	}
	for _, m := range d.FindAll(initializer, maxConstants) {
		class, _ := d.Group(initializer, m, "class")
		each, _ := d.Arguments(m[1])
		for _, s := range each {
			if of := initialized.FindSubmatchIndex(d.Code[s.From:s.To]); of != nil {
				name := string(d.Code[s.From+of[2] : s.From+of[3]])
				g.give(name, boundName(class, name), source.Span{From: s.From + of[1], To: s.To})
			}
		}
	}
	for _, m := range d.FindAll(assignment, maxMethods) {
		g.assign(m)
	}
	return g.found
}

// assign adds what a match of an assignment gives. What an object of an unknown class is given may be for any class.
func (g *given) assign(m []int) {
	name, _ := g.Group(assignment, m, "name")
	object, _ := g.Group(assignment, m, "object")
	at := m[2*assignment.SubexpIndex("value")]
	value := g.Trim(source.Span{From: at, To: g.Until(at, ";")})
	if !listenName.MatchString(name) || g.left == 0 {
		return
	}
	if object == "" || object == "this" || object == "base" {
		if bound := boundName(g.classes.around(g.Text, m[0]), name); g.own[bound] {
			g.give(name, bound, value)
		}
		return
	}
	if class := g.classOf(object); class != "" {
		g.give(name, boundName(class, name), value)
		return
	}
	g.give(name, "."+name, value)
	unknown := g.Nothing(m[0])
	g.found = append(g.found, address.Declaration{Name: boundName(anyClass, name), Value: unknown})
}

// give adds the value of a property, if it may say where something listens.
func (g *given) give(name, declares string, value source.Span) {
	if listenName.MatchString(name) && g.left > 0 && value.From < value.To {
		g.left--
		g.found = append(g.found, g.Declaration(declares, value))
	}
}

// classOf returns the class of an object, "" if the source does not name it.
func (g *given) classOf(object string) string {
	if object[0] >= 'A' && object[0] <= 'Z' {
		return object // of a static field, unless it is a property
	}
	typed := lazyregexp.New(`\b(?P<class>[A-Z]\w*)\??\s+` + object + `\b|\b` + object +
		`\s*=\s*new\s+(?:\w+\.)*(?P<class>[A-Z]\w*)|` +
		`onfigure\s*<\s*(?:\w+\.)*(?P<class>\w+)\s*>\s*\(\s*\(?\s*` + object + `\b`)
	for _, m := range g.FindAll(typed, 1) {
		class, _ := g.Group(typed, m, "class")
		return class
	}
	return ""
}
