package dotnet

import (
	"bytes"
	"slices"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/oldaddress"
	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

// isElsewhere reports whether the code at an offset, and not that at another one, runs only if no image does.
func isElsewhere(d *address.Names, at, other int) bool {
	never := func(c address.Condition) bool {
		holds, known := inImage(d, c.Span, 0)
		return known && holds == c.Negated
	}
	return slices.ContainsFunc(append(d.Conditions(at, other), d.Left(at)...), never)
}

// environmentTests ask for what is known of images: they are for Linux, and ASP.NET Core's environment is Production
// there unless something says otherwise (learn.microsoft.com, "Use multiple environments"). The group "is" is what it
// is compared with.
var environmentTests = []struct {
	test *lazyregexp.Regexp
	is   string // what holds in images
}{
	{lazyregexp.New(`\.\s*Is(?P<is>Development|Staging|Production)\s*\(`), "production"},
	{lazyregexp.New(`\.\s*IsEnvironment\s*\(\s*"?(?:Environments\.)?(?P<is>\w+)"?\s*\)`), "production"},
	{lazyregexp.New(`(?:\bEnvironmentName|"(?:ASPNETCORE|DOTNET)_ENVIRONMENT"\s*[\])])\s*` +
		`(?:[!=]=|=|<>|\?*\.\s*Equals\s*\()\s*(?:"|Environments\.)(?P<is>\w+)`), "production"},
	{lazyregexp.New(`\bIsOSPlatform\s*\(\s*OSPlatform\s*\.\s*(?P<is>\w+)`), "linux"},
	{lazyregexp.New(`\bOperatingSystem\s*\.\s*Is(?P<is>Linux|MacOS|Windows)\s*\(`), "linux"},
}

// maxConditionNames is how many names a condition is followed through.
const maxConditionNames = 3

var (
	and       = lazyregexp.New(`&&|\bAndAlso\b`)
	or        = lazyregexp.New(`\|\||\bOrElse\b`)
	isNegated = lazyregexp.New(`^(?:!|not\b|Not\b)\s*`)
	isUnlike  = lazyregexp.New(`!=|<>|==\s*false\b`)
)

// inImage reports whether a condition holds in every image or in none, and whether either is known.
func inImage(d *address.Names, s source.Span, depth int) (holds, known bool) {
	s = d.Trim(s)
	code := d.Code[s.From:s.To]
	if len(code) > 1 && code[0] == '(' && d.Until(s.From+1, "") == s.To-1 {
		return inImage(d, source.Span{From: s.From + 1, To: s.To - 1}, depth)
	}
	if parts := splitAt(s, code, or); len(parts) > 1 {
		return combined(d, parts, depth, true)
	}
	if parts := splitAt(s, code, and); len(parts) > 1 {
		return combined(d, parts, depth, false)
	}
	if m := isNegated.FindIndex(code); m != nil {
		holds, known = inImage(d, source.Span{From: s.From + m[1], To: s.To}, depth)
		return !holds, known
	}
	for _, of := range environmentTests {
		if m := of.test.FindSubmatch(d.Raw[s.From:s.To]); m != nil {
			return strings.EqualFold(string(m[1]), of.is) != isUnlike.Match(code), true
		}
	}
	values := d.Values(string(code), s.From)
	if simpleName.Match(code) && len(values) == 1 && depth < maxConditionNames {
		return inImage(d, values[0], depth+1)
	}
	return false, false
}

// combined is [inImage] of a condition that is true if one of its parts is, or only if all of them are.
func combined(d *address.Names, parts []source.Span, depth int, byOne bool) (holds, known bool) {
	allKnown := true
	for _, part := range parts {
		holds, known := inImage(d, part, depth)
		if known && holds == byOne {
			return byOne, true
		}
		allKnown = allKnown && known
	}
	return !byOne, allKnown
}

// splitAt returns the parts of an expression between operators. Operators in brackets do not count.
func splitAt(s source.Span, code []byte, operator *lazyregexp.Regexp) []source.Span {
	var parts []source.Span
	from := 0
	for _, m := range operator.FindAllIndex(code, address.MaxListeners) {
		before := code[from:m[0]]
		if bytes.Count(before, []byte("(")) == bytes.Count(before, []byte(")")) {
			parts = append(parts, source.Span{From: s.From + from, To: s.From + m[0]})
			from = m[1]
		}
	}
	return append(parts, source.Span{From: s.From + from, To: s.To})
}
