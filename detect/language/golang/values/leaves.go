package values

import (
	"go/ast"
	"go/token"
	"slices"

	"github.com/grpc-cnb/health-probe/detect/language/golang/syntax"
	"github.com/grpc-cnb/health-probe/detect/source"
)

// leaf is what the value of an expression may come from and which is followed no further: a literal, a call of a
// function of others, nil. Its expression is nil if the value is not known.
type leaf struct {
	expression
	when truth
	// isOneOf says that only one of several callers gives it, or one of several structs.
	isOneOf bool
}

// leaves returns all that a value may come from, in the order in which it is assigned, with the conditions of each.
// They are looked for once: seen has those that were.
func (s *Sources) leaves(x expression, when truth, seen map[evaluation]bool, nesting int) []leaf {
	at := evaluation{x.Expr, x.call, x.result}
	if x.constant != nil || seen[at] {
		return nil
	}
	if seen[at] = true; s.spend(nesting) || len(seen) > maxSeen {
		return []leaf{{expression: expression{in: x.in}, when: truth{holds: maybe}}} // it is not seen what decides
	}
	switch e := ast.Unparen(x.Expr).(type) {
	case *ast.UnaryExpr:
		return s.leaves(x.with(e.X), when, seen, nesting+1)
	case *ast.StarExpr:
		return s.leaves(x.with(e.X), when, seen, nesting+1)
	case *ast.CallExpr:
		if x.result >= storedBy {
			return s.assignedLeaves(x, when, seen, nesting)
		}
		if fn := s.callee(x, nesting); fn != nil && fn.decl.Body != nil {
			return s.returnedLeaves(fn, x, when, seen, nesting)
		}
		return []leaf{{expression: x.with(e), when: when}}
	case *ast.Ident:
		if e.Name == "nil" {
			return []leaf{{expression: x.with(e), when: when}}
		}
		return s.assignedLeaves(x, when, seen, nesting)
	case *ast.SelectorExpr:
		if importPath := x.in.PathOf(e); importPath != "" {
			if _, ok := s.lookup(importPath); !ok {
				return []leaf{{expression: x.with(e), when: when}}
			}
		}
		return s.assignedLeaves(x, when, seen, nesting)
	default:
		return []leaf{{expression: x.with(e), when: when}}
	}
}

// maxSeen is how many expressions one value is followed through.
const maxSeen = 400

// assignedLeaves returns the leaves of what a variable or a field gets.
func (s *Sources) assignedLeaves(x expression, when truth, seen map[evaluation]bool, nesting int) []leaf {
	origins, ok := s.origins(x, nesting)
	switch {
	case !ok, len(origins) == 0 && x.isParameter():
		return []leaf{{expression: expression{in: x.in}, when: when}}
	case len(origins) == 0: // a variable without a value
		return []leaf{{expression: x, when: when}}
	}
	var found []leaf
	for _, from := range origins {
		if from.constant != nil {
			continue
		}
		condition := when
		if from.gets != alternatively || len(origins) > 1 {
			use := token.NoPos
			if from.in == x.in && from.gets != alternatively && x.in.InOneFunction(from.Pos(), x.Pos()) {
				use = x.Pos()
			}
			condition = when.and(s.executed(from, from.Pos(), use, nesting))
		}
		for _, l := range s.leaves(from, condition, seen, nesting+1) {
			l.isOneOf = l.isOneOf || from.gets == alternatively && len(origins) > 1
			found = append(found, l)
		}
	}
	return found
}

// isParameter reports whether an expression is a parameter.
func (x expression) isParameter() bool {
	field, ok := x.declaredBy().(*ast.Field)
	return ok && !isVariadic(field)
}

// returnedLeaves returns the leaves of what a function returns without an error.
func (s *Sources) returnedLeaves(
	fn *function, call expression, when truth, seen map[evaluation]bool, nesting int,
) []leaf {
	returned, ok := s.returned(fn, call)
	if !ok {
		return []leaf{{expression: expression{in: call.in}, when: when}}
	}
	isError := map[ast.Expr]bool{}
	for _, r := range fn.returns {
		if returnsError(r) && call.result < len(r.Results)-1 {
			isError[r.Results[call.result]] = true
		}
	}
	var found []leaf
	for _, from := range returned {
		if !isError[from.Expr] {
			condition := when.and(s.executed(from, from.Pos(), token.NoPos, nesting))
			found = append(found, s.leaves(from, condition, seen, nesting+1)...)
		}
	}
	return found
}

// isNil says whether a pointer or an interface is nil. If callers give different ones, it may be.
func (s *Sources) isNil(x expression, nesting int) truth {
	t := truth{}
	all := s.leaves(x, truth{}, map[evaluation]bool{}, nesting+1)
	differs := slices.ContainsFunc(all, func(l leaf) bool { return l.isNil() != all[0].isNil() })
	for _, l := range all {
		if l.isOneOf && differs {
			l.when = l.when.and(truth{maybe, inSource})
		}
		isNil := truth{holds: l.isNil()}
		if isNil.holds == maybe {
			isNil.setting = s.settingNamed(x)
		}
		t = t.unless(isNil, l.when)
	}
	if t == (truth{}) {
		t.setting = s.settingNamed(x)
	}
	return t
}

// isNil says whether a leaf is nil.
func (l leaf) isNil() answer {
	switch {
	case l.Expr == nil, l.mayReturnNil():
		return maybe
	case syntax.Name(l.Expr) == "nil":
		return yes
	}
	return no
}

// neverNil is a function that returns no nil, or nil with an error alone.
var neverNil = source.Exactly(`new|make|append|(?:google\.golang\.org/grpc|crypto/tls|crypto/x509)(?:/.*)?\.\w+`)

// mayReturnNil reports whether a leaf is a call of a function that is not in the sources, which may return nil: the
// getter of an optional message, say.
func (l leaf) mayReturnNil() bool {
	call, ok := l.Expr.(*ast.CallExpr)
	return ok && !neverNil.MatchString(l.in.Qualified(call))
}

// unless is another answer if a condition holds.
func (t truth) unless(other, when truth) truth {
	switch {
	case when.holds == yes:
		switch {
		case other.setting == "" && other.holds != t.holds:
			other.setting = when.setting
		case when.setting != "": // it holds by default alone
			other.setting = either(other.setting, t.setting)
		}
		return other
	case when.holds == no && other.holds != t.holds && t.setting == "":
		t.setting = when.setting
	case when.holds == maybe && other.holds != t.holds:
		return truth{maybe, when.setting}
	}
	return t
}
