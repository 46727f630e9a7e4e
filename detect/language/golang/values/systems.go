package values

import (
	"go/ast"
	"go/token"
	"slices"

	"github.com/grpc-cnb/health-probe/detect/language/golang/syntax"
)

// system is what all targets of the buildpack have for runtime.GOOS.
const system = "linux"

// never is a part of a file that is executed on other systems.
type never struct{ from, to token.Pos }

// isSystem reports whether an expression is runtime.GOOS.
func (f *Source) isSystem(e ast.Expr) bool {
	return syntax.LastName(e) == "GOOS" && f.PathOf(e) == "runtime"
}

// declareSystems notes what an if executes on other systems: if runtime.GOOS == "windows" {...}.
func (f *Source) declareSystems(n *ast.IfStmt) {
	compared, ok := ast.Unparen(n.Cond).(*ast.BinaryExpr)
	if !ok || compared.Op != token.EQL && compared.Op != token.NEQ || !f.isSystem(compared.X) {
		return
	}
	name, ok := syntax.StringLiteral(compared.Y)
	switch holds := (name == system) == (compared.Op == token.EQL); {
	case !ok:
	case !holds:
		f.nevers = append(f.nevers, never{n.Body.Pos(), n.Body.End()})
	case n.Else != nil:
		f.nevers = append(f.nevers, never{n.Else.Pos(), n.Else.End()})
	}
}

// declareCasesOfSystem is declareSystems for a switch of runtime.GOOS.
func (f *Source) declareCasesOfSystem(n *ast.SwitchStmt) {
	if n.Tag == nil || !f.isSystem(n.Tag) {
		return
	}
	clauses := n.Body.List[:min(len(n.Body.List), maxElements)]
	isThis := func(e ast.Expr) bool {
		name, ok := syntax.StringLiteral(e)
		return ok && name == system
	}
	mayBeThis := func(e ast.Expr) bool {
		_, ok := syntax.StringLiteral(e)
		return !ok || isThis(e)
	}
	isListed := slices.ContainsFunc(clauses, func(s ast.Stmt) bool {
		c, ok := s.(*ast.CaseClause)
		return ok && slices.ContainsFunc(c.List, isThis)
	})
	for _, s := range clauses {
		c, ok := s.(*ast.CaseClause)
		if ok && (len(c.List) > 0 || isListed) && !slices.ContainsFunc(c.List, mayBeThis) {
			f.nevers = append(f.nevers, never{c.Colon, c.End()})
		}
	}
}

// isNever reports whether what stands at a position is executed on other systems alone.
func (f *Source) isNever(at token.Pos) bool {
	return slices.ContainsFunc(f.nevers, func(n never) bool { return n.from <= at && at < n.to })
}
