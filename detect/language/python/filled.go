package python

import (
	"slices"
	"strconv"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/oldaddress"
	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

var (
	// makesObject is the call of a class, which may get fields that it does not name: those of a mapping,
	// Config(**data).
	makesObject = lazyregexp.New(`\b(?P<name>[A-Za-z_]\w*)\(`)
	// readsObject is what reads an object of a class from one: Config.model_validate(data). Hydra and OmegaConf do so
	// with a class that is stored.
	readsObject = lazyregexp.New(`\b(?P<name>[A-Za-z_]\w*)\.(?:model_validate\w*|parse_(?:obj|raw|file)|` +
		`from_(?:dict|json|yaml|toml)|schema)\(|\bfrom_dict\(\s*(?:data_class\s*=\s*)?(?P<name>[A-Z]\w*)|` +
		`\bOmegaConf\.structured\(\s*(?P<name>[A-Z]\w*)|` +
		`\.store\([^()]*\bnode\s*=\s*(?P<name>[A-Z]\w*)`)
	// setsFields sets fields of an object, whatever they are called.
	setsFields = lazyregexp.New(`\bsetattr\(\s*(?P<name>[A-Za-z_]\w*)\s*,\s*(?:["'](?P<key> *)["'])?|` +
		`\bvars\(\s*(?P<name>[A-Za-z_]\w*)\s*\)\.update\(|` +
		`\b(?P<name>[A-Za-z_]\w*)\.__dict__(?:\.update\(|\[[^\[\]\n]*\]\s*=[^=]|\s*\|?=[^=])`)
	// classOfName is what a name is made of, or has for a type, after the name.
	classOfName = lazyregexp.New(`^[ \t]*(?::[ \t]*["']?(?:\w+\.)*(\w+)|=[ \t]*(?:\w+\.)*(\w+)\()`)
)

// maxCalls is how many calls of a source are looked at for such objects, and maxFilled how many names are followed to
// their classes.
const (
	maxCalls  = 2000
	maxFilled = 32
)

// filled are the classes and the objects, by their names, that get fields which a source does not name.
type filled struct {
	*source.Text
	classes []*class
	names   map[string]bool
}

// filledIn returns what gets fields that a source does not name, which has classes.
func filledIn(t *source.Text, classes []*class) filled {
	f := filled{t, classes, map[string]bool{}}
	for _, m := range t.FindAll(readsObject, maxFields) {
		name, _ := t.Group(readsObject, m, "name")
		f.add(name, m[0])
	}
	for _, m := range t.FindAll(setsFields, maxFilled) {
		name, _ := t.Group(setsFields, m, "name")
		if key, ok := t.Group(setsFields, m, "key"); ok && !listenName.MatchString(key) {
			continue
		}
		f.add(name, m[0])
		f.addClassOf(name)
	}
	for _, m := range t.FindAll(makesObject, maxCalls) {
		name := string(t.Code[m[2]:m[3]])
		if !isClass.MatchString(name) && name != "cls" && name != "replace" {
			continue
		}
		each, _ := t.Arguments(m[1])
		if !slices.ContainsFunc(each, func(s source.Span) bool { return strings.HasPrefix(t.Slice(s), "**") }) {
			continue
		}
		if f.add(name, m[0]); name == "replace" {
			first := t.Slice(each[0])
			f.add(strings.TrimSuffix(first, "()"), m[0])
			f.addClassOf(first)
		}
	}
	return f
}

// add adds a name. In a class, cls and self are it.
func (f filled) add(name string, at int) {
	if name != "cls" && name != "self" {
		f.names[name] = true
		return
	}
	for _, c := range f.classes[1:] {
		if c.from <= at && at < c.to {
			f.names[c.name] = true
		}
	}
}

// addClassOf adds the class that an object has whose name is given.
func (f filled) addClassOf(name string) {
	left := maxFilled
	for at := range f.Words(name) {
		end := at + len(name)
		if left--; left < 0 {
			return
		}
		m := classOfName.FindSubmatch(f.Code[end:min(len(f.Code), end+maxCalled)])
		if m == nil {
			continue
		}
		if class := string(m[1]) + string(m[2]); class != "" {
			f.add(class, at)
		}
	}
}

// anyField is the parameter of a class by which other files declare that its objects get fields which they do not name.
const anyField = "**"

// partsOf is the name by which a class in another file has what is given to the classes around it.
func partsOf(class string) string { return class + ".*" }

// givenToField returns the names of what other files may give to a field, by the classes around it.
func givenToField(classes []string, f field) []address.Name {
	inner := classes[len(classes)-1]
	names := []address.Name{{Path: address.ArgumentName(inner, f.name)}}
	if f.typ.From < f.typ.To {
		names = append(names, address.Name{Path: address.ArgumentName(inner, strconv.Itoa(f.position))})
	}
	return append(names, givenToAny(classes...)...)
}

// givenToAny returns the names of what other files may give to any field of classes.
func givenToAny(classes ...string) []address.Name {
	var names []address.Name
	for _, c := range classes {
		names = append(names, address.Name{Path: address.ArgumentName(c, anyField)}, address.Name{Path: partsOf(c)})
	}
	return names
}

// fillsFields are in sources that may give fields to objects without naming them.
var fillsFields = source.NewKeywords("**", "setattr(", "__dict__", "vars(", "model_validate", "parse_obj", "parse_raw",
	"parse_file", "from_dict", "from_json", "from_yaml", "from_toml", "schema(", "structured(", "node=")

// filledElsewhere returns what a source declares for classes of other files: that their objects get fields which it
// does not name, and of which of its own classes and variables they are parts.
func filledElsewhere(t *source.Text, module string, i imports) []address.Declaration {
	r := newFieldReader(t)
	var all []address.Declaration
	if fillsFields.In(t.Raw) {
		for name := range filledIn(t, r.all).names {
			if of := i.imported(name); of != "" {
				all = append(all, address.Declaration{Name: address.ArgumentName(of, anyField)})
			}
		}
	}
	add := func(class string, names []address.Name) {
		if class != "" && len(all) < maxParts {
			all = append(all, address.Declaration{Name: partsOf(class), Value: address.Value{Names: names}})
		}
	}
	for _, c := range r.all {
		for _, base := range c.bases {
			add(base, givenToAny(c.name))
		}
		for _, f := range c.fields {
			of := r.classNamed(f)
			switch {
			case of == "":
			case c.name == "": // a variable
				add(of, []address.Name{{Path: address.ArgumentName(module+"."+f.name, anyField)}})
			default:
				add(of, givenToAny(c.name))
			}
		}
	}
	return all
}

// classNamed returns the name of the class that a field has, "" for none.
func (r *fieldReader) classNamed(f field) string {
	if f.typ.From < f.typ.To {
		return namesClass.FindString(r.Slice(f.typ))
	}
	if m := made.FindStringSubmatch(r.Slice(f.value)); m != nil && isClass.MatchString(m[1]) {
		return m[1]
	}
	return ""
}
