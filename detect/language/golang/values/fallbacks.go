package values

import (
	"go/ast"
	"go/token"

	"github.com/grpc-cnb/health-probe/detect/language/golang/syntax"
)

// declareFallbacks notes the values that an if assigns to a variable or a field because it has none:
//
//	if config.Address == "" {
//		config.Address = ":8080"
//	}
func (f *Source) declareFallbacks(n *ast.IfStmt) {
	unset := comparedWithZero(n.Cond)
	if unset == nil {
		return
	}
	for _, statement := range n.Body.List[:min(len(n.Body.List), maxElements)] {
		assigned, ok := statement.(*ast.AssignStmt)
		if ok && assigned.Tok == token.ASSIGN && len(assigned.Lhs) == 1 && isSameVariable(assigned.Lhs[0], unset, 0) {
			f.fallbacks[assigned.Rhs[0].Pos()] = true
		}
	}
}

// comparedWithZero returns what a condition asks to be empty, or 0, whatever else it asks then: the variable of port ==
// "", of port == 0 and of port == "" && isServer. It returns nil for another condition.
func comparedWithZero(condition ast.Expr) ast.Expr {
	compared, ok := ast.Unparen(condition).(*ast.BinaryExpr)
	for range maxNesting {
		if !ok || compared.Op != token.LAND {
			break
		}
		compared, ok = ast.Unparen(compared.X).(*ast.BinaryExpr)
	}
	if !ok || compared.Op != token.EQL {
		return nil
	}
	if zero, ok := compared.Y.(*ast.BasicLit); !ok || zero.Value != "0" && zero.Value != `""` {
		return nil
	}
	if call, ok := compared.X.(*ast.CallExpr); ok && syntax.Name(call.Fun) == "len" && len(call.Args) == 1 {
		return call.Args[0]
	}
	return compared.X
}

// isSameVariable reports whether two expressions are the same name, or the same field of the same.
func isSameVariable(a, b ast.Expr, nesting int) bool {
	if nesting > maxNesting {
		return false
	}
	switch a := ast.Unparen(a).(type) {
	case *ast.Ident:
		b, ok := ast.Unparen(b).(*ast.Ident)
		return ok && a.Name == b.Name
	case *ast.StarExpr:
		b, ok := ast.Unparen(b).(*ast.StarExpr)
		return ok && isSameVariable(a.X, b.X, nesting+1)
	case *ast.SelectorExpr:
		b, ok := ast.Unparen(b).(*ast.SelectorExpr)
		return ok && a.Sel.Name == b.Sel.Name && isSameVariable(a.X, b.X, nesting+1)
	}
	return false
}
