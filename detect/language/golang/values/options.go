package values

import (
	"go/ast"
	"go/token"
	"slices"
)

// option is a function that a function of the app returns, to set fields of a struct: WithPort(8080).
type option struct {
	from, to token.Pos // of the returned function
	function *function
}

// declareOption adds the option that a function returns, if it returns one: a function alone, or one converted to a
// type.
func (f *Source) declareOption(fn *function) {
	if fn.decl.Recv != nil || fn.decl.Body == nil || len(fn.decl.Body.List) == 0 {
		return
	}
	last, ok := fn.decl.Body.List[len(fn.decl.Body.List)-1].(*ast.ReturnStmt)
	if !ok || len(last.Results) != 1 {
		return
	}
	returned := ast.Unparen(last.Results[0])
	if call, ok := returned.(*ast.CallExpr); ok && len(call.Args) == 1 {
		returned = ast.Unparen(call.Args[0])
	}
	if literal, ok := returned.(*ast.FuncLit); ok && literal.Type.Params.NumFields() == 1 {
		f.options = append(f.options, option{literal.Pos(), literal.End(), fn})
	}
}

// byOption returns what a field gets by an assignment. That of an option goes before the defaults of the struct if the
// app gives the option without a condition.
func (s *Sources) byOption(a assignment) expression {
	in, at := a.value.in, a.field.Pos()
	for _, o := range in.options {
		if at < o.from || o.to <= at {
			continue
		}
		calls := s.calls[symbol{in.dir, o.function.decl.Name.Name}]
		isConditional := func(c expression) bool { return !c.in.InFunctionBody(c.Pos()) }
		value := a.value
		if value.gets == always && len(calls) > 0 && !slices.ContainsFunc(calls, isConditional) {
			value.gets = instead
		}
		return value
	}
	return a.value
}
