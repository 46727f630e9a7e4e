package values

import (
	"go/ast"
	"slices"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/language/golang/syntax"
)

// firstElement returns the first of the values that a loop goes through, if they are written in a list, or are the
// default of a flag that takes several. It is that of the first server, if the loop makes one for each. Structs may
// differ in more than one value.
func (s *Sources) firstElement(list expression, isValue bool, nesting int) ([]expression, bool) {
	if !isValue {
		return nil, false
	}
	if first, ok := s.firstOfSplit(list, nesting); ok {
		return first, true
	}
	lists := s.literalsOf(list, nesting+1)
	first := s.firstOfFlags(lists.unknown, nesting)
	isGiven := slices.ContainsFunc(first, func(x expression) bool { return x.constant.isGiven })
	if isGiven || len(lists.found) == 0 {
		return first, len(first) > 0
	}
	for _, list := range lists.found {
		literal, ok := list.Expr.(*ast.CompositeLit)
		if !ok || list.Expr != lists.found[0].Expr || !s.isPlain(list.with(literal), literal) {
			return nil, false
		}
		written := list.with(literal.Elts[0])
		if lists.isOpen {
			written.setting = inSource
		}
		first = append(first, written)
	}
	return first, true
}

// isPlain reports whether a composite literal is a list of values that are not structs.
func (s *Sources) isPlain(x expression, list *ast.CompositeLit) bool {
	t := typeOfApp{list.Type, x.in}
	if _, isArray := t.Expr.(*ast.ArrayType); !isArray {
		t = s.types[s.symbolOf(t)]
	}
	if _, isArray := t.Expr.(*ast.ArrayType); !isArray || len(list.Elts) == 0 {
		return false
	}
	switch list.Elts[0].(type) {
	case *ast.KeyValueExpr, *ast.CompositeLit, *ast.UnaryExpr:
		return false
	}
	return true
}

// firstOfFlags returns the first elements of the flags among what a list may come from, which have commas between
// them. That of a flag without any is not set.
func (s *Sources) firstOfFlags(from []expression, nesting int) []expression {
	var first []expression
	for _, x := range from {
		for _, v := range s.listOfFlag(x, nesting) {
			v.text, _, _ = strings.Cut(v.text, ",")
			first = append(first, expression{constant: &v})
		}
	}
	return first
}

// listOfFlag returns the values of a flag, if that is what an expression is, which stands in for a list: that of the
// variable which has it, or one that a call looks up.
func (s *Sources) listOfFlag(x expression, nesting int) []value {
	if x.constant != nil {
		return s.evaluate(x, nesting)
	}
	if call, ok := ast.Unparen(x.Expr).(*ast.CallExpr); ok {
		return s.lookedUp(x.with(call), call, nesting)
	}
	return nil
}

// lookedUp returns the values of a flag that a function of others looks up by its name among those of a set:
// flags.URLs(flagSet, "listen-urls"). There are none if a call is not such a one, or the default is not known.
func (s *Sources) lookedUp(x expression, call *ast.CallExpr, nesting int) []value {
	if len(call.Args) != 2 || x.in.PathOf(syntax.Called(call)) == "" || s.callee(x, nesting) != nil {
		return nil
	}
	set := s.typeOf(x.with(call.Args[0]), nesting).pointedTo()
	name, isKnown := s.text(x.with(call.Args[1]), nesting)
	if set.Expr == nil || syntax.LastName(set.Expr) != "FlagSet" || !isKnown {
		return nil
	}
	values := s.evaluateAll(nearest(s.flags[name], x.in.dir), nesting)
	if slices.ContainsFunc(values, value.isUnknown) {
		return nil
	}
	return values
}
