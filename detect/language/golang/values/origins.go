package values

import (
	"go/ast"
	"go/token"
	"slices"

	"github.com/grpc-cnb/health-probe/detect/language/golang/syntax"
)

const (
	// maxNesting is how many declarations and operators are followed one into another: declarations may lead in a
	// circle.
	maxNesting = 24
	// maxEvaluated is how many expressions are evaluated for one port, and maxTotal for all ports of an app. Few real
	// ports need a hundredth of it; containerd's, of a method that many types have, needs more than a third.
	maxEvaluated = 10_000
	maxTotal     = 300_000
	// maxValues is how many values of one expression are looked at.
	maxValues = 16
)

// begin begins with the expressions of another port.
func (s *Sources) begin() {
	s.evaluated, s.executedBranches = 0, map[branchOfCall]truth{}
}

// spend counts the evaluation of an expression, and reports whether there were too many.
func (s *Sources) spend(nesting int) bool {
	s.evaluated++
	s.total++
	return nesting > maxNesting || s.evaluated > maxEvaluated || s.total > maxTotal
}

// maxOrigins is how many expressions are looked at that a value may come from. If there are more, nobody means one.
const maxOrigins = 64

// origins returns the expressions that the value of an expression comes from: what a variable is declared with and
// assigned, what a field gets, what a function of the app returns, what a parameter gets. It reports whether these are
// all: they are not if there are too many, or if others than the app decide.
func (s *Sources) origins(x expression, nesting int) ([]expression, bool) {
	from, ok := s.allOrigins(x, nesting)
	if len(from) > maxOrigins {
		return nil, false
	}
	return from, ok
}

func (s *Sources) allOrigins(x expression, nesting int) ([]expression, bool) {
	switch e := ast.Unparen(x.Expr).(type) {
	case *ast.StarExpr:
		return []expression{x.with(e.X)}, true
	case *ast.UnaryExpr:
		return []expression{x.with(e.X)}, e.Op == token.AND
	case *ast.Ident:
		if local := x.in.Local(e); local != nil {
			return s.originsOfLocal(x, local, e, nesting)
		}
		return s.originsOfGlobal(symbol{x.in.dir, e.Name})
	case *ast.SelectorExpr:
		if of, ok := ast.Unparen(e.X).(*ast.TypeAssertExpr); ok && syntax.LastName(of.Type) == "TCPAddr" {
			return nil, true // the port that a listener has got
		}
		importPath := x.in.PathOf(e)
		if dir, ok := s.lookup(importPath); ok {
			return s.originsOfGlobal(symbol{dir, e.Sel.Name})
		}
		if importPath != "" {
			return nil, false
		}
		return s.originsOfField(x, e, nesting)
	case *ast.CallExpr:
		if got := s.gotField(x, nesting); got.Expr != x.Expr {
			return s.origins(got, nesting+1)
		}
		fn := s.callee(x, nesting)
		if fn == nil {
			fn = s.implementation(x, nesting)
		}
		switch {
		case fn == nil, fn.decl.Body == nil:
		case x.result >= storedBy:
			return s.storedByCall(fn, x), true
		default:
			return s.returned(fn, x)
		}
	}
	return nil, false
}

func (s *Sources) originsOfGlobal(name symbol) ([]expression, bool) {
	from := s.ofProgram(s.values[name])
	_, isDeclared := s.types[name]
	return from, isDeclared || len(from) > 0
}

func (s *Sources) originsOfLocal(
	x expression, local *syntax.Declaration, name *ast.Ident, nesting int,
) ([]expression, bool) {
	assigned := s.locals[local]
	if len(assigned) > maxOrigins {
		return nil, false
	}
	var from []expression
	isOverwritten := false
	for _, value := range assigned {
		// What is assigned further down is not yet there, as in port = ":" + port, if that is not executed first.
		value.call = x.call
		isFlag := value.constant != nil && value.gets == sometimes
		if value.gets != otherwise && value.gets != instead {
			value.gets = sometimes
		}
		if value.End() > name.Pos() && !x.in.MayBeLater(name.Pos(), value.Pos()) {
			continue
		}
		if x.in.AlwaysBefore(value.Pos(), name.Pos()) && !isFlag {
			from, isOverwritten, value.gets = nil, true, initially
		}
		from = append(from, value)
	}
	if isOverwritten {
		return from, true
	}
	switch d := local.Node.(type) {
	case *ast.Field:
		got, ok := s.originsOfParameter(x, d, local.Name, nesting)
		return append(got, from...), ok
	case *ast.RangeStmt:
		return s.firstElement(x.with(d.X), name.Name == syntax.Name(d.Value), nesting)
	}
	return from, true
}

// returned returns what a function returns for the result that is meant of a call.
func (s *Sources) returned(fn *function, x expression) ([]expression, bool) {
	if fn.returns == nil {
		isNever := func(r *ast.ReturnStmt) bool { return fn.in.isNever(r.Pos()) }
		fn.returns = slices.DeleteFunc(returnsOf(fn.decl.Body), isNever)
	}
	if len(fn.returns) > maxOrigins {
		return nil, false
	}
	var from []expression
	for _, r := range fn.returns {
		result := expression{in: fn.in, call: &frame{fn, x}}
		switch named, _ := syntax.FieldAt(fn.decl.Type.Results, x.result); {
		case x.result < len(r.Results):
			result.Expr = r.Results[x.result]
		case len(r.Results) == 1:
			result.Expr, result.result = r.Results[0], x.result
		case len(r.Results) == 0 && named != nil:
			result.Expr = named
		default:
			continue
		}
		from = append(from, result)
	}
	return from, len(from) > 0
}

// returnsOf returns the return statements of a function, without those of functions in it.
func returnsOf(body *ast.BlockStmt) []*ast.ReturnStmt {
	returns := []*ast.ReturnStmt{}
	ast.Inspect(body, func(n ast.Node) bool {
		if r, ok := n.(*ast.ReturnStmt); ok {
			returns = append(returns, r)
		}
		_, isFunction := n.(*ast.FuncLit)
		return !isFunction
	})
	return returns
}
