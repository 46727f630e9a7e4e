package lazyregexp

import (
	"bytes"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode/utf8"
)

// A search for literals saves time up to maxLiterals of an expression, the shortest at least minLiteral bytes long.
const (
	maxLiterals = 16
	minLiteral  = 3
	maxRunes    = 3 // of a class
)

// literals are texts of which every match of an expression has at least one; none if unknown.
type literals struct {
	texts [][]byte
	fold  bool // a match may have the literals in another case too
}

// known is the knowledge of all matches of an expression.
type known struct {
	exact literals // in the case of the expression
	// needed are the literals worth a search before the expression is executed: a matching text has one of each.
	needed []literals
	// isAnchored says that a match begins at the beginning of the text. Executing the expression on a long text may
	// then cost less than the search.
	isAnchored bool
}

// maxAnchored is the length in bytes up to which a text is searched for the literals of an anchored expression.
const maxAnchored = 256

func read(expression string) known {
	var k known
	parsed, err := syntax.Parse(expression, syntax.Perl)
	if err != nil {
		return k
	}
	parsed = parsed.Simplify()
	if k.exact.texts = literalsIn(parsed, false); len(k.exact.texts) > maxLiterals {
		k.exact.texts = nil
	}
	for parsed.Op == syntax.OpCapture {
		parsed = parsed.Sub[0]
	}
	parts := []*syntax.Regexp{parsed}
	if parsed.Op == syntax.OpConcat {
		parts = parsed.Sub
	}
	k.isAnchored = parts[0].Op == syntax.OpBeginText
	for _, part := range parts {
		l := literals{texts: literalsIn(part, false)}
		if !l.areWorthwhile() {
			l = literals{literalsIn(part, true), true}
		}
		if l.areWorthwhile() {
			k.needed = append(k.needed, l)
		}
	}
	slices.SortStableFunc(k.needed, func(a, b literals) int { return shortest(b.texts) - shortest(a.texts) })
	return k
}

// mayMatch reports false for a text without the needed literals. The length is the length of the text.
func (k known) mayMatch(length int, isIn func(literals) bool) bool {
	if k.isAnchored && length > maxAnchored {
		return true
	}
	return !slices.ContainsFunc(k.needed, func(l literals) bool { return !isIn(l) })
}

func (l literals) areWorthwhile() bool {
	return len(l.texts) <= maxLiterals && shortest(l.texts) >= minLiteral
}

func (l literals) inBytes(text []byte) bool {
	return slices.ContainsFunc(l.texts, func(literal []byte) bool {
		return !l.fold && bytes.Contains(text, literal) || l.fold && containsFold(text, literal)
	})
}

func (l literals) inString(text string) bool {
	return slices.ContainsFunc(l.texts, func(literal []byte) bool {
		return !l.fold && strings.Contains(text, string(literal)) || l.fold && containsFold(text, literal)
	})
}

// containsFold reports whether a text has a literal in any case. The result is true for any text with a character
// beyond ASCII: the character may be a letter of the literal in another case, such as the sign of Kelvin.
func containsFold[T []byte | string](text T, literal []byte) bool {
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf {
			return true
		}
		n := 0
		for n < len(literal) && i+n < len(text) && lower(text[i+n]) == lower(literal[n]) {
			n++
		}
		if n == len(literal) {
			return true
		}
	}
	return false
}

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		c += 'a' - 'A'
	}
	return c
}

// literalsIn returns literals, one of which is in every match of a part of an expression, or nil.
func literalsIn(part *syntax.Regexp, fold bool) [][]byte {
	switch part.Op {
	case syntax.OpLiteral:
		if fold || part.Flags&syntax.FoldCase == 0 {
			return [][]byte{[]byte(string(part.Rune))}
		}
	case syntax.OpCharClass:
		return runesOf(part)
	case syntax.OpCapture, syntax.OpPlus:
		return literalsIn(part.Sub[0], fold)
	case syntax.OpConcat:
		// Every match has a literal of each list: the list whose shortest literal is the longest is the rarest.
		var best [][]byte
		for _, sub := range part.Sub {
			if all := literalsIn(sub, fold); shortest(all) > shortest(best) {
				best = all
			}
		}
		return best
	case syntax.OpAlternate:
		var all [][]byte
		for _, sub := range part.Sub {
			each := literalsIn(sub, fold)
			if each == nil {
				return nil
			}
			all = append(all, each...)
		}
		return all
	}
	return nil
}

// runesOf returns the characters of a class, each as a literal; nil for more than maxRunes.
func runesOf(class *syntax.Regexp) [][]byte {
	var all [][]byte
	for i := 0; i < len(class.Rune); i += 2 {
		for r := class.Rune[i]; r <= class.Rune[i+1]; r++ {
			if len(all) == maxRunes {
				return nil
			}
			all = append(all, []byte(string(r)))
		}
	}
	return all
}

// shortest returns the length of the shortest literal, 0 for none.
func shortest(all [][]byte) int {
	if len(all) == 0 {
		return 0
	}
	return len(slices.MinFunc(all, func(a, b []byte) int { return len(a) - len(b) }))
}
