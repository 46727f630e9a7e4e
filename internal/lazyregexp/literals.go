package lazyregexp

import (
	"bytes"
	"regexp/syntax"
	"slices"
	"unicode/utf8"
)

// maxLiterals is how many literals a pattern may have, and minLiteral how many bytes the shortest of them needs, so
// that looking for them saves time.
const (
	maxLiterals = 16
	minLiteral  = 3
	maxRunes    = 3 // those of a class
)

// literals are texts of which every match of an expression has at least one; there are none if they are not known.
type literals struct {
	texts [][]byte
	// fold says that a match may have them in other case too. They are in lower case then.
	fold bool
}

// literalsOf returns the literals of an expression: those in any case only if there are no others worth looking for.
func literalsOf(expression string) (exact, worthwhile literals) {
	parsed, err := syntax.Parse(expression, syntax.Perl)
	if err != nil {
		return literals{}, literals{}
	}
	parsed = parsed.Simplify()
	exact = literals{texts: literalsIn(parsed, false)}
	if len(exact.texts) > maxLiterals {
		exact = literals{}
	}
	if shortest(exact.texts) >= minLiteral {
		return exact, exact
	}
	folded := literals{literalsIn(parsed, true), true}
	if len(folded.texts) > maxLiterals || shortest(folded.texts) < minLiteral {
		folded = literals{}
	}
	return exact, folded
}

// mayBeIn reports false for a text that has none of the literals.
func (l literals) mayBeIn(text []byte) bool {
	if len(l.texts) == 0 {
		return true
	}
	isIn := bytes.Contains
	if l.fold {
		isIn = containsFold
	}
	return slices.ContainsFunc(l.texts, func(literal []byte) bool { return isIn(text, literal) })
}

// containsFold reports whether a text has a literal in lower case, in any case. It is true for any text with a longer
// character, which may be a letter of the literal in another case, such as the sign of Kelvin.
func containsFold(text, lower []byte) bool {
	for i, c := range text {
		if c >= utf8.RuneSelf {
			return true
		}
		if c|' ' == lower[0]|' ' && len(text)-i >= len(lower) && bytes.EqualFold(text[i:i+len(lower)], lower) {
			return true
		}
	}
	return false
}

// literalsIn returns literals of which every match of a part of an expression has one, or nil.
func literalsIn(part *syntax.Regexp, fold bool) [][]byte {
	switch part.Op {
	case syntax.OpLiteral:
		if fold {
			return [][]byte{bytes.ToLower([]byte(string(part.Rune)))}
		} else if part.Flags&syntax.FoldCase == 0 {
			return [][]byte{[]byte(string(part.Rune))}
		}
	case syntax.OpCharClass:
		return runesOf(part)
	case syntax.OpCapture, syntax.OpPlus:
		return literalsIn(part.Sub[0], fold)
	case syntax.OpConcat:
		// Every match has one of each list: the list whose shortest literal is the longest is the rarest.
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

// runesOf returns the characters of a class if they are few, each as a literal.
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

// shortest returns the length of the shortest literal, and 0 if there is none.
func shortest(all [][]byte) int {
	if len(all) == 0 {
		return 0
	}
	return len(slices.MinFunc(all, func(a, b []byte) int { return len(a) - len(b) }))
}
