package rust

import (
	"bytes"
	"regexp"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/address"
	"github.com/grpc-cnb/health-probe/detect/source"
)

var (
	variable = regexp.MustCompile(`\b(?:let|const|static)\s+(?:mut\s+)?(?P<name>\w+)\s*(?::[^=;]*)?=`)
	constant = regexp.MustCompile(`\b(?:const|static)\s+(?P<name>[A-Z][A-Z0-9_]*)\s*:[^=;]*=\s*`)
	// optionDefault is the default of a command line argument of clap or structopt, and serdeDefault that of a field
	// which serde reads. The code reaches both as fields.
	optionDefault = regexp.MustCompile(`\bdefault_value(?:_t|s)?\s*=\s*`)
	serdeDefault  = regexp.MustCompile(`#\[serde\([^\]]*?\bdefault\s*=\s*"(?P<function> +)"`)
	// annotatedField is the field that an attribute belongs to, from behind the attribute's arguments.
	annotatedField = regexp.MustCompile(`^[^\[\]]*\](?:\s*#\[[^\]]*\])*\s*(?:pub(?:\([^)]*\))?\s+)?(\w+)\s*:`)
	// defaultFunction begins the implementation of Default, which states the defaults of a struct's fields.
	defaultFunction = regexp.MustCompile(`\bimpl\s+(?:\w+::)*Default\s+for\s`)
	fieldValue      = regexp.MustCompile(`(?:[{,]|\n)\s*(\w+)\s*:\s*`)
	structHead      = regexp.MustCompile(`\bstruct\s+\w+[^{;(]*\{`)
	structField     = regexp.MustCompile(`^(?:#\[[^\]]*\]\s*)*(?:pub(?:\([^)]*\))?\s+)?(\w+)\s*:`)
	function        = regexp.MustCompile(`\bfn\s+(?P<name>\w+)\s*(?:<[^>{;]*>\s*)?\(`)
	// listenName matches the names of constants, fields, functions and parameters that say where something listens.
	listenName = regexp.MustCompile(`(?i)port|addr|bind|listen|endpoint|url|socket`)
)

const (
	// maxAttribute is how many bytes behind a default the field is looked for, maxFunctions how many functions of a
	// source are looked at, and maxConstants how many constants of a source are kept.
	maxAttribute = 1024
	maxFunctions = 512
	maxConstants = 64
	// maxConstantsSource is how many bytes a source may have that is read for nothing but its constants.
	maxConstantsSource = 64 << 10
)

// namedValue is a name, as a constant has it, and the span of its value.
type namedValue struct {
	name  string
	value source.Span
}

// readDeclarations returns the values of variables and constants, of fields that have a default, of functions, and of
// the parameters that functions are given in this source.
func readDeclarations(t *source.Text) *address.Names {
	d := address.Read(t, ";", variable)
	d.Global = global
	for _, f := range fieldDefaults(t) {
		d.Declare(f.name, f.value)
	}
	for _, m := range t.FindAll(function, maxFunctions) {
		name := string(t.Code[m[2]:m[3]])
		parameters, all := t.Arguments(m[1])
		if body, ok := functionBody(t, all.To); ok && listenName.MatchString(name) {
			d.DeclareFunction(name, body)
		}
		var names []string
		for _, p := range parameters {
			parameter, _, typed := strings.Cut(strings.TrimPrefix(t.Slice(p), "mut "), ":")
			if parameter = strings.TrimSpace(parameter); typed || len(names) > 0 {
				names = append(names, parameter)
			}
		}
		if listenName.MatchString(strings.Join(names, " ")) {
			d.DeclareArguments(name, m[2], all.To, names)
		}
	}
	return d
}

// functionBody returns the body of a function that returns something, from the end of its parameters.
func functionBody(t *source.Text, from int) (source.Span, bool) {
	head := t.Code[from:min(len(t.Code), from+maxAttribute)]
	open := bytes.IndexAny(head, "{;")
	if open < 0 || head[open] == ';' || !strings.Contains(string(head[:open]), "->") {
		return source.Span{}, false
	}
	_, body := t.Arguments(from + open + 1)
	return source.Span{From: from + open + 1, To: t.Until(from+open+1, "")}, body.From < body.To
}

// fieldDefaults returns the fields that have a default. That of serde is a function.
func fieldDefaults(t *source.Text) []namedValue {
	var fields []namedValue
	for _, m := range t.FindAll(optionDefault, maxConstants) {
		value := source.Span{From: m[1], To: t.Until(m[1], ",")}
		if name, ok := fieldBehind(t, value.To); ok {
			fields = append(fields, namedValue{"." + name, value})
		}
	}
	for _, m := range t.FindAll(defaultFunction, maxConstants) {
		end := min(itemEnd(t.Code, m[1]), m[1]+4*maxAttribute)
		for _, f := range fieldValue.FindAllSubmatchIndex(t.Code[m[1]:end], maxConstants) {
			name := string(t.Code[m[1]+f[2] : m[1]+f[3]])
			if from := m[1] + f[1]; listenName.MatchString(name) {
				fields = append(fields, namedValue{"." + name, source.Span{From: from, To: t.Until(from, ",")}})
			}
		}
	}
	return fields
}

// fieldBehind returns the field that the attribute around an offset belongs to.
func fieldBehind(t *source.Text, from int) (string, bool) {
	m := annotatedField.FindSubmatch(t.Code[from:min(len(t.Code), from+maxAttribute)])
	if m == nil {
		return "", false
	}
	return string(m[1]), true
}

// readConstants returns what a source declares for others to listen on.
func readConstants(d *address.Names) []address.Declaration {
	t := d.Text
	var all []address.Declaration
	stated := map[string]bool{}
	add := func(c address.Declaration) {
		if stated[c.Name] = true; len(all) < maxConstants && listenName.MatchString(c.Name) {
			all = append(all, c)
		}
	}
	for _, m := range t.FindAll(constant, maxFunctions) {
		value := source.Span{From: m[1], To: t.Until(m[1], ";")}
		add(d.Declaration(string(t.Code[m[2]:m[3]]), value))
	}
	for _, f := range fieldDefaults(t) {
		add(d.Declaration(f.name, f.value))
	}
	for _, m := range t.FindAll(serdeDefault, maxConstants) {
		called, _ := t.Group(serdeDefault, m, "function")
		if name, ok := fieldBehind(t, m[1]); ok {
			function := address.Name{Path: called[strings.LastIndexByte(called, ':')+1:] + "()"}
			add(address.Declaration{Name: "." + name, Value: address.Value{Names: []address.Name{function}}})
		}
	}
	for _, m := range t.FindAll(function, maxFunctions) {
		_, parameters := t.Arguments(m[1])
		if body, ok := functionBody(t, parameters.To); ok {
			add(d.Declaration(string(t.Code[m[2]:m[3]])+"()", body))
		}
	}
	for _, m := range t.FindAll(structHead, maxConstants) {
		fields, _ := t.Arguments(m[1])
		for _, at := range fields {
			// A field without a default here may get one elsewhere: no other field of its name speaks for it.
			field := structField.FindStringSubmatch(t.Slice(at))
			if field != nil && !stated["."+field[1]] {
				add(address.Declaration{Name: "." + field[1]})
			}
		}
	}
	return all
}

// global returns what a name that the source does not declare may be in other sources: a field, a function, or a
// constant.
func global(u address.Use) address.Name {
	switch name := u.Path; {
	case strings.HasPrefix(name, "."):
		return address.Field(name)
	case strings.HasSuffix(name, ")"), strings.ToUpper(name) == name:
		return address.Name{Path: name}
	}
	return address.Name{}
}
