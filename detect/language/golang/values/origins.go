package values

import "go/ast"

const (
	// maxNesting is how many declarations and operators are followed one into another: declarations may lead in a
	// circle.
	maxNesting = 24
	// maxEvaluated is how many expressions are evaluated for one port, and maxTotal for all ports of an app. Real ports
	// need a hundredth of it.
	maxEvaluated = 3_000
	maxTotal     = 300_000
	// maxValues is how many values of one expression are looked at.
	maxValues = 16
)

// spend counts the evaluation of an expression, and reports whether there were too many.
func (s *Sources) spend(nesting int) bool {
	s.evaluated++
	s.total++
	return nesting > maxNesting || s.evaluated > maxEvaluated || s.total > maxTotal
}

// maxOrigins is how many expressions are looked at that a value may come from. Where there are more, nobody means one.
const maxOrigins = 64

// origins returns the expressions that the value of an expression comes from: what a variable is declared with and
// assigned, what a field gets, what a function of the app returns, what a parameter gets. It returns none where there
// are too many.
func (s *Sources) origins(x expression, nesting int) []expression {
	if from := s.allOrigins(x, nesting); len(from) <= maxOrigins {
		return from
	}
	return nil
}

func (s *Sources) allOrigins(x expression, nesting int) []expression {
	switch e := ast.Unparen(x.Expr).(type) {
	case *ast.StarExpr:
		return []expression{x.with(e.X)}
	case *ast.UnaryExpr:
		return []expression{x.with(e.X)}
	case *ast.Ident:
		return s.originsOfVariable(x, e, nesting)
	case *ast.SelectorExpr:
		if dir, ok := s.lookup(x.in.PathOf(e)); ok {
			return s.values[symbol{dir, e.Sel.Name}]
		}
		return s.originsOfField(x, e, nesting)
	case *ast.CallExpr:
		if fn := s.callee(x, nesting); fn != nil && fn.decl.Body != nil {
			return s.returned(fn, x)
		}
	}
	return nil
}

func (s *Sources) originsOfVariable(x expression, name *ast.Ident, nesting int) []expression {
	local := x.in.Local(name)
	if local == nil {
		return s.values[symbol{x.in.dir, name.Name}]
	}
	var from []expression
	assigned := s.locals[local]
	if len(assigned) > maxOrigins {
		return nil
	}
	for _, value := range assigned {
		// What is assigned further down is not yet there: port = ":" + port.
		if value.End() <= name.Pos() {
			value.call = x.call
			from = append(from, value)
		}
	}
	if field, ok := local.Node.(*ast.Field); ok {
		from = append(from, s.originsOfParameter(x, field, local.Name, nesting)...)
	}
	return from
}

// originsOfParameter returns what a parameter of a function gets: by the call that is followed, or by all calls.
func (s *Sources) originsOfParameter(x expression, field *ast.Field, name *ast.Ident, nesting int) []expression {
	fn := s.parameters[field]
	if fn == nil {
		return nil
	}
	at := parameterIndex(fn.decl.Type.Params, name)
	calls := s.calls[symbol{fn.in.dir, fn.decl.Name.Name}]
	if fn.decl.Recv != nil {
		calls = s.calls[symbol{name: fn.decl.Name.Name}]
	}
	if x.call != nil && x.call.function == fn {
		calls = []expression{x.call.call}
	}
	if len(calls) > maxCalls {
		return nil
	}
	var from []expression
	for _, c := range calls {
		call, ok := ast.Unparen(c.Expr).(*ast.CallExpr)
		if ok && at >= 0 && at < len(call.Args) && s.callee(c, nesting+1) == fn {
			from = append(from, c.with(call.Args[at]))
		}
	}
	return from
}

// maxCalls is how many calls of a function, or of methods of one name, are looked at.
const maxCalls = 500

func parameterIndex(parameters *ast.FieldList, parameter *ast.Ident) int {
	at := 0
	for _, field := range parameters.List {
		for _, name := range field.Names {
			if name == parameter {
				return at
			}
			at++
		}
	}
	return -1
}

// returned returns what a function returns for the result that is meant of a call.
func (s *Sources) returned(fn *function, x expression) []expression {
	if fn.returns == nil {
		fn.returns = returnsOf(fn.decl.Body)
	}
	if len(fn.returns) > maxOrigins {
		return nil
	}
	var from []expression
	for _, r := range fn.returns {
		result := expression{in: fn.in, call: &frame{fn, x}}
		switch named := namedResult(fn.decl.Type.Results, x.result); {
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
	return from
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

// namedResult returns the name of a result of a function, or nil where it has none.
func namedResult(results *ast.FieldList, at int) ast.Expr {
	if results == nil {
		return nil
	}
	for _, field := range results.List {
		for _, name := range field.Names {
			if at == 0 {
				return name
			}
			at--
		}
	}
	return nil
}
