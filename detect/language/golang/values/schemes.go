package values

import (
	"go/ast"
	"net/url"
	"strconv"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/language/golang/syntax"
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
	from := s.onlyOrigin(x, nesting+1)
	call, ok := ast.Unparen(from.Expr).(*ast.CallExpr)
	return from.with(call), ok && from.constant == nil && from.result == 0
}

// partOfURL returns a part of what url.Parse makes of a text, and whether an expression is one: a field, or what a
// method returns.
func (s *Sources) partOfURL(x expression, part *ast.SelectorExpr, nesting int) ([]value, bool) {
	if !partsOfURL.MatchString(part.Sel.Name) || x.in.PathOf(part) != "" {
		return nil, false
	}
	texts, ok := s.textsOfURL(x.with(part.X), s.isURL(x.with(part.X), nesting), nesting+1)
	if !ok || len(texts) > maxOrigins {
		return nil, false
	}
	var parts []value
	for _, text := range texts {
		for _, v := range s.evaluate(text, nesting+1) {
			if v.isUnknown() {
				return unknown, true
			}
			// A program gives up that gets no URL, or gives it a scheme first.
			if u, err := url.Parse(v.text); err == nil {
				v.text = urlPart(u, part.Sel.Name)
				parts = append(parts, unlike(parts, []value{v})...)
			}
		}
	}
	if len(parts) == 0 || len(parts) > maxValues {
		return unknown, true
	}
	return withoutZeros(parts), true
}

func urlPart(u *url.URL, name string) string {
	switch name {
	case "Scheme":
		return u.Scheme
	case "Host":
		return u.Host
	case "Hostname":
		return u.Hostname()
	case "Port":
		return u.Port()
	}
	return u.Path
}

var (
	partsOfURL = source.Exactly(`Scheme|Host|Path|Hostname|Port`)
	parsesURL  = source.Exactly(`net/url\.Parse(?:RequestURI)?`)
)

// isURL reports whether the sources say that an expression is a URL, or a pointer to one.
func (s *Sources) isURL(x expression, nesting int) bool {
	t := s.typeOf(x, nesting+1).pointedTo()
	return t.Expr != nil && syntax.LastName(t.Expr) == "URL" && t.in.PathOf(t.Expr) == "net/url"
}

// textsOfURL returns the texts that url.Parse makes the value of an expression of, and whether it makes it. What is of
// the type of URLs by its declaration may be the text of a flag.
func (s *Sources) textsOfURL(x expression, isURL bool, nesting int) ([]expression, bool) {
	if x.constant != nil {
		return []expression{x}, isURL
	}
	if s.spend(nesting) {
		return nil, false
	}
	if call, ok := ast.Unparen(x.Expr).(*ast.CallExpr); ok && parsesURL.MatchString(x.in.Qualified(call)) {
		if x.result != 0 || len(call.Args) != 1 {
			return nil, false
		}
		text := x.with(call.Args[0])
		text.setting = x.setting
		return []expression{text}, true
	}
	origins, ok := s.origins(x, nesting)
	if !ok || len(origins) == 0 {
		return nil, false
	}
	var texts []expression
	for _, from := range origins {
		from.setting = either(from.setting, x.setting)
		more, ok := s.textsOfURL(from, isURL, nesting+1)
		if !ok || len(texts) > maxOrigins {
			return nil, false
		}
		texts = append(texts, more...)
	}
	return texts, true
}
