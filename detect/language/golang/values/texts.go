package values

import (
	"go/ast"

	"github.com/grpc-cnb/health-probe/detect/language/golang/syntax"
)

// Texts returns the texts that an expression of a source may be, the empty one too, with all that a loop goes through;
// none if one of them is not known, or can be set otherwise.
func (s *Sources) Texts(in *Source, e ast.Expr) []string {
	s.begin()
	var texts []string
	for _, of := range s.eachOf(expression{Expr: ast.Unparen(e), in: in}) {
		found := s.evaluate(of, 1)
		for _, v := range found {
			if v.isUnknown() || v.setting != "" {
				return nil
			}
			texts = append(texts, v.text)
		}
		if len(found) == 0 {
			return nil
		}
	}
	return texts
}

// eachOf returns what an expression may come from: the elements of a list if a loop goes through them, or the keys of a
// map.
func (s *Sources) eachOf(x expression) []expression {
	loop, ok := x.declaredBy().(*ast.RangeStmt)
	if !ok {
		from, isKnown := s.origins(x, 0)
		if !isKnown || len(from) == 0 {
			return []expression{x}
		}
		return from
	}
	lists := s.literalsOf(x.with(loop.X), 0)
	if lists.isOpen || len(lists.found) == 0 {
		return []expression{x}
	}
	isKey := syntax.Name(loop.Key) == syntax.Name(x.Expr)
	var all []expression
	for _, of := range lists.found {
		list, _ := of.Expr.(*ast.CompositeLit)
		for _, e := range list.Elts[:min(len(list.Elts), maxElements)] {
			pair, isPair := e.(*ast.KeyValueExpr)
			switch {
			case isPair && isKey:
				e = pair.Key
			case isPair:
				e = pair.Value
			case isKey: // it is a number
				return []expression{x}
			}
			all = append(all, of.with(e))
		}
	}
	return all
}
