package rust

import (
	"bytes"
	"cmp"
	"path"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/oldaddress"
	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

var (
	variable = lazyregexp.New(`\b(?:let|const|static)\s+(?:mut\s+|ref\s+)?(?P<name>\w+)\s*(?::[^=;]*)?=`)
	// assignment is another value of a variable, portSet one of an address, and matched what is in a value if it has
	// any.
	assignment       = lazyregexp.New(`(?m)(?:^|;|\{\s|=>)\s*(?P<name>[a-z_]\w*)\s*=\s*`)
	mutableReference = lazyregexp.New(`[(,]\s*&mut\s+(?P<name>[a-z_]\w*)\s*[,)]`)
	portSet          = lazyregexp.New(`\b(?P<name>[a-z_]\w*)\s*\.\s*set_port\s*\(\s*`)
	matched          = lazyregexp.New(`\bif\s+let\s+(?:Ok|Some)\(\s*(?P<name>\w+)\s*\)\s*=\s*(?P<value>[^{;]*)`)
	constant         = lazyregexp.New(`\b(?:const|static(?:\s+ref)?)\s+(?P<name>[A-Z][A-Z0-9_]*)\s*:[^=;]*=\s*`)
	// option is the attribute of a field with a command line argument of clap or structopt, or with a variable of
	// envconfig, optionValue what gives it a value, and serdeDefault the default of a field which serde reads. The code
	// reaches them as fields.
	option      = lazyregexp.New(`#\[\s*(?:arg|clap|structopt|envconfig)\s*\(`)
	optionValue = lazyregexp.New(
		`^(?:(env|from)(?:\s*=\s*(?:"(\w+)"|(.*)))?$|default(?:_value(?:_t|s|s_t)?)?\s*=\s)`)
	serdeDefault = lazyregexp.New(`#\[serde\([^\]]*?\bdefault\s*=\s*"(?P<function> +)"`)
	// fromEnvironment reads a struct from environment variables that are named for its fields (envy src/lib.rs).
	fromEnvironment = lazyregexp.New(`\benvy::(?:from_env\b|prefixed\s*\(\s*"(?P<prefix> *)")`)
	// optionKey is the name of an argument that clap is given by calls, and readOption reads it.
	optionKey  = lazyregexp.New(`\bArg::(?:new|with_name)\s*\(\s*"(?P<key> +)"\s*\)`)
	readOption = lazyregexp.New(`\.\s*(?:get_one|remove_one|value_of\w*)(?:::<[^>]*>)?\s*\(\s*"(?P<key> +)"`)
	// optionFlag says that a field is given by a flag, keyFlag and keyShort by which ones an argument is given that is
	// read by its name.
	optionFlag = lazyregexp.New(`^(?:(long)|(short))(?:\s*=\s*(?:"([\w-]+)"|'(\w)'))?$`)
	keyFlag    = lazyregexp.New(keyHead + `\blong\s*\(\s*"(?P<flag> +)"\s*\)`)
	keyShort   = lazyregexp.New(keyHead + `\bshort\s*\(\s*["'](?P<flag>.)["']\s*\)`)
	// annotatedField is the field that an attribute belongs to, from after the attribute's arguments.
	annotatedField = lazyregexp.New(`^[^\[\]]*\](?:\s*#\[[^\]]*\])*\s*(?:pub(?:\([^)]*\))?\s+)?(\w+)\s*:`)
	// notLiteral goes before the name of a struct if it makes none.
	// fieldSet is a field of a literal, by a value or by the variable of its name, and assigned one that is given a
	// value later.
	notLiteral  = lazyregexp.New(`(?:->|\b(?:struct|enum|union|trait|impl|for|let))\s*$`)
	fieldSet    = lazyregexp.New(`^(?:\s*#\[[^\]]*\]\s*)*(\w+)\s*(?:(:)\s*|$)`)
	assigned    = lazyregexp.New(`\w\.(?P<name>\w+)\s*=\s*\b`)
	literalHead = lazyregexp.New(`\b(?P<name>[A-Z]\w*)\s*\{`)
	structHead  = lazyregexp.New(`\bstruct\s+(?P<name>\w+)[^{;(]*\{`)
	structField = lazyregexp.New(`^(?:#\[[^\]]*\]\s*)*(?:pub(?:\([^)]*\))?\s+)?(\w+)\s*:`)
	// function is the head of a function, up to its parameters, and parameter one of these, which has no default.
	function  = lazyregexp.New(`\bfn\s+(?P<name>\w+)\s*(?:<[^>{;]*>\s*)?\(`)
	parameter = lazyregexp.New(`^(?:mut )?([^:]*?)\s*:(?s:.*)$`)
	// securityName matches the names of functions and parameters that say what carries the calls.
	securityName = lazyregexp.New(`(?i)tls|cert|cred|identity|incoming|listener|path|sock|uds`)
	// listenName matches the names of constants, fields, functions and parameters that say where something listens.
	// tellingName matches both.
	listenName  = lazyregexp.New(`(?i)port|addr|bind|listen|endpoint|url|socket`)
	tellingName = lazyregexp.New(listenName.String() + `|` + securityName.String())
)

// keyHead is the name of an argument, up to one of the calls that describe it.
const keyHead = `\bArg::(?:new|with_name)\s*\(\s*"(?P<key> +)"\s*\)[^;,]{0,400}?\.\s*`

// flagOf returns the flag that a field has for its name: clap writes hyphens in it, and takes its first letter for the
// short one.
func flagOf(kind, field string) string {
	if kind == "short" && field != "" {
		return field[:1]
	}
	return address.Hyphenated(field)
}

const (
	// maxAttribute is how many bytes after a default the field is looked for, maxFunctions how many functions of a
	// source are looked at, and maxConstants how many constants of a source are kept.
	maxAttribute = 1024
	maxFunctions = 512
	maxConstants = 64
	// maxConstantsSource is how many bytes a source may have that is read for nothing but its constants.
	maxConstantsSource = 64 << 10
)

// readDeclarations returns the values of variables and constants, of fields that have a default, of functions, and of
// the parameters that functions are given in this source.
// module is that of the source.
func readDeclarations(t *source.Text, module string) *address.Names {
	d := address.Read(t, ";", variable, assignment, portSet, matched)
	d.AssignOuter()
	d.DeclareReferences(mutableReference, nil)
	d.Global, d.FieldOf = global, fieldOf(t)
	d.Keyed(readOption, optionKey)
	d.ReadFlags(keyFlag, keyShort)
	in := &structs{Text: t}
	for _, f := range fieldDefaults(d) {
		isOption := f.IsOption
		f = in.byDefault(f)
		d.DeclareValue(f)
		ofStruct := f
		if ofStruct.Name = in.field(f.Name, f.Value.From); ofStruct.Name != "" {
			d.DeclareValue(ofStruct)
		}
		value := t.Slice(f.Value)
		if !isOption && isName.MatchString(value) && d.Values(value, f.Value.From) == nil { // a parameter
			d.Declare(f.Name[1:], f.Value) // the functions of the type reach it as self.name
		}
	}
	types := implBlocks(t)
	d.TypeAt = func(at int) string { return implementedAt(types, at) }
	for _, m := range t.FindAll(function, maxFunctions) {
		name := string(t.Code[m[2]:m[3]])
		parameters, list := d.Parameters(m[1], parameter)
		own := implementedAt(types, m[0])
		if body, ok := functionBody(t, list.To); ok && tellingName.MatchString(name) {
			d.DeclareFunction(own, name, body)
		}
		if parameters[0].Name == "" {
			parameters = parameters[1:] // self
		}
		if address.AnyNamed(parameters, tellingName) {
			f := address.Function{Name: name, At: m[2], End: list.To, Parameters: parameters, IsAlone: own == ""}
			if !isCalled(t, own, name) || !d.DeclareArguments(f) {
				body := source.Span{From: m[1], To: list.To}
				if open, ok := bodyAfter(t, list.To); ok {
					_, block := t.Arguments(open)
					body.To = block.To
				}
				d.DeclareCallable(address.Callable{
					Name: cmp.Or(own, module) + "::" + name, At: m[1], Parameters: parameters, Body: body,
				})
			}
		}
	}
	return d
}

// moduleOf returns the name of the module in a file, "" for that of a whole crate.
func moduleOf(file string) string {
	dir, name := path.Split(strings.TrimSuffix(file, ".rs"))
	switch name {
	case "main", "lib":
		return ""
	case "mod":
		return path.Base(dir)
	}
	return name
}

// call is the call of a function, whose path is in the group "name".
var call = lazyregexp.New(`(?:^|[^\w.:])(?P<name>[A-Za-z_]\w*(?:::\w+)*::[a-z_]\w*|[a-z_][\w:]*)\(`)

// given returns what a source gives to functions of other modules, or of types, that are about listening.
func given(d *address.Names, u *uses) []address.Declaration {
	return d.Given(call, func(called string) string {
		whole, _ := u.resolve(called)
		before, function, ok := cutLast(whole)
		if _, module, _ := cutLast(before); ok && module != "" {
			return strings.TrimPrefix(module, "crate") + "::" + function
		}
		return ""
	})
}

// cutLast cuts the last part off a path.
func cutLast(whole string) (before, last string, ok bool) {
	if i := strings.LastIndex(whole, "::"); i >= 0 {
		return whole[:i], whole[i+2:], true
	}
	return "", whole, false
}

// functionBody returns the body of a function that returns something, from the end of its parameters.
func functionBody(t *source.Text, from int) (source.Span, bool) {
	open, ok := bodyAfter(t, from)
	if !ok || !strings.Contains(t.Slice(source.Span{From: from, To: open}), "->") {
		return source.Span{}, false
	}
	_, body := t.Arguments(open)
	return source.Span{From: open, To: t.Until(open, "")}, body.From < body.To
}

// bodyAfter returns the offset after the bracket with which the body of a function begins, from the end of its
// parameters.
func bodyAfter(t *source.Text, from int) (int, bool) {
	head := t.Code[from:min(len(t.Code), from+maxAttribute)]
	open := bytes.IndexAny(head, "{;")
	return from + open + 1, open >= 0 && head[open] == '{'
}

// isName matches an expression that is nothing but a name.
var isName = source.Exactly(`\w+`)

// isCalled reports whether a source may call a function, which belongs to a type or, if that is "", to none.
func isCalled(t *source.Text, of, name string) bool {
	calls := source.NewKeywords(of+"::"+name+"(", "Self::"+name+"(")
	return of == "" || calls.In(t.Code)
}

// implBlock is where the functions of a type are.
type implBlock struct {
	name string
	body source.Span
}

var implHead = lazyregexp.New(`\bimpl\b(?:\s*<[^>{;]*>)?\s+(?:[\w:<>, ]+\s+for\s+)?(?P<name>\w+)[^{;]*\{`)

// implBlocks returns where the functions of types are.
func implBlocks(t *source.Text) []implBlock {
	var all []implBlock
	for _, m := range t.FindAll(implHead, maxConstants) {
		_, body := t.Arguments(m[1])
		all = append(all, implBlock{string(t.Code[m[2]:m[3]]), body})
	}
	return all
}

// implementedAt returns the type whose function stands at an offset, "" for none.
func implementedAt(all []implBlock, at int) string {
	for _, of := range all {
		if of.body.Contains(at) {
			return of.name
		}
	}
	return ""
}

// fieldDefaults returns the fields that have a default. That of serde is a function. A default that an environment
// variable may replace whose name is not seen is not known.
func fieldDefaults(d *address.Names) []address.NamedValue {
	t := d.Text
	var fields []address.NamedValue
	isUnclear := map[string]bool{}
	for _, m := range t.FindAll(option, maxConstants) {
		each, all := t.Arguments(m[1])
		name, ok := fieldBehind(t, all.To)
		f := address.NamedValue{Name: "." + name, Value: source.Span{From: m[1], To: m[1]}}
		for _, argument := range each {
			if flag := optionFlag.FindStringSubmatch(string(t.Raw[argument.From:argument.To])); flag != nil {
				f.Flags = append(f.Flags, cmp.Or(flag[3], flag[4], flagOf(flag[1]+flag[2], name)))
			}
			switch is := optionValue.FindStringSubmatch(string(t.Raw[argument.From:argument.To])); {
			case is == nil:
			case is[1] != "":
				if f.IsOption, f.Variable = true, cmp.Or(is[2], strings.ToUpper(name)); is[3] != "" {
					f.Variable = d.Constant(is[3], argument.From)
					isUnclear[f.Name] = isUnclear[f.Name] || f.Variable == ""
				}
			default:
				f.IsOption, f.Value = true, argument
			}
		}
		if f.IsOption = f.IsOption || f.Flags != nil; ok && f.IsOption {
			fields = append(fields, f)
		}
	}
	for i, f := range fields {
		if isUnclear[f.Name] {
			fields[i].Value.To = f.Value.From
		}
	}
	return append(fields, fieldsSet(t)...)
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
	in := &structs{Text: t}
	addField := func(c address.Declaration, at int) {
		add(c)
		if c.Name = in.field(c.Name, at); c.Name != "" {
			add(c)
		}
	}
	for _, m := range t.FindAll(constant, maxFunctions) {
		value := source.Span{From: m[1], To: t.Until(m[1], ";")}
		add(d.Variable(string(t.Code[m[2]:m[3]]), value))
	}
	for _, f := range fieldDefaults(d) {
		if f.IsOption || f.Value.From < f.Value.To {
			addField(d.DeclarationOf(in.byDefault(f)), f.Value.From)
		}
	}
	environment := environmentOf(t)
	for _, m := range t.FindAll(serdeDefault, maxConstants) {
		called, _ := t.Group(serdeDefault, m, "function")
		if name, ok := fieldBehind(t, m[1]); ok {
			function := d.FunctionCalled(address.Use{Dotted: called, At: m[0]})
			addField(address.Declaration{Name: "." + name, Value: returnedBy(d, function, environment(name))}, m[0])
		}
	}
	for _, f := range d.Returned {
		add(d.DeclarationOf(f))
	}
	for _, m := range t.FindAll(structHead, maxConstants) {
		fields, _ := t.Arguments(m[1])
		for _, at := range fields {
			field := structField.FindStringSubmatch(t.Slice(at))
			if field == nil {
				continue
			}
			// A field without a default here may get one elsewhere: no other field of its name speaks for it.
			for _, name := range []string{"." + field[1], in.field("."+field[1], at.From)} {
				if !stated[name] {
					add(address.Declaration{Name: name, Value: valueElsewhere(d, field[1], environment(field[1]), at)})
				}
			}
		}
	}
	return all
}

// returnedBy returns what a function returns, as the default of what a variable gives, "" for none.
func returnedBy(d *address.Names, function, variable string) address.Value {
	for _, f := range d.Returned {
		if f.Name == function {
			f.IsOption, f.Variable = true, variable
			return d.DeclarationOf(f).Value
		}
	}
	v := address.Value{Names: []address.Name{{Module: address.ThisFile, Path: function}, {Path: function}}}
	v.Variable = variable
	return v
}

// valueElsewhere returns the value of a field, at a span, that has no default in the source, and that a variable may
// give, "" for none.
func valueElsewhere(d *address.Names, field, variable string, at source.Span) address.Value {
	v := d.Declaration("."+field, source.Span{}).Value
	v.Variable = variable
	if v.Place.Line = 0; v.Givers != nil || variable != "" {
		v.Place.Line = d.Line(at.From)
	}
	return v
}

// environmentOf returns the function that says which environment variable gives a field its value, "" for none.
func environmentOf(t *source.Text) func(field string) string {
	m := t.FindAll(fromEnvironment, 1)
	if m == nil {
		return func(string) string { return "" }
	}
	prefix, _ := t.Group(fromEnvironment, m[0], "prefix")
	return func(field string) string { return prefix + strings.ToUpper(field) }
}
