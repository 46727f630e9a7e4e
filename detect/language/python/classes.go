package python

import (
	"slices"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/oldaddress"
	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

var (
	classHead = lazyregexp.New(`^[ \t]*class[ \t]+(\w+)[ \t]*(\()?`)
	// fieldLine is a field with or without a value: a class of settings may get the value from the environment.
	fieldLine = lazyregexp.New(`^[ \t]*([A-Za-z_]\w*)[ \t]*([:=])`)
	// typedLine is a field with a type.
	typedLine = lazyregexp.New(`^[ \t]*[A-Za-z_]\w*[ \t]*:[ \t]*[^\s=]`)
	// described is the value of a field that is its description.
	described = lazyregexp.New(`^(?:\w+\.)?(?:[fF]ield|ib)\(`)
	// made is the value of a field that is an object of a class.
	made = lazyregexp.New(`^(?:\w+\.)*(\w+)\(`)
	// namesClass is the name of a class, as people write it, in the type or the value of a field.
	namesClass = lazyregexp.New(`\b_*[A-Z]\w*[a-z]\w*\b`)
)

// class is a class that a source defines, or the source itself, whose fields are its variables.
type class struct {
	name         string // "" for the source
	indent, body int    // how far its head is indented, and what it defines: -1 before the first line of that
	from, to     int    // where the head ends, and the body
	bases        []string
	fields       []field
	positions    int               // how many fields have a type, which are arguments of the class in their order
	settings     *pydanticSettings // nil if its fields are no environment variables
	isFilled     bool              // its objects get fields that the source does not name
}

// field is a field of a class. A span is empty for what it does not have.
type field struct {
	name             string
	typ, value, text source.Span // the text has both
	position         int         // among those with a type
}

// maxFields is how many fields of a source are read, and maxParts how many of them are kept, with those that are parts
// of others. maxNested is how deep parts have parts.
const (
	maxFields = 512
	maxParts  = 256
	maxNested = 3
)

// readClasses returns the source, as a class, and the classes that it defines, in their order.
func readClasses(t *source.Text) []*class {
	all := []*class{{indent: -1, to: len(t.Code)}}
	open := slices.Clone(all)
	at, left := 0, maxFields
	for line := range strings.SplitSeq(string(t.Code), "\n") {
		from := at
		at += len(line) + 1
		code := strings.TrimLeft(line, " \t")
		if strings.TrimSpace(code) == "" {
			continue
		}
		indent := len(line) - len(code)
		for len(open) > 1 && indent <= open[len(open)-1].indent && code[0] != ')' {
			open[len(open)-1].to = from
			open = open[:len(open)-1]
		}
		in := open[len(open)-1]
		if m := classHead.FindStringSubmatchIndex(line); m != nil && len(all) < maxFunctions {
			c := &class{name: line[m[2]:m[3]], indent: indent, body: -1, from: from + m[1], to: len(t.Code)}
			if m[4] >= 0 {
				c.bases = basesOf(t, c.from)
			}
			all, open = append(all, c), append(open, c)
		} else if in.body < 0 || in.body == indent {
			in.body = indent
			if f := readField(t, line, from); f.name != "" && left > 0 {
				left--
				f.position = in.positions
				in.fields = append(in.fields, f)
			}
			if typedLine.MatchString(line) {
				in.positions++
			}
		}
	}
	return all
}

// basesOf returns the names, without their modules, of the classes in a list that begins at an offset.
func basesOf(t *source.Text, from int) []string {
	var names []string
	list, _ := t.Arguments(from)
	for _, s := range list {
		base := t.Slice(s)
		names = append(names, base[strings.LastIndexByte(base, '.')+1:])
	}
	return names
}

// readField reads a line, which begins at an offset, as a field that may say where something listens: by its name, or
// by a class that it is of.
func readField(t *source.Text, line string, from int) field {
	m := fieldLine.FindStringSubmatchIndex(line)
	if m == nil || m[1] < len(line) && line[m[1]] == '=' ||
		!listenName.MatchString(line[m[2]:m[3]]) && !namesClass.MatchString(line[m[1]:]) {
		return field{}
	}
	f := field{name: line[m[2]:m[3]]}
	at := from + m[1]
	if line[m[4]] == ':' {
		f.typ = source.Span{From: at, To: t.Until(at, "=\n")}
		if at = f.typ.To; at < len(t.Code) && t.Code[at] == '=' {
			at++
		}
	}
	f.value = t.Trim(source.Span{From: at, To: t.Until(at, "\n")})
	f.text = source.Span{From: from + m[1], To: f.value.To}
	if described.MatchString(t.Slice(f.value)) {
		f.value = defaultOf(t, f.value)
	}
	return f
}

// defaultOf returns the default in the description of a field, which may have bounds too. It is empty for none.
func defaultOf(t *source.Text, description source.Span) source.Span {
	from := description.From + strings.IndexByte(t.Slice(description), '(') + 1
	value, ok := t.Argument(from, -1, "default_factory")
	if !ok {
		value, ok = t.Argument(from, 0, "default")
	}
	if !ok || t.Slice(value) == "..." {
		return source.Span{From: description.From, To: description.From}
	}
	return value
}

// classFields returns the fields of the classes of a source that say where something listens, such as those of
// pydantic's settings and of dataclasses. What has a class of the source, a variable too, has the fields of that by
// their path: ".grpc.port". The value of a field without a default is empty.
func classFields(t *source.Text) []classField {
	r := newFieldReader(t)
	filled := filledIn(t, r.all).names
	for _, c := range slices.Backward(r.all) { // bases come before
		c.isFilled = filled[c.name]
		for _, base := range c.bases {
			filled[base] = filled[base] || c.isFilled
		}
	}
	for _, c := range r.all {
		r.read(c, part{settings: c.settings, isFilled: c.isFilled})
	}
	return r.found
}

// newFieldReader returns a reader of the fields of a source's classes.
func newFieldReader(t *source.Text) *fieldReader {
	r := &fieldReader{Text: t, classes: map[string]*class{}, all: readClasses(t)}
	for _, c := range r.all[1:] {
		c.settings = settingsOf(t, c, r.classes)
		r.classes[c.name] = c
	}
	return r
}

// fieldReader collects the fields of classes.
type fieldReader struct {
	*source.Text
	all     []*class
	classes map[string]*class // by their names
	found   []classField
}

// classField is a field of a class, with what follows its name.
type classField struct {
	address.NamedValue
	text     source.Span
	isFilled bool           // objects get it from what the source does not name
	given    []address.Name // what other files may give it
}

// declare declares the field. What gives a setting gives what the class itself reads too.
func (f classField) declare(d *address.Names) {
	d.DeclareValue(f.NamedValue, f.given...)
	if f.isFilled {
		d.Forget(f.Name[1:], f.text)
	}
	if name := f.Name[1:]; f.IsOption && !strings.Contains(name, ".") {
		d.Forget(name, f.text)
		d.DeclareOption(name, f.Variable, f.Value)
	}
}

// part is a part of what has a class.
type part struct {
	path string
	made source.Span // the call that makes it, empty for none
	// settings are those whose environment variables give its fields, if any, and variable is what their names begin
	// with.
	settings *pydanticSettings
	variable string
	isFilled bool // it gets fields that the source does not name
	// of are the classes around it, by their names.
	of    []string
	depth int
}

// read collects the fields of a class, which is that of a part.
func (r *fieldReader) read(c *class, of part) {
	for _, f := range c.fields {
		value, isKnown := r.given(of.made, f)
		if of.isFilled {
			value, isKnown = source.Span{From: f.text.From, To: f.text.From}, false
		}
		switch k := r.classOf(f); {
		case len(r.found) == maxParts:
			return
		case k != nil && of.depth < maxNested:
			r.read(k, of.part(c, f, value, k))
		case c.name == "" || !listenName.MatchString(f.name):
		default:
			v := address.NamedValue{Name: of.path + "." + f.name, Value: value, IsOption: of.settings != nil && isKnown}
			if v.IsOption {
				v.Variable = of.settings.nameOf(of.variable, f.name, r.Raw[f.text.From:f.text.To])
			}
			given := givenToField(append(slices.Clip(of.of), c.name), f)
			r.found = append(r.found, classField{v, f.text, of.isFilled, given})
		}
	}
}

// part returns the part that a field of a class is, which has a class k and a value.
func (p part) part(c *class, f field, value source.Span, k *class) part {
	of := part{path: p.path + "." + f.name, made: value, settings: k.settings, depth: p.depth + 1}
	if of.of = slices.Clip(p.of); c.name != "" {
		of.of = append(of.of, c.name)
	}
	of.isFilled = p.isFilled || k.isFilled
	if p.settings != nil && p.settings.delimiter != "" {
		of.settings, of.variable = p.settings, p.variable+f.name+p.settings.delimiter
	}
	return of
}

// given returns the value that a field gets where a call makes the object that it is of, and whether that is known.
func (r *fieldReader) given(call source.Span, f field) (value source.Span, isKnown bool) {
	m := made.FindStringIndex(r.Slice(call))
	if m == nil {
		return f.value, true
	}
	if value, ok := r.Argument(call.From+m[1], -1, f.name); ok {
		return value, true
	}
	if strings.Contains(r.Slice(call), "**") {
		return source.Span{From: call.From, To: call.From}, false
	}
	return f.value, true
}

// classOf returns the class of the source that a field has, nil for none.
func (r *fieldReader) classOf(f field) *class {
	if f.typ.From == f.typ.To {
		if m := made.FindStringSubmatch(r.Slice(f.value)); m != nil {
			return r.classes[m[1]]
		}
		return nil
	}
	for _, name := range namesClass.FindAllString(r.Slice(f.typ), maxNested) {
		if c := r.classes[name]; c != nil {
			return c
		}
	}
	return nil
}

// fieldSet sets a field of an object, which a method of its class calls self.
var fieldSet = lazyregexp.New(
	`(?m)^[ \t]*(?P<of>[\w.]+)\.(?P<name>\w+)[ \t]*(?::[ \t]*[\w.\[\], |]+)?=[ \t]*[^=\s]`)

// selfFields returns the fields of objects that say where something listens, as an environment variable does, if the
// source sets them once, and does not set fields that it does not name.
func selfFields(t *source.Text) []address.NamedValue {
	if fillsAny.In(t.Raw) {
		return nil
	}
	var found []address.NamedValue
	count := map[string]int{}
	for _, m := range t.FindAll(fieldSet, maxFields) {
		of, _ := t.Group(fieldSet, m, "of")
		name, _ := t.Group(fieldSet, m, "name")
		value := source.Span{From: m[1] - 1, To: t.Until(m[1]-1, "\n")}
		isRead := len(address.Variables(t.Raw[value.From:value.To])) > 0
		if count[name]++; of == "self" && isRead && listenName.MatchString(name) {
			found = append(found, address.NamedValue{Name: name, Value: value})
		}
	}
	return slices.DeleteFunc(found, func(f address.NamedValue) bool { return count[f.Name] > 1 })
}
