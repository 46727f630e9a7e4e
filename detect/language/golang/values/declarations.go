package values

import (
	"go/ast"
	"go/token"
	"path"
	"slices"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/language/golang/syntax"
)

// declare collects what a file declares, assigns, calls and makes.
func (s *Sources) declare(f *Source) {
	for _, d := range f.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok {
			declared := &function{decl: fn, in: f}
			s.declareFunction(declared)
			f.declareOption(declared)
		}
	}
	ast.Inspect(f.File.File, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.IfStmt:
			f.branches = append(f.branches, f.branchesOfIf(n)...)
			f.declareFallbacks(n)
			f.declareSystems(n)
		case *ast.SwitchStmt:
			f.declareCasesOfSystem(n)
			f.branches = append(f.branches, f.branchesOfSwitch(n)...)
		case *ast.ValueSpec:
			s.declareVariables(f, n)
		case *ast.TypeSpec:
			if f.Local(n.Name) == nil {
				s.types[symbol{f.dir, n.Name.Name}] = typeOfApp{Expr: n.Type, in: f}
			}
		case *ast.AssignStmt:
			if n.Tok == token.ASSIGN || n.Tok == token.DEFINE {
				s.assignAll(f, n.Lhs, n.Rhs, true)
			} else if len(n.Lhs) == 1 && len(n.Rhs) == 1 {
				s.change(f, n.Lhs[0], &ast.BinaryExpr{X: n.Lhs[0], OpPos: n.TokPos, Op: operators[n.Tok], Y: n.Rhs[0]})
			}
		case *ast.IncDecStmt:
			s.change(f, n.X, &ast.UnaryExpr{OpPos: n.Pos(), Op: n.Tok, X: n.X})
		case *ast.BasicLit:
			if text, ok := syntax.StringLiteral(n); ok && namesSettings(text) {
				s.named[path.Base(text)] = true
			}
		case *ast.CallExpr:
			s.declareCall(f, n)
		case *ast.CompositeLit:
			s.declareLiteral(f, n)
			if strings.HasSuffix(syntax.LastName(n.Type), "Flag") {
				s.declareFlagLiteral(f, n)
			}
			s.declarePrefix(f, n)
		}
		return true
	})
}

// declareLiteral collects a composite literal, and those among its elements that have no type of their own.
func (s *Sources) declareLiteral(f *Source, literal *ast.CompositeLit) {
	t := typeOfApp{literal.Type, f}
	if of := s.symbolOf(t); of.name != "" {
		s.literals[of] = append(s.literals[of], expression{Expr: literal, in: f})
	}
	elements := elementOf(t)
	of := s.symbolOf(elements)
	if of.name == "" {
		return
	}
	for _, e := range literal.Elts[:min(len(literal.Elts), maxElements)] {
		if pair, ok := e.(*ast.KeyValueExpr); ok {
			e = pair.Value
		}
		if untyped, ok := e.(*ast.CompositeLit); ok && untyped.Type == nil {
			typed := *untyped
			typed.Type = elements.Expr
			s.literals[of] = append(s.literals[of], expression{Expr: &typed, in: f})
		}
	}
}

// declareCall collects a call, and the flags and settings that it declares.
func (s *Sources) declareCall(f *Source, n *ast.CallExpr) {
	fun := syntax.Called(n)
	callee := s.calleeName(f, fun)
	s.calls[callee] = append(s.calls[callee], expression{Expr: n, in: f})
	s.declareCallback(f, n, fun, -1)
	for i, arg := range n.Args {
		s.declareCallback(f, n, arg, i)
		s.declarePassed(f, arg)
	}
	if slices.ContainsFunc(n.Args, isAddress) {
		s.pointed = append(s.pointed, pointed{callee, expression{Expr: n, in: f}})
	}
	s.declareFlag(f, n, syntax.LastName(fun))
	s.declareMap(f, n)
	s.declareScanned(f, n)
	s.declareProcessed(f, n)
	s.declareFlagPrefix(f, n)
	if f.Imports.AnyMatches(settingsLibrary) {
		s.declareBinding(f, n, syntax.LastName(fun))
	}
}

// declareCallback adds a function that is written as an argument of a call, or as what it calls.
func (s *Sources) declareCallback(f *Source, call *ast.CallExpr, e ast.Expr, at int) {
	if literal, ok := e.(*ast.FuncLit); ok {
		for _, field := range literal.Type.Params.List {
			s.callbacks[field] = callback{expression{Expr: call, in: f}, literal, at}
		}
	}
}

// declarePassed adds what a call is passed that may be a function of the app.
func (s *Sources) declarePassed(f *Source, arg ast.Expr) {
	switch e := arg.(type) {
	case *ast.Ident:
		if f.Local(e) != nil {
			return
		}
	case *ast.SelectorExpr:
	default:
		return
	}
	name := s.calleeName(f, arg)
	as := &ast.CallExpr{Fun: arg, Lparen: arg.End(), Rparen: arg.End()}
	s.passed[name] = append(s.passed[name], expression{Expr: as, in: f})
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
		s.parameters[fn.decl.Recv.List[0]] = fn
	}
	s.functions[symbol{fn.in.dir, name}] = fn
	s.declareTaker(fn)
	for _, field := range fn.decl.Type.Params.List {
		s.parameters[field] = fn
	}
	if results := fn.decl.Type.Results; results != nil {
		for _, field := range results.List {
			s.results[field] = true
		}
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
	s.assignAll(f, names, spec.Values, false)
}

// assignAll adds what the left side of an assignment or a declaration gets.
func (s *Sources) assignAll(f *Source, lhs, rhs []ast.Expr, isStatement bool) {
	for i, l := range lhs {
		value := expression{in: f}
		switch {
		case len(lhs) == len(rhs):
			value.Expr = rhs[i]
		case len(rhs) == 1:
			value.Expr, value.result = rhs[0], i
		default:
			continue
		}
		if isStatement {
			value.gets = f.whenAssigned(value)
		}
		s.assign(f, l, value)
	}
}

// operators are those of the assignments whose value is followed: a += b.
var operators = map[token.Token]token.Token{token.ADD_ASSIGN: token.ADD}

// change adds that a statement gives a variable or a field a value that depends on the one before.
func (s *Sources) change(f *Source, to, changed ast.Expr) {
	s.assign(f, to, expression{Expr: changed, in: f, gets: f.whenAssigned(changed)})
}

// whenAssigned returns when a statement assigns a value.
func (f *Source) whenAssigned(value ast.Expr) when {
	switch {
	case f.InFunctionBody(value.Pos()):
		return always
	case f.fallbacks[value.Pos()]:
		return otherwise
	}
	return sometimes
}

// assign adds that a variable or a field gets a value.
func (s *Sources) assign(f *Source, to ast.Expr, value expression) {
	if f.isNever(to.Pos()) {
		return
	}
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
