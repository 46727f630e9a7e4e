package values

import (
	"go/ast"
	"go/token"
	"path"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/language/golang/syntax"
)

// declare collects what a file declares, assigns, calls and makes.
func (s *Sources) declare(f *Source) {
	for _, d := range f.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok {
			s.declareFunction(&function{decl: fn, in: f})
		}
	}
	ast.Inspect(f.File.File, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ValueSpec:
			s.declareVariables(f, n)
		case *ast.TypeSpec:
			if f.Local(n.Name) == nil {
				s.types[symbol{f.dir, n.Name.Name}] = typeOfApp{Expr: n.Type, in: f}
			}
		case *ast.AssignStmt:
			if n.Tok == token.ASSIGN || n.Tok == token.DEFINE {
				s.assignAll(f, n.Lhs, n.Rhs)
			}
		case *ast.BasicLit:
			if text, ok := syntax.StringLiteral(n); ok && SettingsFile.MatchString(path.Base(text)) {
				s.named[path.Base(text)] = true
			}
		case *ast.CallExpr:
			fun := syntax.Called(n)
			callee := s.calleeName(f, fun)
			s.calls[callee] = append(s.calls[callee], expression{Expr: n, in: f})
			s.declareFlag(f, n, syntax.LastName(fun))
		case *ast.CompositeLit:
			if of := s.symbolOf(typeOfApp{n.Type, f}); of.name != "" {
				s.literals[of] = append(s.literals[of], expression{Expr: n, in: f})
			}
			if strings.HasSuffix(syntax.LastName(n.Type), "Flag") {
				s.declareFlagLiteral(f, n)
			}
		}
		return true
	})
}

// calleeName returns the name of the function that an expression calls. A method has no directory: its type is known
// later.
func (s *Sources) calleeName(f *Source, fun ast.Expr) symbol {
	if name, ok := fun.(*ast.Ident); ok {
		return symbol{f.dir, name.Name}
	}
	dir, _ := s.lookup(f.PathOf(fun))
	return symbol{dir, syntax.LastName(fun)}
}

func (s *Sources) declareFunction(fn *function) {
	name := fn.decl.Name.Name
	if fn.decl.Recv != nil && len(fn.decl.Recv.List) == 1 {
		name = syntax.LastName(fn.decl.Recv.List[0].Type) + "." + name
	}
	s.functions[symbol{fn.in.dir, name}] = fn
	for _, field := range fn.decl.Type.Params.List {
		s.parameters[field] = fn
	}
}

func (s *Sources) declareVariables(f *Source, spec *ast.ValueSpec) {
	names := make([]ast.Expr, len(spec.Names))
	for i, name := range spec.Names {
		names[i] = name
		if spec.Type != nil && f.Local(name) == nil {
			s.types[symbol{f.dir, name.Name}] = typeOfApp{Expr: spec.Type, in: f}
		}
	}
	s.assignAll(f, names, spec.Values)
}

// assignAll adds what the left side of an assignment or a declaration gets.
func (s *Sources) assignAll(f *Source, lhs, rhs []ast.Expr) {
	for i, l := range lhs {
		switch {
		case len(lhs) == len(rhs):
			s.assign(f, l, expression{Expr: rhs[i], in: f})
		case len(rhs) == 1:
			s.assign(f, l, expression{Expr: rhs[0], in: f, result: i})
		}
	}
}

// assign adds that a variable or a field gets a value.
func (s *Sources) assign(f *Source, to ast.Expr, value expression) {
	switch to := ast.Unparen(to).(type) {
	case *ast.Ident:
		if local := f.Local(to); local != nil {
			s.locals[local] = append(s.locals[local], value)
		} else {
			s.values[symbol{f.dir, to.Name}] = append(s.values[symbol{f.dir, to.Name}], value)
		}
	case *ast.SelectorExpr:
		if dir, ok := s.lookup(f.PathOf(to)); ok {
			s.values[symbol{dir, to.Sel.Name}] = append(s.values[symbol{dir, to.Sel.Name}], value)
		} else {
			s.fields[to.Sel.Name] = append(s.fields[to.Sel.Name], assignment{to, value})
		}
	case *ast.StarExpr:
		s.assign(f, to.X, value)
	}
}

// flagTypes are the types that functions of packages such as flag are named for: Int, IntP, IntVar, IntVarP.
var flagTypes = map[string]bool{
	"String": true, "Int": true, "Int16": true, "Int32": true, "Int64": true, "Uint": true, "Uint16": true,
	"Uint32": true, "Uint64": true,
}

// declareFlag adds the default that a call gives to a flag or to a setting: those of flag, pflag, cobra, kingpin and
// viper.
func (s *Sources) declareFlag(f *Source, call *ast.CallExpr, name string) {
	args := call.Args
	at := func(e ast.Expr) expression { return expression{Expr: e, in: f} }
	switch named, isDefinition := defaultIndex(name, len(args)); {
	case name == "SetConfigName" && len(args) == 1:
		if file, ok := syntax.StringLiteral(args[0]); ok {
			s.named[file] = true
		}
	case name == "SetDefault" && len(args) == 2, name == "BindPFlag" && len(args) == 2:
		if key, ok := syntax.StringLiteral(args[0]); ok {
			key = strings.ToLower(key)
			s.settings[key] = append(s.settings[key], at(args[1]))
		}
	case isDefinition && strings.Contains(name, "Var"):
		s.assignPointer(f, args[0], at(args[named]))
		s.addFlag(args[1], at(args[named]))
	case isDefinition:
		s.addFlag(args[0], at(args[named]))
	case flagTypes[strings.TrimSuffix(name, "Var")] && len(args) == 1:
		if value := chainedDefault(call); value != nil {
			s.assignPointer(f, args[0], at(value))
		}
	}
}

// defaultIndex returns which argument is the default of a flag, and whether a function of a name defines one with so
// many arguments: Int(name, default, usage), IntVar(&variable, name, default, usage), and with a short name behind the
// name IntP and IntVarP.
func defaultIndex(function string, arguments int) (at int, ok bool) {
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

func (s *Sources) addFlag(name ast.Expr, value expression) {
	if name, ok := syntax.StringLiteral(name); ok {
		s.flags[name] = append(s.flags[name], value)
	}
}

// declareFlagLiteral adds the default of a flag of urfave/cli: &cli.IntFlag{Name: "port", Value: 50051}.
func (s *Sources) declareFlagLiteral(f *Source, literal *ast.CompositeLit) {
	value := syntax.Element(literal, "Value")
	if value == nil {
		return
	}
	x := expression{Expr: value, in: f}
	if name := syntax.Element(literal, "Name"); name != nil {
		s.addFlag(name, x)
	}
	if destination := syntax.Element(literal, "Destination"); destination != nil {
		s.assignPointer(f, destination, x)
	}
}

// assignPointer adds that the variable gets a value whose address an expression is.
func (s *Sources) assignPointer(f *Source, pointer ast.Expr, value expression) {
	if address, ok := ast.Unparen(pointer).(*ast.UnaryExpr); ok && address.Op == token.AND {
		s.assign(f, address.X, value)
	}
}

// chainedDefault returns the default in kingpin's Flag("port", "").Default("50051").Int(), or nil.
func chainedDefault(call *ast.CallExpr) ast.Expr {
	for range maxNesting {
		method, ok := call.Fun.(*ast.SelectorExpr)
		if !ok {
			return nil
		}
		if call, ok = method.X.(*ast.CallExpr); !ok {
			return nil
		}
		if syntax.LastName(call.Fun) == "Default" && len(call.Args) == 1 {
			return call.Args[0]
		}
	}
	return nil
}
