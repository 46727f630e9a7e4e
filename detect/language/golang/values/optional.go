package values

import (
	"go/ast"
	"go/token"
	"regexp"
	"slices"

	"github.com/grpc-cnb/health-probe/detect/language/golang/syntax"
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
	s.evaluated = 0
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
		case b.returned:
			c.Decides = s.condition(x.with(b.condition), 0).holds == yes
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

// choicesOfCalls is [Sources.choices] of the calls of a function: none if one of them is always executed.
func (s *Sources) choicesOfCalls(in *Source, fn *ast.FuncDecl, others []Call, depth int) []Choice {
	name := symbol{in.dir, fn.Name.Name}
	if fn.Recv != nil {
		name.dir = ""
	}
	calls := s.calls[name]
	var all []Choice
	for _, c := range calls[:min(len(calls), maxCalls)] {
		if called := s.callee(c, 0); called == nil || called.decl != fn {
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
var isFound = regexp.MustCompile(`^(?:ok|exists|found)$|^err|Err$`)

// decides reports whether a condition, or that it does not hold, is not known to be if nothing is set. What asks
// whether there is an object or an error does not decide.
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
			return false
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
