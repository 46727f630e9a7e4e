package values

import (
	"go/ast"
	"go/token"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/language/golang/syntax"
	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

// flagTypes are the types that functions of packages such as flag are named for: Int, IntP, IntVar, IntVarP.
var flagTypes = map[string]bool{
	"String": true, "Bool": true, "Int": true, "Int16": true, "Int32": true, "Int64": true, "Uint": true,
	"Uint16": true, "Uint32": true, "Uint64": true, "IP": true, "Text": true,
	"StringSlice": true, "StringArray": true, "IPSlice": true,
}

// fileSources are the packages of kratos and of what is made after it whose NewSource loads a file of settings, or each
// file in a folder (https://go-kratos.dev/docs/component/config).
var fileSources = source.Exactly(`.*/config/file`)

// declareFlag adds the default that a call gives to a flag or to a setting: those of flag, pflag, cobra, kingpin and
// viper.
func (s *Sources) declareFlag(f *Source, call *ast.CallExpr, name string) {
	args := call.Args
	at := func(e ast.Expr) expression { return expression{Expr: e, in: f} }
	switch named, isDefinition := defaultIndex(name, len(args)); {
	case name == "SetConfigName" && len(args) == 1:
		s.calculated = append(s.calculated, at(args[0]))
	case name == "NewSource" && len(args) == 1 && f.Imports.AnyMatches(fileSources):
		s.folders = append(s.folders, at(args[0]))
	case name == "SetDefault" && len(args) == 2, name == "BindPFlag" && len(args) == 2:
		s.defaults = append(s.defaults, namedDefault{name: at(args[0]), value: at(args[1]), isSetting: true})
	case isDefinition:
		d := namedDefault{value: at(args[named])}
		if strings.Contains(name, "Var") {
			d.pointer, args, named = args[0], args[1:], named-1
		}
		if d.name = at(args[0]); named == 2 {
			d.short = args[1]
		}
		s.defaults = append(s.defaults, d)
	case name == "Var" && len(args) == 3:
		s.declareFlagValue(at(args[1]), at(args[0]))
	case flagTypes[strings.TrimSuffix(name, "Var")] && len(args) == 1:
		switch chained := chainedFlag(call); {
		case chained.value == nil:
		case chained.name != nil && chained.variable != nil:
			s.defaults = append(s.defaults, namedDefault{
				name: at(chained.name), value: at(chained.value), pointer: args[0], variable: chained.variable,
			})
		default:
			s.assignPointer(args[0], expression{Expr: chained.value, in: f, setting: chained.setting()})
		}
	}
}

// declareFlagValue adds the default of a flag with a type of its own, which its constructor is given, and the variable
// that it may be given too: Var(newURLs(":50051", &urls), "urls", ""). A variable may have a default itself:
// Var(&urls, "urls", "").
func (s *Sources) declareFlagValue(name, of expression) {
	args := []ast.Expr{of.Expr}
	if call, ok := ast.Unparen(of.Expr).(*ast.CallExpr); ok {
		args = call.Args
	}
	d := namedDefault{name: name, value: of.with(of.Expr)}
	d.value.constant, d.value.gets = &value{}, sometimes // the variable has its own default
	for _, arg := range args[:min(len(args), 2)] {
		switch {
		case isAddress(arg) && d.pointer == nil:
			d.pointer = arg
		case len(args) > 1 || !isAddress(arg):
			d.value = of.with(arg)
		}
	}
	s.defaults = append(s.defaults, d)
}

// defaultIndex returns which argument is the default of a flag, and whether a function of a name defines one with so
// many arguments: Int(name, default, usage), IntVar(&variable, name, default, usage), and with a short name after the
// name IntP and IntVarP.
func defaultIndex(function string, arguments int) (at int, ok bool) {
	if flagTypes[function] { // IP too, whose last letter does not stand for a short name
		return 1, arguments == 3
	}
	base, isShort := strings.CutSuffix(function, "P")
	base, isVar := strings.CutSuffix(base, "Var")
	at = 1
	if isShort {
		at++
	}
	if isVar {
		at++
	}
	return at, flagTypes[base] && arguments == at+2
}

// namedDefault is the default of a flag or of a setting. Its name may be a constant of another file.
type namedDefault struct {
	name, value expression // without a name, the value is a map of settings
	pointer     ast.Expr   // to the variable that gets the flag's value, or nil
	short       ast.Expr   // the flag's short name, or nil
	variable    ast.Expr   // the name of the environment variable that the flag has its value from, or nil
	isSetting   bool
}

// nameDefaults adds the defaults by their names, after the last file was added.
func (s *Sources) nameDefaults() {
	for _, d := range s.defaults {
		s.begin()
		if d.isSetting {
			s.addDefault(d)
			continue
		}
		name, ok := s.text(d.name, 0)
		d.value.setting = s.flagOrVariable(d.name, 0)
		if short, isShort := syntax.StringLiteral(d.short); ok && isShort {
			s.short[name] = short
		}
		if _, isGiven := s.given(d.value.setting, d.value.in); !isGiven && d.variable != nil {
			variable, ok := s.text(d.name.with(d.variable), 0)
			if ok && variableName.MatchString(variable) {
				d.value.setting = "$" + variable
			}
		}
		if ok {
			s.flags[name] = append(s.flags[name], d.value)
		}
		if d.pointer != nil {
			if _, isGiven := s.given(d.value.setting, d.value.in); isGiven {
				d.value.gets = instead
			} else if isPointerTo(d.pointer, d.value.Expr) { // what the variable has is the default
				d.value.constant = &value{}
			}
			s.assignPointer(d.pointer, d.value)
		}
	}
	s.defaults = nil
	s.assignPointed()
}

// longFlags are packages whose flags begin with two dashes; those of the standard library begin with one.
var longFlags = source.Exactly(
	`github\.com/spf13/(?:pflag|cobra)|.*/kingpin(?:[./]v\d+)?|github\.com/urfave/cli(?:/v\d+)?`)

// flag returns what a flag replaces, as [value] has it.
func (s *Sources) flag(name expression, nesting int) string {
	text, ok := s.text(name, nesting)
	switch {
	case !ok || text == "":
		return "a flag"
	case name.in.Imports.Has("flag") && !name.in.Imports.AnyMatches(longFlags):
		return "flag -" + text
	default:
		return "flag --" + text
	}
}

// declareFlagLiteral adds the default of a flag of urfave/cli: &cli.IntFlag{Name: "port", Value: 50051}.
func (s *Sources) declareFlagLiteral(f *Source, literal *ast.CompositeLit) {
	name := syntax.Element(literal, "Name")
	if name == nil {
		return
	}
	x := expression{Expr: syntax.Element(literal, "Value"), in: f}
	if x.Expr == nil {
		x.Expr, x.constant = literal, &value{}
	}
	d := namedDefault{
		name: expression{Expr: name, in: f}, value: x, pointer: syntax.Element(literal, "Destination"),
		variable: flagVariable(literal),
	}
	if aliases, ok := syntax.Element(literal, "Aliases").(*ast.CompositeLit); ok && len(aliases.Elts) == 1 {
		d.short = aliases.Elts[0]
	}
	s.defaults = append(s.defaults, d)
}

// flagVariable returns the name of the one environment variable that a flag of urfave/cli has its value from, or nil:
// EnvVar: "PORT" in v1, EnvVars: []string{"PORT"} in v2, Sources: cli.EnvVars("PORT") in v3. Of a chain of sources it
// is the first one.
func flagVariable(literal *ast.CompositeLit) ast.Expr {
	if names, ok := syntax.Element(literal, "EnvVars").(*ast.CompositeLit); ok && len(names.Elts) == 1 {
		return names.Elts[0]
	}
	call, ok := syntax.Element(literal, "Sources").(*ast.CallExpr)
	if ok && syntax.LastName(call.Fun) == "NewValueSourceChain" && len(call.Args) > 0 {
		call, ok = call.Args[0].(*ast.CallExpr)
	}
	if ok && len(call.Args) == 1 && (syntax.LastName(call.Fun) == "EnvVars" || syntax.LastName(call.Fun) == "EnvVar") {
		return call.Args[0]
	}
	return syntax.Element(literal, "EnvVar")
}

// assignPointer adds that the variable gets a value whose address an expression is.
func (s *Sources) assignPointer(pointer ast.Expr, value expression) {
	if address, ok := ast.Unparen(pointer).(*ast.UnaryExpr); ok && address.Op == token.AND {
		s.assign(value.in, address.X, value)
	}
}

// isPointerTo reports whether an expression is the address of a variable or a field, as far as names tell.
func isPointerTo(pointer, variable ast.Expr) bool {
	address, ok := ast.Unparen(pointer).(*ast.UnaryExpr)
	return ok && address.Op == token.AND && isSameVariable(address.X, variable, 0)
}

// chained is a setting that a chain of calls defines, with its default: a flag of kingpin, as Flag("port",
// "").Default("50051").Int(), or an environment variable, as Var("PORT").Default("50051").String().
type chained struct{ name, variable, value ast.Expr }

// setting returns what may replace the default, as [value] has it.
func (c chained) setting() string {
	if c.name == nil && c.variable != nil {
		if name, ok := syntax.StringLiteral(c.variable); ok && variableName.MatchString(name) {
			return "$" + name
		}
		return someVariable
	}
	if name, ok := syntax.StringLiteral(c.name); ok {
		return "flag --" + name
	}
	return "a flag"
}

// chainedFlag returns the setting that a chain of calls defines whose last one is given. It has no value if it has no
// default.
func chainedFlag(call *ast.CallExpr) chained {
	var flag chained
	for range maxNesting {
		method, ok := call.Fun.(*ast.SelectorExpr)
		if !ok {
			break
		}
		if call, ok = method.X.(*ast.CallExpr); !ok {
			break
		}
		switch name := syntax.LastName(call.Fun); {
		case len(call.Args) == 0:
		case name == "Default" && len(call.Args) == 1:
			flag.value = call.Args[0]
		case name == "Flag":
			flag.name = call.Args[0]
		case namesVariable.MatchString(name):
			flag.variable = call.Args[0]
		}
	}
	return flag
}

// namesVariable is the name of a function in such a chain that is given the name of an environment variable: Envar and
// OverrideDefaultFromEnvar of kingpin, and those of packages for the environment alone.
var namesVariable = lazyregexp.New(`(?i)env|^Var(?:iable)?$`)
