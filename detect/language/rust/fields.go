package rust

import (
	"cmp"
	"slices"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/oldaddress"
	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

// Several structs may have a field of one name. A field is declared by its name alone, ".port", and with its struct,
// ".GrpcConfig.port"; the use of one whose receiver has a type asks for the latter. That counts as long as nothing
// gives a field of the name a value without saying of which struct ([withFields]).

// typed is what the source says of the type of a variable, a parameter or a field.
var typed = lazyregexp.New(`\b(?P<name>[a-z_]\w*)\s*:\s*&?(?:'\w+\s+)?(?:mut\s+)?(?:\w+::)*` +
	`(?:(?:Arc|Rc|Box)\s*<\s*(?:\w+::)*)?(?P<type>[A-Z]\w*)\b`)

// typedField is a field of a struct with its type.
var typedField = lazyregexp.New(`^(?:#\[[^\]]*\]\s*)*(?:pub(?:\([^)]*\))?\s+)?(\w+)\s*:\s*(?:\w+::)*([A-Z]\w*)\s*$`)

// typesOf returns the types of the names of a source that have one and the same everywhere in it.
func typesOf(t *source.Text) map[string]string {
	types := map[string]string{}
	for _, m := range t.FindAll(typed, maxFunctions) {
		name, _ := t.Group(typed, m, "name")
		of, _ := t.Group(typed, m, "type")
		if before, ok := types[name]; ok && before != of {
			of = ""
		}
		types[name] = of
	}
	return types
}

// fieldOf returns the function of [address.Names.FieldOf] for a source.
func fieldOf(t *source.Text) func(dotted string) string {
	var types map[string]string
	var alone []string
	return func(dotted string) string {
		if types == nil {
			types, alone = typesOf(t), fieldsAlone(t)
		}
		receiver, field := beforeField(dotted)
		if types[receiver] == "" || slices.Contains(alone, field) {
			return ""
		}
		return "." + types[receiver] + field
	}
}

// beforeField returns the last part of a dotted name as a field, and what stands before it.
func beforeField(dotted string) (receiver, field string) {
	dot := strings.LastIndexByte(dotted, '.')
	receiver = dotted[:max(dot, 0)]
	return receiver[strings.LastIndexByte(receiver, '.')+1:], "." + dotted[dot+1:]
}

// global returns what a name that the source does not declare may be in other sources: a field, with the struct or the
// field before it, a function, or a constant.
func global(u address.Use) address.Name {
	switch name := u.Path; {
	case strings.HasPrefix(name, "."):
		if receiver, field := beforeField(name); receiver != "" {
			return address.Name{Path: "." + receiver + field}
		}
		return address.Name{Path: name}
	case strings.HasSuffix(name, ")"), strings.ToUpper(name) == name:
		return address.Name{Path: name}
	}
	return address.Name{}
}

// structs are where a source declares structs and makes them, the smallest first. They are read when they are asked
// for.
type structs struct {
	*source.Text
	all    []implBlock
	filled []string // those that serde fills
}

var (
	// deserialized is a struct that serde fills from settings, of which its own values are the defaults.
	deserialized = lazyregexp.New(`#\[derive\([^\]]*\bDeserialize\b[^\]]*\]\s*(?:#\[[^\]]*\]\s*)*` +
		`(?:pub(?:\([^()]*\))?\s+)?struct\s+(?P<name>\w+)`)
	hasLiteral = lazyregexp.New(`["\d]`)
)

// byDefault says of the value of a field, if it is written there, that it is a default: serde fills the struct.
func (s *structs) byDefault(f address.NamedValue) address.NamedValue {
	if of := s.structAt(f.Value.From); slices.Contains(s.filled, of) && hasLiteral.MatchString(s.Slice(f.Value)) {
		f.IsOption = true
	}
	return f
}

func (s *structs) read() {
	s.filled = s.Names(deserialized)
	types := implBlocks(s.Text)
	for _, head := range []*lazyregexp.Regexp{structHead, literalHead} {
		for _, m := range s.FindAll(head, maxFunctions) {
			name, _ := s.Group(head, m, "name")
			if name == "Self" {
				name = implementedAt(types, m[0])
			}
			_, body := s.Arguments(m[1])
			s.all = append(s.all, implBlock{name, body})
		}
	}
	slices.SortStableFunc(s.all, func(a, b implBlock) int {
		return cmp.Compare(a.body.To-a.body.From, b.body.To-b.body.From)
	})
}

// field returns the name of a field, which stands at an offset, with its struct; "" if none is seen.
func (s *structs) field(name string, at int) string {
	of := s.structAt(at)
	if of == "" {
		return ""
	}
	return "." + of + name
}

// structAt returns the struct that an offset stands in, or in a literal of it; "" if none is seen.
func (s *structs) structAt(at int) string {
	if s.all == nil {
		s.read()
	}
	return implementedAt(s.all, at)
}

// fieldsAlone returns the fields that a source assigns a value: of which struct is not seen.
func fieldsAlone(t *source.Text) []string {
	var fields []string
	for _, m := range t.FindAll(assigned, maxConstants) {
		if name, _ := t.Group(assigned, m, "name"); listenName.MatchString(name) {
			fields = append(fields, "."+name)
		}
	}
	return fields
}

// fieldTypes returns the types of the fields of the structs that a source declares: by type, the names.
func fieldTypes(t *source.Text) map[string][]string {
	names := map[string][]string{}
	for _, m := range t.FindAll(structHead, maxConstants) {
		fields, _ := t.Arguments(m[1])
		for _, f := range fields {
			if is := typedField.FindStringSubmatch(t.Slice(f)); is != nil {
				names[is[2]] = append(names[is[2]], is[1])
			}
		}
	}
	return names
}

// withFields returns files in which a field whose type is a struct has the fields of that struct: ".grpc.port". Fields
// of structs are left out if something gives a value to a field of the name, and not to that of one struct.
func withFields(files []analyzer.File[extra]) []analyzer.File[extra] {
	alone, names := map[string]bool{}, map[string][]string{}
	for _, f := range files {
		for _, field := range f.Extra.FieldsAlone {
			alone[field] = true
		}
		for _, d := range f.Declares {
			alone[d.Name] = alone[d.Name] || f.Extra.IsSettings
		}
		for of, fields := range f.Extra.FieldTypes {
			for _, name := range fields {
				if len(names[of]) < maxConstants && !slices.Contains(names[of], name) {
					names[of] = append(names[of], name)
				}
			}
		}
	}
	files = slices.Clone(files)
	for i, f := range files {
		var declares []address.Declaration
		for _, d := range f.Declares {
			of, field, isField := cutField(d.Name)
			if isField && alone[field] {
				continue
			}
			declares = append(declares, d)
			for _, name := range names[of] {
				declares = append(declares, address.Declaration{Name: "." + name + field, Value: d.Value})
			}
		}
		files[i].Declares = declares
	}
	return files
}

// cutField cuts the name of a field with its struct: ".GrpcConfig.port".
func cutField(name string) (of, field string, ok bool) {
	dot := strings.LastIndexByte(name, '.')
	if dot < 1 || name[0] != '.' {
		return "", "", false
	}
	return name[1:dot], name[dot:], true
}

// fieldsSet returns the fields that the source gives a value where it makes a struct, or later.
func fieldsSet(t *source.Text) []address.NamedValue {
	var fields []address.NamedValue
	for _, m := range t.FindAll(assigned, maxConstants) {
		name, _ := t.Group(assigned, m, "name")
		if listenName.MatchString(name) {
			value := source.Span{From: m[1], To: t.Until(m[1], ";")}
			fields = append(fields, address.NamedValue{Name: "." + name, Value: value})
		}
	}
	for _, each := range structLiterals(t) {
		for _, s := range each {
			f := fieldSet.FindSubmatchIndex(t.Code[s.From:s.To])
			if f == nil {
				continue
			}
			name := t.Slice(source.Span{From: s.From + f[2], To: s.From + f[3]})
			value := source.Span{From: s.From + f[2], To: s.To}
			if f[4] >= 0 {
				value.From = s.From + f[1]
			}
			if listenName.MatchString(name) {
				fields = append(fields, address.NamedValue{Name: "." + name, Value: value})
			}
		}
	}
	return fields
}

// maxBefore is how many bytes before a literal are looked at.
const maxBefore = 16

// structLiterals returns the fields of the literals of the source's own structs, and of others those that the literal
// gives and not the default: Config { port: 50051, ..Default::default() }.
func structLiterals(t *source.Text) [][]source.Span {
	own := append(t.Names(structHead), "Self")
	var found [][]source.Span
	for _, m := range t.FindAll(literalHead, maxFunctions) {
		name, _ := t.Group(literalHead, m, "name")
		if len(found) == maxConstants || notLiteral.Match(t.Code[max(0, m[0]-maxBefore):m[0]]) {
			continue
		}
		each, _ := t.Arguments(m[1])
		rest := each[len(each)-1]
		isPattern, hasDefault := t.Slice(rest) == "..", strings.HasPrefix(t.Slice(rest), "..")
		if !isPattern && (hasDefault || slices.Contains(own, name)) {
			found = append(found, each)
		}
	}
	return found
}
