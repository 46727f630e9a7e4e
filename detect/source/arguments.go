package source

import (
	"strings"

	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

// Span is a part of a text, by offsets: From is its first byte, To the one after its last.
type Span struct{ From, To int }

// Contains reports whether an offset lies in the span.
func (s Span) Contains(at int) bool { return s.From <= at && at < s.To }

// Len returns how many bytes the span has.
func (s Span) Len() int { return s.To - s.From }

const (
	// MaxValue is how many bytes an expression has that states an address; a longer one computes.
	MaxValue = 400
	// maxCall is how many bytes are followed after an opening bracket: no real call is longer.
	maxCall = 20_000
	// maxFollowed is how many bytes are followed after all brackets of one text: real ones need a hundredth of it.
	maxFollowed = 4 << 20
)

// Slice returns the code of a span.
func (t *Text) Slice(s Span) string { return string(t.Code[s.From:s.To]) }

// Until returns where the first of the bytes in ends is that stands in no bracket opened after from, or where a
// bracket closes that was open before. It gives up after MaxValue bytes.
func (t *Text) Until(from int, ends string) int {
	return t.follow(from, min(len(t.Code), from+MaxValue+1), ends)
}

func (t *Text) follow(from, last int, ends string) int {
	depth := 0
	for at := from; at < last; at++ {
		switch c := t.Code[at]; {
		case depth == 0 && strings.IndexByte(ends, c) >= 0:
			return at
		case c == '(' || c == '[' || c == '{':
			depth++
		case c == ')' || c == ']' || c == '}':
			if depth--; depth < 0 {
				return at
			}
		}
	}
	return max(from, last)
}

// Arguments returns the arguments of a call, or the elements of a list or an object, from the offset after its opening
// bracket. There is at least one, which may be empty. all is the span of them together.
func (t *Text) Arguments(from int) (each []Span, all Span) {
	last := min(len(t.Code), from+maxCall)
	if t.followed > maxFollowed {
		last = from
	}
	for begin := from; ; {
		end := t.follow(begin, last, ",")
		each = append(each, t.Trim(Span{begin, end}))
		if end >= last || t.Code[end] != ',' {
			t.followed += end - from
			return each, Span{from, end}
		}
		begin = end + 1
	}
}

// InBrackets returns a function that reports whether an offset stands in brackets. It has to be asked for one offset
// after the other, so that it reads the text once.
func (t *Text) InBrackets() func(offset int) bool {
	at, depth := 0, 0
	return func(offset int) bool {
		for ; at < offset; at++ {
			switch t.Code[at] {
			case '(', '[', '{':
				depth++
			case ')', ']', '}':
				depth = max(depth-1, 0)
			}
		}
		return depth > 0
	}
}

// Trim returns a span without the white space at its ends.
func (t *Text) Trim(s Span) Span {
	for s.From < s.To && strings.IndexByte(" \t\r\n", t.Code[s.From]) >= 0 {
		s.From++
	}
	for s.From < s.To && strings.IndexByte(" \t\r\n", t.Code[s.To-1]) >= 0 {
		s.To--
	}
	return s
}

// argumentName is what a named argument begins with: name=value, name: value.
var argumentName = lazyregexp.New(`^([A-Za-z_]\w*)\s*(?:=|:\s)\s*`)

// Argument returns the argument with this number, from 0, of the call whose bracket opens before an offset; or the one
// that has one of the names. A number below 0 is for arguments that are given by name alone.
func (t *Text) Argument(from, number int, names ...string) (Span, bool) {
	each, _ := t.Arguments(from)
	for i, at := range each {
		name := argumentName.FindSubmatchIndex(t.Code[at.From:at.To])
		if name == nil && i == number && at.From < at.To {
			return at, true
		}
		for _, wanted := range names {
			if name != nil && string(t.Code[at.From:at.From+name[3]]) == wanted {
				return Span{at.From + name[1], at.To}, true
			}
		}
	}
	return Span{}, false
}

// maxReturns is how many return statements of a function are read.
const maxReturns = 8

// Returns returns the expressions that a function returns whose body begins at an offset, after its brace.
func (t *Text) Returns(body int) []Span {
	end := t.Until(body, "")
	var found []Span
	for at := body; len(found) < maxReturns; {
		n := strings.Index(string(t.Code[at:end]), "return")
		if n < 0 {
			break
		}
		from := at + n + len("return")
		at = t.Until(from, ";")
		found = append(found, t.Trim(Span{from, at}))
		at = min(max(at, from), end)
	}
	return found
}
