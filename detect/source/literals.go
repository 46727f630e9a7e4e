package source

import (
	"bytes"
	"regexp/syntax"
	"slices"
)

// maxLiterals is how many literals a pattern may have, and minLiteral how many bytes the shortest of them needs, so
// that looking for them saves time.
const (
	maxLiterals = 16
	minLiteral  = 3
	maxRunes    = 3 // those of a class
)

// literalsIn returns literals of which every match of a part of a pattern has one, or nil.
func literalsIn(part *syntax.Regexp) Keywords {
	switch part.Op {
	case syntax.OpLiteral:
		if part.Flags&syntax.FoldCase == 0 {
			return Keywords{[]byte(string(part.Rune))}
		}
	case syntax.OpCharClass:
		return runesOf(part)
	case syntax.OpCapture, syntax.OpPlus:
		return literalsIn(part.Sub[0])
	case syntax.OpConcat:
		// Every match has one of each list: the list whose shortest literal is the longest is the rarest.
		var best Keywords
		for _, sub := range part.Sub {
			if literals := literalsIn(sub); shortest(literals) > shortest(best) {
				best = literals
			}
		}
		return best
	case syntax.OpAlternate:
		var all Keywords
		for _, sub := range part.Sub {
			literals := literalsIn(sub)
			if literals == nil {
				return nil
			}
			all = append(all, literals...)
		}
		return all
	}
	return nil
}

// runesOf returns the characters of a class if they are few, each as a literal.
func runesOf(class *syntax.Regexp) Keywords {
	var all Keywords
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

// shortest returns the length of the shortest keyword, and 0 if there is none.
func shortest(k Keywords) int {
	if len(k) == 0 {
		return 0
	}
	return len(slices.MinFunc(k, func(a, b []byte) int { return len(a) - len(b) }))
}

// Words yields the offsets at which a word stands in the code, whole and not as a part of a longer word.
func (t *Text) Words(word string) func(yield func(at int) bool) {
	return func(yield func(at int) bool) {
		for at := 0; ; at += len(word) {
			n := bytes.Index(t.Code[at:], []byte(word))
			if n < 0 {
				return
			}
			at += n
			end := at + len(word)
			isPart := at > 0 && IsWordByte(t.Code[at-1]) || end < len(t.Code) && IsWordByte(t.Code[end])
			if !isPart && !yield(at) {
				return
			}
		}
	}
}
