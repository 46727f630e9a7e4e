package values

import (
	"cmp"
	"go/ast"
	"go/token"

	"github.com/grpc-cnb/health-probe/detect/tree"
	"github.com/grpc-cnb/health-probe/internal/plan"
)

// secured is what the calls in a function say of the transport of the server that they make.
type secured struct {
	by   *ast.FuncDecl
	in   *Source
	says plan.Security
}

// chosen returns the security of a server that different functions make: that of the one which is called if nothing is
// set, with the setting by which another one is. It is not known if it is not seen which one that is.
func (s *Sources) chosen(all []secured) plan.Security {
	s.begin()
	unknown := plan.Security{Setting: inSource, Place: all[0].says.Place}
	callers := map[*ast.FuncDecl]bool{}
	calls := make([]expression, len(all))
	for i, o := range all {
		calls[i] = s.singleCall(o.in, o.by)
		callers[s.enclosingCall(calls[i])] = true
	}
	var called []plan.Security
	mayBeOther := false
	for i, o := range all {
		when := truth{holds: maybe}
		if calls[i].Expr != nil {
			when = s.reached(calls[i], len(callers) > 1)
		}
		unknown.Setting = either(unknown.Setting, when.setting, o.says.Setting)
		mayBeOther = mayBeOther || when.holds == maybe
		if when.holds == yes {
			o.says.Place = cmp.Or(o.says.Place, calls[i].place())
			called = append(called, o.says)
		}
	}
	if mayBeOther || len(called) != 1 {
		return unknown
	}
	called[0].Setting = either(unknown.Setting, called[0].Setting)
	return called[0]
}

// singleCall returns the one call of a function in the app proper; none if there are several.
func (s *Sources) singleCall(in *Source, fn *ast.FuncDecl) (only expression) {
	if fn == nil {
		return expression{}
	}
	calls := s.callsOf(in, fn)
	if len(calls) > maxCalls {
		return expression{}
	}
	for _, c := range calls {
		if aside, _ := tree.Aside(c.in.path); aside != "" || !s.isCallOf(c, fn) {
			continue
		}
		if only.Expr != nil {
			return expression{}
		}
		only = c
	}
	return only
}

func (s *Sources) enclosingCall(call expression) *ast.FuncDecl {
	if call.Expr == nil {
		return nil
	}
	return s.enclosing(call)
}

// reached says whether a call is executed and, if so asked, the functions around it are called.
func (s *Sources) reached(call expression, withCallers bool) truth {
	when := s.executed(call, call.Pos(), token.NoPos, 0)
	for range maxCallers {
		fn := s.enclosing(call)
		if !withCallers || fn == nil || fn.Name.Name == "main" {
			return when
		}
		if call = s.singleCall(call.in, fn); call.Expr == nil {
			return when.and(truth{holds: maybe})
		}
		when = when.and(s.executed(call, call.Pos(), token.NoPos, 0))
	}
	return when.and(truth{holds: maybe})
}
