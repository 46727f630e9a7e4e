package values

import (
	"go/ast"
	"net/url"
	"strconv"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/source"
)

// splits are functions that split a text, such as an address with a scheme, at another one.
var splits = source.Exactly(`strings\.(?:SplitN?|Cut)`)

// elementOfSplit returns the values of an element of what splits a text: parts[1] of
// strings.SplitN(endpoint, "://", 2).
func (s *Sources) elementOfSplit(x expression, index *ast.IndexExpr, nesting int) []value {
	at, ok := ast.Unparen(index.Index).(*ast.BasicLit)
	list, isOne := s.onlyCall(x.with(index.X), nesting)
	if !ok || !isOne {
		return unknown
	}
	call, _ := list.Expr.(*ast.CallExpr)
	n, err := strconv.Atoi(at.Value)
	if err != nil || !splits.MatchString(list.in.Qualified(call)) || len(call.Args) < 2 {
		return unknown
	}
	return s.partOf(list.with(call.Args[0]), list.with(call.Args[1]), n, nesting)
}

// firstOfSplit returns the values of the first element of what splits a text, which is the default of a flag that takes
// several: strings.Split(hosts, ","). It reports whether a list is one, and whether the values are known.
func (s *Sources) firstOfSplit(list expression, nesting int) ([]expression, bool) {
	call, ok := ast.Unparen(list.Expr).(*ast.CallExpr)
	if !ok || len(call.Args) < 2 || list.in.Qualified(call) != "strings.Split" {
		return nil, false
	}
	separator, ok := s.text(list.with(call.Args[1]), nesting)
	if !ok || separator == "" {
		return nil, false
	}
	var first []expression
	for _, v := range s.evaluate(list.with(call.Args[0]), nesting+1) {
		v.text, _, _ = strings.Cut(v.text, separator)
		first = append(first, expression{constant: &v})
	}
	return first, true
}

// partOf returns a part of a text that is split at the first place of another one: the first or the second part.
func (s *Sources) partOf(text, separator expression, part, nesting int) []value {
	at, ok := s.text(separator, nesting)
	if !ok || at == "" || part > 1 {
		return unknown
	}
	var parts []value
	for _, v := range s.evaluate(text, nesting+1) {
		before, after, isSplit := strings.Cut(v.text, at)
		switch {
		case v.isUnknown() || strings.Contains(after, at):
			return unknown
		case part == 0:
			v.text = before
		case isSplit:
			v.text = after
		default:
			continue
		}
		parts = append(parts, v)
	}
	return parts
}

// onlyCall returns the one call whose first result an expression is.
func (s *Sources) onlyCall(x expression, nesting int) (expression, bool) {
	from, ok := s.origins(x, nesting+1)
	if !ok || len(from) != 1 || from[0].constant != nil || from[0].result != 0 {
		return expression{}, false
	}
	call, ok := ast.Unparen(from[0].Expr).(*ast.CallExpr)
	if !ok {
		return expression{}, false
	}
	return from[0].with(call), true
}

// partOfURL returns a field of what url.Parse makes of a text, and whether an expression is one.
func (s *Sources) partOfURL(x expression, field *ast.SelectorExpr, nesting int) ([]value, bool) {
	if name := field.Sel.Name; name != "Scheme" && name != "Host" && name != "Path" {
		return nil, false
	}
	if _, ok := field.X.(*ast.Ident); !ok {
		return nil, false
	}
	parsed, ok := s.onlyCall(x.with(field.X), nesting)
	if !ok {
		return nil, false
	}
	call, _ := parsed.Expr.(*ast.CallExpr)
	if parsed.in.Qualified(call) != "net/url.Parse" || len(call.Args) != 1 {
		return nil, false
	}
	var parts []value
	for _, v := range s.evaluate(parsed.with(call.Args[0]), nesting+1) {
		u, err := url.Parse(v.text)
		switch {
		case v.isUnknown():
			return unknown, true
		case err != nil: // a program gives up that gets this, or gives it a scheme first
			continue
		}
		v.text = map[string]string{"Scheme": u.Scheme, "Host": u.Host, "Path": u.Path}[field.Sel.Name]
		parts = append(parts, v)
	}
	if len(parts) == 0 {
		return unknown, true
	}
	return parts, true
}
