package analyzer

import (
	"bytes"
	"regexp"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/source"
)

// condition is what decides whether a part of a text is executed.
type condition struct {
	span source.Span
	// negated says that the part is executed if the condition does not hold.
	negated bool
}

// truth is what is known of a condition.
type truth int

const (
	notKnown truth = iota
	isTrue
	isFalse
)

func (t truth) not(negated bool) truth {
	if negated && t != notKnown {
		return isTrue + isFalse - t
	}
	return t
}

// and returns what is known of two conditions together.
func (t truth) and(other truth) truth {
	if t == isFalse || other == isFalse {
		return isFalse
	}
	return min(t, other)
}

func truthOf(b bool) truth { return isFalse.not(b) }

var (
	conditionHead = regexp.MustCompile(
		`^[\s}]*(?:else\s*|el)?(?P<word>if|sif|unless)\b\s*(?P<condition>.+?)\s*[:{]?\s*$`)
	elseHead = regexp.MustCompile(`^[\s}]*else\b\s*[:{]?\s*$`)
	// oneLine is a statement behind its condition, in the same line.
	oneLine = regexp.MustCompile(`^[\s}]*(?:else\s+)?if\s*\(`)
	// behindIf is what follows the first branch of: first if condition else second.
	behindIf = regexp.MustCompile(`^[^,;]*?\sif\s(?P<condition>.+?)\selse\s`)
	elseIf   = regexp.MustCompile(`\sif\s(?P<condition>.+?)\selse\s*$`)
)

// maxConditionLines is how many lines above a statement are searched for its condition.
const maxConditionLines = 60

// conditionsAround returns the conditions of the branches that an offset is in, the innermost first, by the indentation
// of the lines.
func conditionsAround(t *source.Text, at int) []condition {
	var all []condition
	line := t.Line(at)
	if c, ok := conditionInLine(t, line, at); ok {
		all = append(all, c)
	}
	indent, negated := t.Indented(line), false
	for n := line - 1; n > 0 && n >= line-maxConditionLines && (indent > 0 || negated); n-- {
		in := t.Indented(n)
		if in < 0 || in > indent || in == indent && !negated {
			continue
		}
		code := bytes.TrimRight(t.LineCode(n-1), "\r\n")
		m := conditionHead.FindSubmatchIndex(code)
		switch {
		case m != nil:
			from := lineStart(t, n)
			isUnless := string(code[m[2]:m[3]]) == "unless"
			all = append(all, condition{source.Span{From: from + m[4], To: from + m[5]}, negated != isUnless})
			isElseIf := strings.IndexByte("iu", bytes.TrimLeft(code, " \t}")[0]) < 0
			indent, negated = in, isElseIf // what goes before does not hold
		case elseHead.Match(code):
			indent, negated = in, true
		case in < indent:
			indent, negated = in, false
		}
	}
	return all
}

// lineStart returns the offset at which a line, from 1, begins.
func lineStart(t *source.Text, line int) int {
	before := 0
	for n := range line - 1 {
		before += len(t.LineCode(n))
	}
	return before
}

// conditionInLine returns the condition that stands in the same line: of a ternary expression, or of a statement.
func conditionInLine(t *source.Text, line, at int) (condition, bool) {
	start := lineStart(t, line)
	whole := bytes.TrimRight(t.LineCode(line-1), "\r\n")
	before, behind := whole[:at-start], whole[at-start:]
	part := func(code []byte, from int, p *regexp.Regexp, negated bool) (condition, bool) {
		m := p.FindSubmatchIndex(code)
		if m == nil {
			return condition{}, false
		}
		i := 2 * p.SubexpIndex("condition")
		return condition{source.Span{From: from + m[i], To: from + m[i+1]}, negated}, true
	}
	if m := oneLine.FindIndex(before); m != nil {
		if end := t.Until(start+m[1], ""); end < at {
			return condition{source.Span{From: start + m[1], To: end}, false}, true
		}
	}
	if c, ok := part(behind, at, behindIf, false); ok {
		return c, true
	}
	if c, ok := part(before, start, elseIf, true); ok {
		return c, true
	}
	return ternaryAround(t, at)
}

// maxTernary is how many bytes before a branch are searched for the condition of condition ? first : second.
const maxTernary = 300

// ternaryAround returns the condition of the branch that begins at an offset.
func ternaryAround(t *source.Text, at int) (condition, bool) {
	isElse := false
	end := beforeInBrackets(t.Code, at, func(i int) bool {
		switch c := t.Code[i]; {
		case c == ':' && t.Code[i-1] != ':' && t.Code[i+1] != ':':
			isElse = true
		case c == '?':
			return t.Code[i-1] != '?' && t.Code[i+1] != '?' && t.Code[i+1] != '.'
		}
		return endsExpression(t.Code, i)
	})
	if end <= 0 || t.Code[end] != '?' {
		return condition{}, false
	}
	from := 1 + beforeInBrackets(t.Code, end, func(i int) bool { return endsExpression(t.Code, i) })
	if returned := bytes.TrimLeft(t.Code[from:end], " \t\r\n"); bytes.HasPrefix(returned, []byte("return ")) {
		from = end - len(returned) + len("return ")
	}
	return condition{source.Span{From: from, To: end}, isElse}, true
}

// beforeInBrackets returns the last offset before another one at which found says so, or at which a bracket opens
// around it; -1 if that is too far away.
func beforeInBrackets(code []byte, at int, found func(i int) bool) int {
	depth := 0
	for i := at - 1; i > max(0, at-maxTernary); i-- {
		switch code[i] {
		case ')', ']', '}':
			depth++
			continue
		case '(', '[', '{':
			depth--
		}
		if depth < 0 || depth == 0 && i+1 < len(code) && found(i) {
			return i
		}
	}
	return -1
}

// endsExpression reports whether an expression begins behind a byte: an assignment, a comma, the end of a line that
// does not go on with an operator.
func endsExpression(code []byte, i int) bool {
	switch code[i] {
	case ',', ';':
		return true
	case '\n':
		next := bytes.TrimLeft(code[i:], " \t\r\n")
		return len(next) == 0 || next[0] != '?' && next[0] != ':'
	case '=':
		return strings.IndexByte("=!<>", code[i-1]) < 0 && code[i+1] != '='
	}
	return false
}
