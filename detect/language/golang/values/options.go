package values

import (
	"go/ast"
	"go/token"
	"slices"

	"github.com/grpc-cnb/health-probe/detect/language/golang/syntax"
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

// byOption returns what a field gets by an assignment, and whether it may get it. That of an option goes before the
// defaults of the struct if the app gives the option without a condition; one that the app never gives sets nothing.
func (s *Sources) byOption(a assignment) (expression, bool) {
	in, at := a.value.in, a.field.Pos()
	for _, o := range in.options {
		if at < o.from || o.to <= at {
			continue
		}
		value := a.value
		if value.gets == always && s.isGiven(o.function) {
			value.gets = instead
		}
		return value, !s.isNeverGiven(o)
	}
	return a.value, true
}

// declareTaker adds a function that takes options.
func (s *Sources) declareTaker(fn *function) {
	last := len(fn.decl.Type.Params.List) - 1
	if last < 0 {
		return
	}
	if of := s.symbolOf(elementOf(typeOfApp{fn.decl.Type.Params.List[last].Type, fn.in})); of.name != "" {
		s.takers[of] = append(s.takers[of], fn)
	}
}

// isNeverGiven reports whether the app gives an option to none of the functions that take some: it calls these, and
// gives them others by calls. What programs beside the app proper give does not count.
func (s *Sources) isNeverGiven(o option) bool {
	in := o.function.in
	_, result := syntax.FieldAt(o.function.decl.Type.Results, 0)
	takers := s.takers[s.symbolOf(typeOfApp{result, in})]
	isOfApp := func(c expression) bool { return !c.in.isAside }
	if len(takers) > maxValues || slices.ContainsFunc(s.callsOf(in, o.function.decl), isOfApp) {
		return false
	}
	isTaken := false
	for _, fn := range takers {
		calls := s.callsOf(fn.in, fn.decl)
		for _, c := range calls[:min(len(calls), maxCalls)] {
			switch {
			case !isOfApp(c) || !s.isCallOf(c, fn.decl):
			case !s.givesCalls(c, fn.decl.Type.Params.NumFields()-1):
				return false
			default:
				isTaken = true
			}
		}
	}
	return isTaken
}

// givesCalls reports whether the arguments of a call from one on are calls of functions of the app.
func (s *Sources) givesCalls(x expression, first int) bool {
	call, _ := x.Expr.(*ast.CallExpr)
	isPassed := call.Lparen == call.Rparen // and called by others
	if isPassed || call.Ellipsis.IsValid() || len(call.Args) < first || len(call.Args) > maxElements {
		return false
	}
	return !slices.ContainsFunc(call.Args[first:], func(arg ast.Expr) bool { return s.callee(x.with(arg), 0) == nil })
}

// zero returns the value of a field that nothing sets.
func zero(field *ast.Field, in *Source) expression {
	nothing := expression{Expr: &ast.Ident{NamePos: field.Pos(), Name: "nil"}, in: in}
	if _, isName := field.Type.(*ast.Ident); isName {
		nothing.constant = &value{at: nothing.place()}
	}
	return nothing
}

// givenBy is an option in a program: see [Sources.Within].
type givenBy struct {
	option  *function
	program string
}

// isGiven reports whether the app gives an option whenever it calls what takes it: as often as that, and without a
// condition, or under that of the call.
func (s *Sources) isGiven(option *function) bool {
	of := givenBy{option, s.program}
	isGiven, isKnown := s.givenOptions[of]
	if isKnown {
		return isGiven
	}
	calls := s.callsInApp(symbol{option.in.dir, option.decl.Name.Name})
	isConditional := func(c expression) bool { return !c.in.InFunctionBody(c.Pos()) }
	taking := s.callsTaking(option)
	switch {
	case len(calls) == 0 || len(calls) > maxOrigins || taking > len(calls):
	case !slices.ContainsFunc(calls, isConditional):
		isGiven = true
	default:
		isGiven = taking == len(calls) && !slices.ContainsFunc(calls, s.isAppended)
	}
	s.givenOptions[of] = isGiven
	return isGiven
}

// callsInApp returns the calls of a function in the app proper.
func (s *Sources) callsInApp(name symbol) []expression {
	return slices.DeleteFunc(slices.Clone(s.ofProgram(s.calls[name])), func(c expression) bool { return c.in.isAside })
}

// isAppended reports whether an expression is what append adds to a list, as on a condition of its own.
func (s *Sources) isAppended(x expression) bool {
	return slices.ContainsFunc(s.calls[symbol{x.in.dir, "append"}], func(c expression) bool {
		return c.in == x.in && c.Pos() <= x.Pos() && x.End() <= c.End()
	})
}

// callsTaking returns how many calls there are of functions in the package of an option that take any number of such.
func (s *Sources) callsTaking(option *function) int {
	_, of := syntax.FieldAt(option.decl.Type.Results, 0)
	count := 0
	for name, fn := range s.functions {
		params := fn.decl.Type.Params.List
		if name.dir != option.in.dir || fn.decl.Recv != nil || len(params) == 0 {
			continue
		}
		list, ok := params[len(params)-1].Type.(*ast.Ellipsis)
		if ok && syntax.Name(list.Elt) != "" && syntax.Name(list.Elt) == syntax.Name(of) {
			count += len(s.callsInApp(name))
		}
	}
	return count
}
