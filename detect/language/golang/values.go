package golang

import (
	"cmp"
	"go/ast"
	"go/token"
	"path"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/language/golang/syntax"
	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
	"github.com/grpc-cnb/health-probe/internal/plan"
)

// values are the sources of one package, with what they give each name. A name is followed through assignments,
// fields, the results of functions and their parameters, within the package and without types: to what is stated
// plainly.
type values struct {
	given     map[any][]given // by what key returns
	functions map[string][]function
	calls     map[string][]expression // by the name of what is called
	fields    map[string]*ast.Field   // the fields of structs, by the names of both: Config.Port
	declared  map[string]int          // how many structs have a field of a name
	// parameters are the positions of parameters, by the variables that they are.
	parameters map[any]parameter
	returned   map[result][]given // see results
	active     map[any]bool       // the names that are followed
	left       int                // how many expressions may still be followed
}

// unit is a source file.
type unit struct {
	*syntax.File
	path string
	// hasPrefix says that the names of environment variables may have a prefix that their tags have not.
	hasPrefix bool
}

func (u *unit) place(n ast.Node) plan.Place { return plan.Place{Path: u.path, Line: u.Line(n)} }

type expression struct {
	in *unit
	ast.Expr
}

// given is what a name is given: an expression, one of its results if that is a call with several, or nil for what is
// not known.
type given struct {
	expression
	result int
	// isOption says that the command line or the environment may give another value, and variable by which variable.
	isOption bool
	variable string
	// isDefault says that a flag, a setting or a tag has it.
	isDefault bool
}

type function struct {
	in *unit
	*ast.FuncDecl
}

// result is one of those of a function, by its position.
type result struct {
	of *ast.FuncDecl
	at int
}

type parameter struct {
	of *ast.FuncDecl
	at int
}

const (
	// maxGiven is how many values of one name are followed, and maxFollowed how many expressions of one package.
	maxGiven    = 16
	maxFollowed = 20_000
	maxDepth    = 24
	// maxCalls is how many calls of one function are looked at, and maxText how long a text is that may be an address.
	maxCalls = 64
	maxText  = 300
)

func newValues() *values {
	return &values{
		given: map[any][]given{}, functions: map[string][]function{}, calls: map[string][]expression{},
		fields: map[string]*ast.Field{}, declared: map[string]int{}, parameters: map[any]parameter{}, returned: map[result][]given{}, active: map[any]bool{}, left: maxFollowed,
	}
}

// key tells a variable from others: one of a function by what the parser knows of it, one of the package by its name,
// and a field by its name, with that of its type if that is known. It is nil for what is no variable.
func (v *values) key(in *unit, e ast.Expr) any {
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		if local := in.Variable(e); local != nil {
			return local
		}
		return e.Name
	case *ast.StarExpr:
		return v.key(in, e.X)
	case *ast.SelectorExpr:
		if in.PathOf(e) == "" {
			return v.typeOf(in, e.X, 0) + "." + e.Sel.Name
		}
	}
	return nil
}

// typeOf returns the name of the type of an expression, without the sign of a pointer, with a dot if the type is one of
// another package, "" if it is not known.
func (v *values) typeOf(in *unit, e ast.Expr, depth int) string {
	if depth > maxDepth {
		return ""
	}
	switch e := ast.Unparen(e).(type) {
	case *ast.UnaryExpr:
		return v.typeOf(in, e.X, depth+1)
	case *ast.StarExpr:
		return v.typeOf(in, e.X, depth+1)
	case *ast.CompositeLit:
		return typeName(e.Type)
	case *ast.SelectorExpr:
		if field := v.fields[v.typeOf(in, e.X, depth+1)+"."+e.Sel.Name]; field != nil {
			return typeName(field.Type)
		}
	case *ast.CallExpr:
		if syntax.Name(e.Fun) == "new" && len(e.Args) == 1 {
			return typeName(e.Args[0])
		}
		if in.PathOf(syntax.Called(e)) != "" {
			return syntax.Name(e.Fun) + "()" // of another package
		}
		if all := v.functions[syntax.Name(e.Fun)]; len(all) == 1 && all[0].Type.Results != nil {
			return typeName(all[0].Type.Results.List[0].Type)
		}
	case *ast.Ident:
		switch d := syntax.Declaration(e).(type) {
		case *ast.Field:
			return typeName(d.Type)
		case *ast.ValueSpec:
			if d.Type != nil {
				return typeName(d.Type)
			}
		case *ast.AssignStmt:
			if made, ok := d.Rhs[0].(*ast.CallExpr); ok && len(d.Lhs) > 1 && syntax.Name(d.Lhs[0]) == e.Name {
				return v.typeOf(in, made, depth+1)
			}
		}
		if value := syntax.InitialValue(e); value != e {
			return v.typeOf(in, value, depth+1)
		}
	}
	return ""
}

// give adds what a name is given.
func (v *values) give(key any, g given) {
	if name, ok := key.(string); ok && strings.Contains(name, ".") && !strings.HasPrefix(name, ".") {
		v.give(name[strings.IndexByte(name, '.'):], g) // the field of what has a type that is not known
	}
	if name, ok := key.(string); ok && v.fields[name] != nil && v.fields[name].Tag != nil {
		g.isOption = true // what reads the tag may fill the field
	}
	if key != nil && len(v.given[key]) <= maxGiven {
		v.given[key] = append(v.given[key], g)
	}
}

// add reads a file of the package.
func (v *values) add(in *unit) {
	for _, d := range in.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok {
			v.functions[fn.Name.Name] = append(v.functions[fn.Name.Name], function{in, fn})
			at := 0
			for _, field := range fn.Type.Params.List {
				for _, name := range field.Names {
					v.parameters[in.Variable(name)] = parameter{fn, at}
					at++
				}
			}
		}
		if g, ok := d.(*ast.GenDecl); ok {
			for _, spec := range g.Specs {
				if t, ok := spec.(*ast.TypeSpec); ok {
					if of, ok := t.Type.(*ast.StructType); ok {
						v.addFields(in, t.Name.Name, of)
					}
				}
			}
		}
	}
}

// read reads what the statements of a file give to names, after all files were added.
func (v *values) read(in *unit) {
	ast.Inspect(in.File.File, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ValueSpec:
			for i, name := range n.Names {
				v.assign(in, name, i, len(n.Names), n.Values)
			}
		case *ast.AssignStmt:
			for i, to := range n.Lhs {
				if n.Tok == token.ASSIGN || n.Tok == token.DEFINE {
					v.assign(in, to, i, len(n.Lhs), n.Rhs)
				} else {
					v.give(v.key(in, to), given{expression: expression{in, nil}})
				}
			}
		case *ast.IncDecStmt:
			v.give(v.key(in, n.X), given{expression: expression{in, nil}})
		case *ast.RangeStmt:
			if list, ok := syntax.InitialValue(n.X).(*ast.CompositeLit); ok {
				for _, e := range list.Elts[:min(len(list.Elts), maxGiven)] {
					v.give(v.key(in, n.Value), given{expression: expression{in, e}})
				}
			} else {
				v.give(v.key(in, n.Value), given{expression: expression{in, nil}})
			}
		case *ast.CompositeLit:
			v.readLiteral(in, n)
		case *ast.CallExpr:
			name := syntax.LastName(syntax.Called(n))
			v.calls[name] = append(v.calls[name], expression{in, n})
			v.readFlag(in, n, name)
		case *ast.UnaryExpr:
			if n.Op == token.AND {
				v.give(v.key(in, n.X), given{expression: expression{in, n}, result: pointed})
			}
		}
		return true
	})
}

// pointed is the result of a [given] that is no value, but a pointer that is taken: what has it may assign the name.
const pointed = -1

func (v *values) assign(in *unit, to ast.Expr, at, of int, from []ast.Expr) {
	switch key := v.key(in, to); {
	case len(from) == of:
		v.give(key, given{expression: expression{in, from[at]}})
	case len(from) == 1:
		v.give(key, given{expression: expression{in, from[0]}, result: at})
	}
}

// readLiteral reads the elements of a literal: those of a struct, or a flag of urfave/cli.
func (v *values) readLiteral(in *unit, literal *ast.CompositeLit) {
	name := typeName(literal.Type)
	for _, e := range literal.Elts[:min(len(literal.Elts), maxFollowed)] {
		if field, ok := e.(*ast.KeyValueExpr); ok {
			g := given{expression: expression{in, field.Value}}
			v.give(name+"."+syntax.Name(field.Key), g)
		}
	}
	if option := syntax.Element(literal, "Name"); option != nil && strings.HasSuffix(name, "Flag") {
		g := given{expression: expression{in, syntax.Element(literal, "Value")}, isOption: true, isDefault: true}
		for _, key := range []string{"EnvVars", "EnvVar", "Sources"} {
			g.variable = cmp.Or(g.variable, onlyString(syntax.Element(literal, key)))
		}
		v.giveOption(in, option, g)
		if to, ok := syntax.Element(literal, "Destination").(*ast.UnaryExpr); ok {
			g.isOption = g.Expr != nil // or else it is empty
			v.give(v.key(in, to.X), g)
		}
	}
}

// onlyString returns the literal in a list of one, or in the arguments of a call, "" for none.
func onlyString(e ast.Expr) string {
	var all []ast.Expr
	switch e := e.(type) {
	case *ast.CompositeLit:
		all = e.Elts
	case *ast.CallExpr:
		all = e.Args
	case *ast.BasicLit:
		all = []ast.Expr{e}
	}
	if len(all) != 1 {
		return ""
	}
	s, _ := syntax.StringLiteral(all[0])
	return s
}

// option is the key of an option of the command line, or of a setting.
type option string

func (v *values) giveOption(in *unit, name ast.Expr, g given) {
	for _, t := range v.texts(expression{in, name}, 0) {
		v.give(option(t.s), g)
	}
}

// optionOf returns what an option is given whose name is a text.
func (v *values) optionOf(name []text) []given {
	if len(name) != 1 {
		return nil
	}
	return v.given[option(name[0].s)]
}

// flag is a function of the packages flag and pflag, and of all that are made after them, or of viper.
var flag = source.Exactly(`(?:Int|Uint|String|TextVar|SetDefault)(?:8|16|32|64)?(Var)?(P)?`)

// readFlag reads what a flag, or the default of a setting, gives: flag.IntVar(&port, "port", 50051, "").
func (v *values) readFlag(in *unit, call *ast.CallExpr, name string) {
	m := flag.FindStringSubmatch(name)
	if m == nil {
		return
	}
	at := 0
	if m[1] != "" {
		at++
	}
	value := at + 1
	if m[2] != "" {
		value++
	}
	if value >= len(call.Args) {
		return
	}
	g := given{expression: expression{in, call.Args[value]}, isOption: true, isDefault: true}
	if to, ok := call.Args[0].(*ast.UnaryExpr); ok && m[1] != "" {
		v.give(v.key(in, to.X), g)
	}
	v.giveOption(in, call.Args[at], g)
}

var (
	// defaultTags and variableTags are the keys of tags with a default, and with an environment variable.
	defaultTags  = []string{"default", "envDefault", "env-default"}
	variableTags = []string{"env", "envconfig", "envvar"}
	variableName = source.Exactly(`[A-Z][A-Z0-9_]{2,}`)
)

// addFields reads the fields of a struct, with the defaults in their tags.
func (v *values) addFields(in *unit, name string, of *ast.StructType) {
	for _, f := range of.Fields.List {
		if inner, ok := f.Type.(*ast.StructType); ok {
			v.addFields(in, "", inner)
		}
		g := given{expression: expression{in, nil}, isOption: true, isDefault: true}
		if f.Tag != nil {
			text, _ := syntax.StringLiteral(f.Tag)
			g.variable = firstTag(text, variableTags)
			if value := firstTag(text, defaultTags); value != "" {
				g.Expr = &ast.BasicLit{ValuePos: f.Tag.Pos(), Kind: token.STRING, Value: strconv.Quote(value)}
			}
		}
		if !variableName.MatchString(g.variable) || in.hasPrefix {
			g.variable = ""
		}
		for _, field := range f.Names {
			v.fields[name+"."+field.Name] = f
			v.declared[field.Name]++
			if g.Expr != nil || g.variable != "" {
				v.give(name+"."+field.Name, g)
			}
		}
	}
}

// firstTag returns the first value that a tag has for one of several keys, without options, "" for none.
func firstTag(tag string, keys []string) string {
	for _, key := range keys {
		if value, _, _ := strings.Cut(reflect.StructTag(tag).Get(key), ","); value != "" {
			return value
		}
	}
	return ""
}

// valuesOf returns what a name is given, nil for what is no name or not known.
func (v *values) valuesOf(x expression) []given {
	key := v.key(x.in, x.Expr)
	if s, ok := ast.Unparen(x.Expr).(*ast.SelectorExpr); ok && v.declared[s.Sel.Name] > 1 {
		if v.typeOf(x.in, s.X, 0) == "" {
			return nil // it is not known of which struct
		}
	}
	if name, ok := key.(string); ok && v.fields[name] != nil && v.mayBeFilled(x.in, name) {
		return append(slices.Clone(v.given[key]), given{expression: expression{x.in, nil}})
	}
	if p, ok := v.parameters[key]; ok {
		return append(slices.Clone(v.given[key]), v.arguments(x.in, p)...)
	}
	return v.given[key]
}

// mayBeFilled reports whether another package may give a field its value, and the package does not state a default.
func (v *values) mayBeFilled(in *unit, name string) bool {
	of, field, _ := strings.Cut(name, ".")
	return in.Name.Name != "main" && ast.IsExported(of) && ast.IsExported(field) &&
		!slices.ContainsFunc(v.given[name], func(g given) bool { return g.isDefault })
}

// arguments returns what the calls in the package give to a parameter.
func (v *values) arguments(in *unit, p parameter) []given {
	var all []given
	name := p.of.Name.Name
	if len(v.functions[name]) > 1 { // which one is called is not known
		return nil
	}
	for _, c := range v.calls[name][:min(len(v.calls[name]), maxCalls)] {
		if call, ok := c.Expr.(*ast.CallExpr); ok && len(all) <= maxGiven && p.at < len(call.Args) &&
			c.in.PathOf(syntax.Called(call)) == "" {
			all = append(all, given{expression: expression{c.in, call.Args[p.at]}})
		}
	}
	if ast.IsExported(name) && in.Name.Name != "main" {
		all = append(all, given{expression: expression{in, nil}})
	}
	return all
}

// results returns what a call of a function of the package returns, nil for another call.
func (v *values) results(in *unit, call *ast.CallExpr, at int) []given {
	fun := syntax.Called(call)
	all := v.functions[syntax.LastName(fun)]
	if len(all) != 1 || in.PathOf(fun) != "" || all[0].Body == nil {
		return nil
	}
	key := result{all[0].FuncDecl, at}
	if known, ok := v.returned[key]; ok {
		return known
	}
	var returned []given
	ast.Inspect(all[0].Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.ReturnStmt:
			if len(returned) > maxGiven {
				return false
			}
			if len(n.Results) > at {
				returned = append(returned, given{expression: expression{all[0].in, n.Results[at]}})
			} else if len(n.Results) == 1 {
				returned = append(returned, given{expression: expression{all[0].in, n.Results[0]}, result: at})
			}
		}
		return true
	})
	v.returned[key] = returned
	return returned
}

// sources calls do with all that an expression may be, by the names of the package: calls of others, literals.
func (v *values) sources(x expression, result int, seen map[ast.Expr]bool, do func(x expression)) {
	if v.left--; v.left < 0 || x.Expr == nil || seen[x.Expr] || len(seen) > maxFollowed {
		return
	}
	seen[x.Expr] = true
	switch e := ast.Unparen(x.Expr).(type) {
	case *ast.Ident, *ast.SelectorExpr, *ast.StarExpr:
		for _, g := range v.valuesOf(x) {
			if g.result >= 0 {
				v.sources(g.expression, g.result, seen, do)
			}
		}
		do(x)
	case *ast.UnaryExpr:
		v.sources(expression{x.in, e.X}, 0, seen, do)
	case *ast.CallExpr:
		do(x)
		for _, g := range v.results(x.in, e, result) {
			v.sources(g.expression, g.result, seen, do)
		}
	default:
		do(x)
	}
}

// text is one that an expression may be. What is not known of it is "${NAME}" for an environment variable, "${-}" for
// an option of the command line, and "${?}" for all else.
type text struct {
	s  string
	at plan.Place // where its end stands
}

const (
	givenByOption = "${-}"
	notKnown      = "${?}"
)

// maxTexts is how many texts an expression may be.
const maxTexts = 12

var (
	// passesOn are functions whose result is their first argument in another form, and methods whose result is their
	// object.
	passesOn = source.Exactly(`Itoa|Atoi|Format(?:Int|Uint)|Parse(?:Int|Uint)|Sprint|string|u?int\d*|TrimSpace|String|` +
		`Get|AddrPort|TCPAddrFromAddrPort|MustParseAddrPort|(?:Trim|Cut)(?:Prefix|Suffix|Left|Right)?`)
	getsOption = source.Exactly(`(?:Get)?(?:Int|Uint|String)(?:8|16|32|64)?`)
	asksForEnv = lazyregexp.New(`(?i)env|ordefault|getor|withdefault`)
)

// texts returns what an expression may be.
func (v *values) texts(x expression, depth int) []text {
	if v.left--; v.left < 0 || depth > maxDepth || x.Expr == nil {
		return []text{{notKnown, plan.Place{}}}
	}
	at := x.in.place(x.Expr)
	next := func(e ast.Expr) []text { return v.texts(expression{x.in, e}, depth+1) }
	switch e := ast.Unparen(x.Expr).(type) {
	case *ast.BasicLit:
		if s, ok := syntax.StringLiteral(e); ok {
			return []text{{s, at}}
		} else if e.Kind == token.INT {
			return []text{{strings.ReplaceAll(e.Value, "_", ""), at}}
		}
	case *ast.UnaryExpr:
		if e.Op == token.AND {
			return next(e.X)
		}
	case *ast.BinaryExpr:
		number, isNumber := e.Y.(*ast.BasicLit)
		isNumber = isNumber && number.Kind == token.INT
		if a := next(e.X); e.Op == token.ADD && !isNumber && !areNumbers(a) {
			return joined(a, next(e.Y))
		}
	case *ast.CompositeLit:
		if port := syntax.Element(e, "Port"); port != nil && syntax.LastName(e.Type) == "TCPAddr" {
			host := []text{{":", at}}
			if ip := syntax.Element(e, "IP"); ip != nil {
				host = []text{{notKnown + ":", at}}
			}
			return joined(host, next(port))
		}
	case *ast.SliceExpr:
		return next(e.X)
	case *ast.IndexExpr:
		if syntax.Name(e.X) == "os.Args" {
			return []text{{givenByOption, at}}
		}
	case *ast.CallExpr:
		return v.textsOfCall(x.in, e, depth)
	case *ast.Ident, *ast.SelectorExpr, *ast.StarExpr:
		if pointer, ok := e.(*ast.StarExpr); ok {
			if call, ok := pointer.X.(*ast.CallExpr); ok {
				return next(call)
			}
		}
		return v.textsOfName(v.key(x.in, x.Expr), v.valuesOf(x), depth)
	}
	return []text{{notKnown, at}}
}

// textsOfName returns the texts of what a name is given. One that is made of what it was before adds none.
func (v *values) textsOfName(key any, all []given, depth int) []text {
	if v.active[key] {
		return nil
	}
	v.active[key] = true
	defer delete(v.active, key)
	return v.textsGiven(all, depth)
}

func areNumbers(all []text) bool {
	return len(all) > 0 && !slices.ContainsFunc(all, func(t text) bool { return strings.Trim(t.s, "0123456789") != "" || t.s == "" })
}

// textsGiven returns the texts of what a name is given.
func (v *values) textsGiven(all []given, depth int) []text {
	var texts []text
	for _, g := range all {
		switch {
		case g.variable != "":
			texts = append(texts, text{"${" + g.variable + "}", plan.Place{}})
		case g.isOption:
			texts = append(texts, text{givenByOption, plan.Place{}})
		}
		call, isCall := g.Expr.(*ast.CallExpr)
		switch {
		case g.result == pointed && slices.ContainsFunc(all, func(g given) bool { return g.isOption }):
		case g.result == pointed:
			texts = append(texts, text{notKnown, plan.Place{}})
		case g.Expr == nil && (g.isOption || g.variable != ""):
		case isCall && g.result > 0:
			texts = append(texts, v.textsGiven(v.results(g.in, call, g.result), depth+1)...)
		default:
			texts = append(texts, v.texts(g.expression, depth+1)...)
		}
	}
	if texts = withoutDuplicates(texts); len(texts) == 0 || len(texts) > maxTexts {
		return []text{{notKnown, plan.Place{}}}
	}
	return texts
}

// textsOfCall returns what a call returns.
func (v *values) textsOfCall(in *unit, call *ast.CallExpr, depth int) []text {
	fun := syntax.Called(call)
	name, args := syntax.LastName(fun), call.Args
	next := func(e ast.Expr) []text { return v.texts(expression{in, e}, depth+1) }
	variable := ""
	if len(args) > 0 && asksForEnv.MatchString(syntax.Name(fun)) {
		if s := next(args[0]); len(s) > 0 && variableName.MatchString(s[0].s) {
			variable = "${" + s[0].s + "}"
		}
	}
	isFlag := flag.MatchString(name) && in.PathOf(fun) != "" && len(args) > 2
	switch {
	case variable != "" && len(args) > 1:
		return append(next(args[len(args)-1]), text{variable, in.place(call)})
	case variable != "":
		return []text{{variable, in.place(call)}}
	case name == "Sprintf" && len(args) > 0:
		return formatted(next(args[0]), args[1:], next)
	case name == "JoinHostPort" && len(args) == 2:
		return joined(joined(next(args[0]), []text{{":", plan.Place{}}}), next(args[1]))
	case name == "ResolveTCPAddr" && len(args) == 2:
		return next(args[1])
	case name == "Or" && path.Base(in.PathOf(fun)) == "cmp":
		var all []text
		for _, arg := range args[:min(len(args), maxTexts)] {
			all = append(all, next(arg)...)
		}
		return withoutDuplicates(all)
	case isFlag:
		at := 1
		if strings.HasSuffix(name, "P") {
			at++
		}
		return append(next(args[at]), text{givenByOption, in.place(call)})
	case getsOption.MatchString(name) && len(args) == 1 && v.optionOf(next(args[0])) != nil:
		return v.textsOfName(option(next(args[0])[0].s), v.optionOf(next(args[0])), depth)
	case v.results(in, call, 0) != nil:
		return v.textsGiven(v.results(in, call, 0), depth)
	case passesOn.MatchString(name) && len(args) > 0:
		return next(args[0])
	case passesOn.MatchString(name):
		if method, ok := fun.(*ast.SelectorExpr); ok {
			return next(method.X)
		}
	}
	return []text{{notKnown, in.place(call)}}
}

// verb is one of a format.
var verb = lazyregexp.New(`%[+]?[dsvq]`)

// formatted returns what a format makes of its arguments.
func formatted(formats []text, args []ast.Expr, next func(ast.Expr) []text) []text {
	if len(formats) != 1 {
		return []text{{notKnown, plan.Place{}}}
	}
	parts := verb.Split(formats[0].s, -1)
	if len(parts) != len(args)+1 {
		return []text{{notKnown, plan.Place{}}}
	}
	all := []text{{parts[0], formats[0].at}}
	for i, arg := range args {
		all = joined(joined(all, next(arg)), []text{{parts[i+1], plan.Place{}}})
	}
	return all
}

// joined returns all texts that one and another one are together.
func joined(all, others []text) []text {
	var both []text
	for _, a := range all {
		for _, b := range others {
			at := b.at
			if b.s == "" || at == (plan.Place{}) {
				at = a.at
			}
			if len(a.s)+len(b.s) > maxText {
				return []text{{notKnown, plan.Place{}}}
			}
			both = append(both, text{a.s + b.s, at})
		}
	}
	if both = withoutDuplicates(both); len(both) > maxTexts {
		return []text{{notKnown, plan.Place{}}}
	}
	return both
}

func withoutDuplicates(all []text) []text {
	var kept []text
	for _, t := range all {
		if !slices.ContainsFunc(kept, func(k text) bool { return k.s == t.s }) {
			kept = append(kept, t)
		}
	}
	return kept
}
