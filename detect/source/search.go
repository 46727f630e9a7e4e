package source

import (
	"bytes"
	"regexp/syntax"
	"slices"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

// search is knowledge of all matches of a pattern, so that most of a text need not be searched.
type search struct {
	pattern *lazyregexp.Regexp
	// Every match has at least one of literals, which are empty if unknown.
	literals Keywords
	// apart marks bytes in no match: the text between two such bytes is searched alone. No such byte is part of a word
	// or of a longer character. There are none if a match can see how far the text goes.
	apart  [utf8.RuneSelf]bool
	splits bool // apart has a byte
}

// searches caches searches: the patterns of a language are the same for all files.
var searches sync.Map // of *search, by *lazyregexp.Regexp

func searchFor(pattern *lazyregexp.Regexp) *search {
	cached, ok := searches.Load(pattern)
	if !ok {
		cached, _ = searches.LoadOrStore(pattern, newSearch(pattern))
	}
	known, _ := cached.(*search)
	return known
}

func newSearch(pattern *lazyregexp.Regexp) *search {
	parsed, err := syntax.Parse(pattern.String(), syntax.Perl)
	if err != nil {
		return &search{pattern: pattern}
	}
	s := search{pattern: pattern, literals: pattern.Literals()}
	for c := range s.apart {
		s.apart[c] = !IsWordByte(byte(c))
	}
	s.exclude(withoutContext(parsed))
	for _, isApart := range s.apart {
		s.splits = s.splits || isApart && len(s.literals) > 0
	}
	return &s
}

// withoutContext returns a pattern without the beginning (?:^|[^x]), which looks at the byte before a match: a part of
// the text begins with the byte.
func withoutContext(pattern *syntax.Regexp) *syntax.Regexp {
	if pattern.Op != syntax.OpConcat || pattern.Sub[0].Op != syntax.OpAlternate {
		return pattern
	}
	var ops []syntax.Op
	for _, sub := range pattern.Sub[0].Sub {
		ops = append(ops, sub.Op)
	}
	if !slices.Equal(ops, []syntax.Op{syntax.OpBeginText, syntax.OpCharClass}) &&
		!slices.Equal(ops, []syntax.Op{syntax.OpBeginLine, syntax.OpCharClass}) {
		return pattern
	}
	rest := *pattern
	rest.Sub = pattern.Sub[1:]
	return &rest
}

// exclude removes from apart the bytes that a part of a pattern may match.
func (s *search) exclude(part *syntax.Regexp) {
	for c := range s.apart {
		r := rune(c)
		switch part.Op {
		case syntax.OpLiteral:
			for _, literal := range part.Rune {
				isFolded := part.Flags&syntax.FoldCase != 0 && unicode.ToLower(r) == unicode.ToLower(literal)
				s.apart[c] = s.apart[c] && r != literal && !isFolded
			}
		case syntax.OpCharClass:
			for i := 0; i < len(part.Rune); i += 2 {
				s.apart[c] = s.apart[c] && (r < part.Rune[i] || r > part.Rune[i+1])
			}
		case syntax.OpAnyCharNotNL, syntax.OpEndLine: // then a part of the text ends with a line
			s.apart[c] = s.apart[c] && r == '\n'
		case syntax.OpAnyChar, syntax.OpBeginText, syntax.OpEndText:
			s.apart[c] = false
		}
	}
	for _, sub := range part.Sub {
		s.exclude(sub)
	}
}

// parts yields the parts of a text that may hold matches. Each match is within a single part.
func (s *search) parts(text []byte) func(yield func(Span) bool) {
	return func(yield func(Span) bool) {
		if !s.splits {
			if s.pattern.MayMatch(text) {
				yield(Span{0, len(text)})
			}
			return
		}
		next := make([]int, len(s.literals)) // the next offset of each literal
		for i := range next {
			next[i] = -1
		}
		for at := 0; ; {
			literal := s.nearest(text, at, next)
			if literal == len(text) {
				return
			}
			from, to := literal, literal
			for from > at && !s.isApart(text[from]) {
				from--
			}
			for to < len(text) && !s.isApart(text[to]) {
				to++
			}
			if !yield(Span{from, to}) {
				return
			}
			at = to
		}
	}
}

// nearest returns the offset of the first literal at or after an offset, or the end of the text for none.
func (s *search) nearest(text []byte, at int, next []int) int {
	first := len(text)
	for i, literal := range s.literals {
		if next[i] < at {
			if n := bytes.Index(text[at:], literal); n >= 0 {
				next[i] = at + n
			} else {
				next[i] = len(text)
			}
		}
		first = min(first, next[i])
	}
	return first
}

func (s *search) isApart(c byte) bool { return c < utf8.RuneSelf && s.apart[c] }

// FindAll returns the matches of a pattern in the code, as regexp.FindAllSubmatchIndex does: at most limit matches, or
// all for a limit below 0. Analyzers search by this function alone, so that a test can count the cost of a search.
func (t *Text) FindAll(pattern *lazyregexp.Regexp, limit int) [][]int {
	var found [][]int
	for part := range searchFor(pattern).parts(t.Code) {
		if len(found) == limit {
			break
		}
		code := t.Code[part.From:part.To]
		countSearch(pattern, code, limit-len(found))
		for _, m := range pattern.FindAllSubmatchIndex(code, limit-len(found)) {
			found = append(found, moved(m, part.From))
		}
	}
	return found
}

// FindCalls is [Text.FindAll] for a pattern that ends with the bracket of a call. The next match may begin at that
// bracket, as in run(Server(50051)).
func (t *Text) FindCalls(pattern *lazyregexp.Regexp, limit int) [][]int {
	var found [][]int
	for part := range searchFor(pattern).parts(t.Code) {
		for at := part.From; at < part.To && len(found) != limit; {
			code := t.Code[at:part.To]
			countSearch(pattern, code, 1)
			m := pattern.FindSubmatchIndex(code)
			if m == nil {
				break
			}
			found = append(found, moved(m, at))
			at += max(m[1]-at-1, 1)
		}
	}
	return found
}

// moved returns a match with offsets in the whole text.
func moved(match []int, by int) []int {
	for i := range match {
		if match[i] >= 0 {
			match[i] += by
		}
	}
	return match
}

// Matches reports whether the code has a match of a pattern.
func (t *Text) Matches(pattern *lazyregexp.Regexp) bool {
	for part := range searchFor(pattern).parts(t.Code) {
		if pattern.Match(t.Code[part.From:part.To]) {
			return true
		}
	}
	return false
}

// Mentions reports whether a pattern may match in strings, comments or code; false is certain.
func (t *Text) Mentions(pattern *lazyregexp.Regexp) bool {
	for range searchFor(pattern).parts(t.Raw) {
		return true
	}
	return false
}
