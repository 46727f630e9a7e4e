package values

import (
	"go/ast"
	"go/token"
	"slices"

	"github.com/grpc-cnb/health-probe/detect/language/golang/syntax"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

// Choice is a condition that code is in a branch of.
type Choice struct {
	condition ast.Expr
	isNot     bool
	// Decides says that it may not hold if nothing is set.
	Decides bool
}

// IsOpposite reports whether two branches are those of one condition.
func (c Choice) IsOpposite(other Choice) bool {
	return c.condition == other.condition && c.isNot != other.isNot
}

// Choices returns the conditions on which a call of a source is executed, and none of other calls of any source is.
func (s *Sources) Choices(in *Source, call ast.Expr, others []Call) []Choice {
	s.begin()
	return s.choices(expression{Expr: call, in: in}, others, 0)
}

// maxCallers is how many functions are followed that call one another.
const maxCallers = 3

func (s *Sources) choices(x expression, others []Call, depth int) []Choice {
	holdsOther := func(from, to token.Pos) bool {
		base := x.Pos() - token.Pos(x.in.Span(x.Expr).From)
		return slices.ContainsFunc(others, func(c Call) bool {
			at := base + token.Pos(c.At.From)
			return c.Path == x.in.path && from <= at && at < to
		})
	}
	if s.spend(0) {
		return nil
	}
	s.evaluated += len(x.in.branches) / branchesAtOnce
	s.total += len(x.in.branches) / branchesAtOnce
	var found []Choice
	for _, b := range x.in.branches {
		if x.Pos() < b.from || b.to <= x.Pos() || len(found) > maxValues || holdsOther(b.from, b.to) {
			continue
		}
		c := Choice{condition: b.condition, isNot: b.isNot}
		switch {
		case b.tag != nil:
			c.condition, c.Decides = b.tag, s.oneOf(x, b.tag, b.cases, 0).holds != yes
		default:
			c.Decides = s.decides(x.with(b.condition), b.isNot)
		}
		found = append(found, c)
	}
	if fn := s.enclosing(x); fn != nil && depth < maxCallers && !holdsOther(fn.Pos(), fn.End()) {
		found = append(found, s.choicesOfCalls(x.in, fn, others, depth)...)
	}
	return found
}

// choicesOfCalls is [Sources.choices] of the calls of a function, and of calls that it is passed to: none if one of
// them is always executed.
func (s *Sources) choicesOfCalls(in *Source, fn *ast.FuncDecl, others []Call, depth int) []Choice {
	calls := s.callsOf(in, fn)
	var all []Choice
	for _, c := range calls[:min(len(calls), maxCalls)] {
		if !s.isCallOf(c, fn) {
			continue
		}
		found := s.choices(c, others, depth+1)
		if !slices.ContainsFunc(found, func(c Choice) bool { return c.Decides }) {
			return nil
		}
		all = append(all, found...)
	}
	return all
}

// callsOf returns what may be calls of a function of a source, by its name, and calls that it is passed to.
func (s *Sources) callsOf(in *Source, fn *ast.FuncDecl) []expression {
	name := symbol{in.dir, fn.Name.Name}
	if fn.Recv != nil {
		name.dir = ""
	}
	return append(slices.Clip(s.calls[name]), s.passed[name]...)
}

// isCallOf reports whether a call is one of a function.
func (s *Sources) isCallOf(call expression, fn *ast.FuncDecl) bool {
	called := s.callee(call, 0)
	return called != nil && called.decl == fn
}

// enclosing returns the function that an expression stands in.
func (s *Sources) enclosing(x expression) *ast.FuncDecl {
	for _, d := range x.in.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok && fn.Pos() <= x.Pos() && x.Pos() < fn.End() {
			return fn
		}
	}
	return nil
}

// isFound is what says whether a value is there, or has a type.
var isFound = lazyregexp.New(`^(?:ok|exists|found)$|^err|Err$`)

// decides reports whether a condition, or that it does not hold, is not known to be if nothing is set. What asks
// whether there is an error does not decide, nor whether there is an object, unless a condition decides on that one.
func (s *Sources) decides(x expression, isNot bool) bool {
	switch e := ast.Unparen(x.Expr).(type) {
	case *ast.Ident:
		if isFound.MatchString(e.Name) {
			return false
		}
	case *ast.UnaryExpr:
		if e.Op == token.NOT {
			return s.decides(x.with(e.X), !isNot)
		}
	case *ast.BinaryExpr:
		if syntax.Name(e.Y) == "nil" {
			return (e.Op == token.NEQ) != isNot && s.isOptional(x.with(e.X))
		}
		if e.Op == token.LAND && !isNot || e.Op == token.LOR && isNot {
			return s.decides(x.with(e.X), isNot) || s.decides(x.with(e.Y), isNot)
		}
	}
	holds := s.condition(x, 0)
	if isNot {
		holds = holds.not()
	}
	return holds.holds != yes
}

// isOptional reports whether an expression is nil unless a condition holds that is not known to.
func (s *Sources) isOptional(x expression) bool {
	isOptional := false
	for _, l := range s.leaves(x, truth{}, map[evaluation]bool{}, 0) {
		switch {
		case l.Expr == nil, l.isNil() == no && l.when.holds == yes && !l.isOneOf:
			return false
		case l.isNil() == no && l.when.holds != yes:
			isOptional = true
		}
	}
	return isOptional
}
