package golang

import (
	"go/ast"
	"go/token"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/language/golang/syntax"
	"github.com/grpc-cnb/health-probe/detect/source"
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
	structs   map[string][]string     // the names of the fields of structs, in order
	declared  map[string]int          // how many structs have a field of a name
	flags     []expression            // the literals of flags of urfave/cli
	// parameters are the names of functions and the positions, by the variables that parameters are.
	parameters map[any]parameter
	active     map[any]bool // the names that are followed
	left       int          // how many expressions may still be followed
}

// unit is a source file.
type unit struct {
	*syntax.File
	path string
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
	// isOption says that the command line or the environment may give another value, and isDefault that what declares
	// the option states this one.
	isOption, isDefault bool
}

// pointed is the result of a [given] that is no value, but a pointer that is taken: what has it may assign the name.
const pointed = -1

// function is one of the package, with what it returns.
type function struct {
	*ast.FuncDecl
	in      *unit
	returns []*ast.ReturnStmt
}

type parameter struct {
	of string
	at int
}

const (
	// maxGiven is how many values of one name are followed, and maxFollowed how many expressions of one package.
	maxGiven    = 16
	maxFollowed = 20_000
	maxDepth    = 24
	// maxCalls is how many calls of one function are looked at.
	maxCalls = 64
)

func newValues(units []*unit) *values {
	v := &values{
		given: map[any][]given{}, functions: map[string][]function{}, calls: map[string][]expression{},
		fields: map[string]*ast.Field{}, structs: map[string][]string{}, declared: map[string]int{},
		parameters: map[any]parameter{}, active: map[any]bool{}, left: maxFollowed,
	}
	for _, u := range units {
		for _, d := range u.Decls {
			v.declare(u, d)
		}
	}
	for _, u := range units {
		ast.Inspect(u.File.File, func(n ast.Node) bool { v.read(u, n); return true })
	}
	for name, all := range v.calls {
		for _, c := range all {
			if call, ok := c.Expr.(*ast.CallExpr); ok {
				v.readFlag(c.in, call, name)
			}
		}
	}
	for _, x := range v.flags {
		literal, _ := x.Expr.(*ast.CompositeLit)
		g := given{expression: expression{x.in, syntax.Element(literal, "Value")}, isOption: true, isDefault: true}
		if to, ok := syntax.Element(literal, "Destination").(*ast.UnaryExpr); ok {
			v.add(v.key(x.in, to.X), g)
		}
		v.addOption(expression{x.in, syntax.Element(literal, "Name")}, g)
	}
	return v
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
	case *ast.CompositeLit:
		return typeName(e.Type)
	case *ast.SelectorExpr:
		if field := v.fields[v.typeOf(in, e.X, depth+1)+"."+e.Sel.Name]; field != nil {
			return typeName(field.Type)
		}
	case *ast.CallExpr:
		name := syntax.Name(e.Fun)
		switch all := v.functions[name]; {
		case name == "new" && len(e.Args) == 1:
			return typeName(e.Args[0])
		case in.PathOf(syntax.Called(e)) != "":
			return name + "()" // of another package
		case len(all) == 1 && all[0].Type.Results != nil:
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
			if len(d.Rhs) == 1 && syntax.Name(d.Lhs[0]) == e.Name {
				return v.typeOf(in, d.Rhs[0], depth+1)
			}
		}
		if value := syntax.InitialValue(e); value != e {
			return v.typeOf(in, value, depth+1)
		}
	}
	return ""
}

// give adds what a name is given, nil for what is not known.
func (v *values) give(in *unit, to, value ast.Expr, g given) {
	g.expression = expression{in, value}
	v.add(v.key(in, to), g)
}

func (v *values) add(key any, g given) {
	if name, ok := key.(string); ok {
		if at := strings.IndexByte(name, '.'); at > 0 {
			v.add(name[at:], g) // the field of what has a type that is not known
		}
		if field := v.fields[name]; field != nil && field.Tag != nil {
			g.isOption = true // what reads the tag may fill the field
		}
	}
	if key != nil && len(v.given[key]) <= maxGiven {
		v.given[key] = append(v.given[key], g)
	}
}

// declare reads what a declaration of the package declares.
func (v *values) declare(in *unit, d ast.Decl) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		fn, at := function{FuncDecl: d, in: in}, 0
		for _, field := range d.Type.Params.List {
			for _, name := range field.Names {
				v.parameters[in.Variable(name)] = parameter{d.Name.Name, at}
				at++
			}
		}
		ast.Inspect(d, func(n ast.Node) bool {
			if r, ok := n.(*ast.ReturnStmt); ok && len(fn.returns) <= maxGiven {
				fn.returns = append(fn.returns, r)
			}
			_, isOther := n.(*ast.FuncLit)
			return !isOther
		})
		v.functions[d.Name.Name] = append(v.functions[d.Name.Name], fn)
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			if t, ok := spec.(*ast.TypeSpec); ok {
				v.declareFields(in, t.Name.Name, t.Type)
			}
		}
	}
}

// defaultTags are the keys of tags with a default.
var defaultTags = []string{"default", "envDefault", "env-default"}

// declareFields reads the fields of a struct, with the defaults in their tags.
func (v *values) declareFields(in *unit, name string, t ast.Expr) {
	of, ok := t.(*ast.StructType)
	if !ok {
		return
	}
	for _, f := range of.Fields.List {
		v.declareFields(in, "", f.Type)
		var value ast.Expr
		if f.Tag != nil {
			tag, _ := syntax.StringLiteral(f.Tag)
			for _, key := range defaultTags {
				if text := reflect.StructTag(tag).Get(key); text != "" {
					value = &ast.BasicLit{ValuePos: f.Tag.Pos(), Kind: token.STRING, Value: strconv.Quote(text)}
				}
			}
		}
		if f.Names == nil { // embedded
			v.structs[name] = append(v.structs[name], syntax.LastName(f.Type))
		}
		for _, field := range f.Names {
			v.fields[name+"."+field.Name] = f
			v.structs[name] = append(v.structs[name], field.Name)
			v.declared[field.Name]++
			if value != nil {
				v.add(name+"."+field.Name, given{expression: expression{in, value}, isOption: true, isDefault: true})
			}
		}
	}
}

// read reads what a node gives to names.
func (v *values) read(in *unit, n ast.Node) {
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
				v.give(in, to, nil, given{})
			}
		}
	case *ast.IncDecStmt:
		v.give(in, n.X, nil, given{})
	case *ast.RangeStmt:
		list, _ := syntax.InitialValue(n.X).(*ast.CompositeLit)
		if list == nil {
			v.give(in, n.Value, nil, given{})
			return
		}
		for _, e := range list.Elts[:min(len(list.Elts), maxGiven)] {
			v.give(in, n.Value, e, given{})
		}
	case *ast.CompositeLit:
		name := typeName(n.Type)
		if strings.HasSuffix(name, "Flag") {
			v.flags = append(v.flags, expression{in, n})
		}
		for i, e := range n.Elts {
			if field, ok := e.(*ast.KeyValueExpr); ok {
				v.add(name+"."+syntax.Name(field.Key), given{expression: expression{in, field.Value}})
			} else if of := v.structs[name]; i < len(of) {
				v.add(name+"."+of[i], given{expression: expression{in, e}})
			}
		}
	case *ast.CallExpr:
		name := syntax.LastName(syntax.Called(n))
		v.calls[name] = append(v.calls[name], expression{in, n})
	case *ast.UnaryExpr:
		if n.Op == token.AND {
			v.give(in, n.X, n, given{result: pointed})
		}
	}
}

func (v *values) assign(in *unit, to ast.Expr, at, of int, from []ast.Expr) {
	switch {
	case len(from) == of:
		v.give(in, to, from[at], given{})
	case len(from) == 1:
		v.give(in, to, from[0], given{result: at})
	}
}

// option is the key of an option of the command line, or of a setting.
type option string

// flag is a function of the packages flag and pflag, and of all that are made after them, or of viper: with a pointer
// to what it gives, and with a short name.
var flag = source.Exactly(`(?:Int|Uint|String|TextVar|SetDefault)(?:8|16|32|64)?(Var)?(P)?`)

// readFlag reads what a flag, or the default of a setting, gives: flag.IntVar(&port, "port", 50051, "").
func (v *values) readFlag(in *unit, call *ast.CallExpr, name string) {
	m := flag.FindStringSubmatch(name)
	if m == nil {
		return
	}
	at := len(m[1]) / len("Var")
	value := at + 1 + len(m[2])
	if value >= len(call.Args) {
		return
	}
	g := given{expression: expression{in, call.Args[value]}, isOption: true, isDefault: true}
	if to, ok := call.Args[0].(*ast.UnaryExpr); ok && at > 0 {
		v.add(v.key(in, to.X), g)
	}
	v.addOption(expression{in, call.Args[at]}, g)
}

func (v *values) addOption(name expression, g given) {
	for _, t := range v.texts(name, 0) {
		v.add(option(t.s), g)
	}
}

// valuesOf returns what a name is given, nil for what is no name or not known.
func (v *values) valuesOf(x expression) []given {
	key := v.key(x.in, x.Expr)
	all := v.given[key]
	switch s, isField := ast.Unparen(x.Expr).(*ast.SelectorExpr); {
	case isField && v.declared[s.Sel.Name] > 1 && v.typeOf(x.in, s.X, 0) == "":
		return nil // it is not known of which struct
	case isField && v.mayBeFilled(x.in, key):
		return append(slices.Clone(all), given{expression: expression{x.in, nil}})
	}
	if p, ok := v.parameters[key]; ok {
		return append(slices.Clone(all), v.arguments(x.in, p)...)
	}
	return all
}

// mayBeFilled reports whether another package may give a field its value, and the package does not state a default.
func (v *values) mayBeFilled(in *unit, key any) bool {
	name, _ := key.(string)
	of, field, _ := strings.Cut(name, ".")
	return v.fields[name] != nil && in.Name.Name != "main" && ast.IsExported(of) && ast.IsExported(field) &&
		!slices.ContainsFunc(v.given[name], func(g given) bool { return g.isDefault })
}

// arguments returns what the calls in the package give to a parameter.
func (v *values) arguments(in *unit, p parameter) []given {
	if len(v.functions[p.of]) > 1 { // which one is called is not known
		return nil
	}
	var all []given
	for _, c := range v.calls[p.of][:min(len(v.calls[p.of]), maxCalls)] {
		if call, ok := c.Expr.(*ast.CallExpr); ok && p.at < len(call.Args) && c.in.PathOf(syntax.Called(call)) == "" {
			all = append(all, given{expression: expression{c.in, call.Args[p.at]}})
		}
	}
	if ast.IsExported(p.of) && in.Name.Name != "main" {
		all = append(all, given{expression: expression{in, nil}})
	}
	return all
}

// results returns what a call of a function of the package returns, nil for another call.
func (v *values) results(in *unit, call *ast.CallExpr, at int) []given {
	fun := syntax.Called(call)
	all := v.functions[syntax.LastName(fun)]
	if len(all) != 1 || in.PathOf(fun) != "" {
		return nil
	}
	var returned []given
	for _, r := range all[0].returns {
		switch {
		case len(r.Results) > at:
			returned = append(returned, given{expression: expression{all[0].in, r.Results[at]}})
		case len(r.Results) == 1:
			returned = append(returned, given{expression: expression{all[0].in, r.Results[0]}, result: at})
		}
	}
	return returned
}

// sources calls do with all that an expression may be, by the names of the package: calls of others, literals.
func (v *values) sources(x expression, result int, seen map[ast.Expr]bool, do func(x expression)) {
	if v.left--; v.left < 0 || x.Expr == nil || seen[x.Expr] || result == pointed {
		return
	}
	seen[x.Expr] = true
	do(x)
	var all []given
	switch e := ast.Unparen(x.Expr).(type) {
	case *ast.Ident, *ast.SelectorExpr, *ast.StarExpr:
		all = v.valuesOf(x)
	case *ast.UnaryExpr:
		all = []given{{expression: expression{x.in, e.X}}}
	case *ast.CallExpr:
		all = v.results(x.in, e, result)
	}
	for _, g := range all {
		v.sources(g.expression, g.result, seen, do)
	}
}
