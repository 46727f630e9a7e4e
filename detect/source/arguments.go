package source

import (
	"strings"

	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

// Span is a part of a text, by offsets: from the byte From to before the byte To.
type Span struct{ From, To int }

// Contains reports whether an offset lies in the span.
func (s Span) Contains(at int) bool { return s.From <= at && at < s.To }

// Len returns the number of bytes in the span.
func (s Span) Len() int { return s.To - s.From }

const (
	// MaxValue is the most bytes of an expression that states an address; a longer expression computes.
	MaxValue = 400
	// maxCall is how many bytes are followed after an opening bracket: no real call is longer.
	maxCall = 20_000
	// maxFollowed is how many bytes are followed after all brackets of a text: real texts need a hundredth.
	maxFollowed = 4 << 20
)

// Slice returns the code of a span.
func (t *Text) Slice(s Span) string { return string(t.Code[s.From:s.To]) }

// Until returns the offset of the first byte of ends outside of brackets opened after from, or of the bracket that
// closes an earlier bracket. Until gives up after MaxValue bytes.
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

// Arguments returns the arguments of a call, or the elements of a list or an object, from the offset after the opening
// bracket. There is at least one, possibly empty. all is the span of all arguments together.
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

// InBrackets returns a function that reports whether an offset stands in brackets. Calls need ascending offsets, since
// the function reads the text once.
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

// Trim returns a span without the white space at both ends.
func (t *Text) Trim(s Span) Span {
	for s.From < s.To && strings.IndexByte(" \t\r\n", t.Code[s.From]) >= 0 {
		s.From++
	}
	for s.From < s.To && strings.IndexByte(" \t\r\n", t.Code[s.To-1]) >= 0 {
		s.To--
	}
	return s
}

// argumentName begins a named argument: name=value, name: value.
var argumentName = lazyregexp.New(`^([A-Za-z_]\w*)\s*(?:=|:\s)\s*`)

// Argument returns the argument with a number, from 0, or with one of the names. The call's bracket opens before the
// offset from. A number below 0 is for arguments given by name alone.
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

// Returns returns the expressions in the return statements of a function. body is the offset after the opening brace.
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
