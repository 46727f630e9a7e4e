package values

import (
	"go/ast"
)

// Ways returns the ways in which an expression is reached that is a parameter of the function that it stands in, one
// for each call that gives it something: each may give another server. It returns any way, the zero value, for another
// expression.
func (s *Sources) Ways(in *Source, e ast.Expr) []Made {
	s.nameDefaults()
	s.begin()
	var all []Made
	for _, by := range s.waysTo(expression{Expr: e, in: in}, 0) {
		all = append(all, Made{by: by})
	}
	return all
}

// UsesParameter reports whether one of the expressions uses a parameter of the function that it stands in.
func (s *Sources) UsesParameter(in *Source, all []ast.Expr) bool {
	uses := false
	for _, e := range all {
		ast.Inspect(e, func(n ast.Node) bool {
			if name, ok := n.(*ast.Ident); ok && in.Local(name) != nil {
				field, _ := in.Local(name).Node.(*ast.Field)
				uses = uses || s.parameters[field] != nil
			}
			return !uses
		})
	}
	return uses
}

func (s *Sources) waysTo(x expression, depth int) []*frame {
	name, ok := ast.Unparen(x.Expr).(*ast.Ident)
	fn := s.enclosing(x)
	if !ok || fn == nil || depth > maxCallers {
		return []*frame{nil}
	}
	local := x.in.Local(name)
	if local == nil {
		return []*frame{nil}
	}
	field, ok := local.Node.(*ast.Field)
	of := s.parameters[field]
	if !ok || of == nil || of.decl != fn {
		return []*frame{nil}
	}
	var all []*frame
	for _, c := range s.ofProgram(s.callsOf(x.in, fn)) {
		call, ok := ast.Unparen(c.Expr).(*ast.CallExpr)
		if !ok || len(all) > maxCalls || s.spend(depth) || !s.isCallOf(c, fn) {
			continue
		}
		for _, given := range argumentsAt(call, parameterIndex(fn.Type, local.Name), isVariadic(field)) {
			for _, by := range s.waysTo(c.with(given), depth+1) {
				c.call = by
				all = append(all, &frame{of, c})
			}
		}
	}
	if all == nil {
		return []*frame{nil}
	}
	return all
}
