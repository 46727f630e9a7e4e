package detect

import (
	"regexp"
	"strings"
)

// span is a part of a source, by offsets.
type span struct{ from, to int }

func (s span) holds(at int) bool { return s.from <= at && at < s.to }

const (
	// longestCall is how many bytes are followed after a bracket that opens: no real call is longer.
	longestCall = 20_000
	// maxFollowed is how many bytes are followed after all brackets of one source: real ones need a hundredth of it.
	maxFollowed = 4 << 20
)

// until returns where the first of the bytes in ends is that no bracket opened after from holds, or where a bracket
// closes that was open before. It gives up past longestValue.
func (s *source) until(from int, ends string) int {
	return s.follow(from, min(len(s.code), from+longestValue+1), ends)
}

func (s *source) follow(from, last int, ends string) int {
	depth := 0
	for at := from; at < last; at++ {
		switch c := s.code[at]; {
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

// arguments returns the arguments of a call, or the elements of a list or an object, from what follows its opening
// bracket: one at least, which may be empty. all is the span of them together.
func (s *source) arguments(from int) (each []span, all span) {
	last := min(len(s.code), from+longestCall)
	if s.followed > maxFollowed {
		last = from
	}
	for begin := from; ; {
		end := s.follow(begin, last, ",")
		each = append(each, s.trim(span{begin, end}))
		if end >= last || s.code[end] != ',' {
			s.followed += end - from
			return each, span{from, end}
		}
		begin = end + 1
	}
}

// trim leaves out the spaces around a part.
func (s *source) trim(p span) span {
	for p.from < p.to && strings.IndexByte(" \t\r\n", s.code[p.from]) >= 0 {
		p.from++
	}
	for p.from < p.to && strings.IndexByte(" \t\r\n", s.code[p.to-1]) >= 0 {
		p.to--
	}
	return p
}

// argumentName is what an argument is given by: name=value, name: value.
var argumentName = regexp.MustCompile(`^([A-Za-z_]\w*)\s*(?:=|:\s)\s*`)

// argument returns the argument with this number (below 0 for none), or of one of these names where it is given by name,
// of the call whose bracket opens before an offset.
func (s *source) argument(from, number int, names ...string) (span, bool) {
	each, _ := s.arguments(from)
	for i, at := range each {
		name := argumentName.FindSubmatchIndex(s.code[at.from:at.to])
		if name == nil && i == number && at.from < at.to {
			return at, true
		}
		for _, wanted := range names {
			if name != nil && string(s.code[at.from:at.from+name[3]]) == wanted {
				return span{at.from + name[1], at.to}, true
			}
		}
	}
	return span{}, false
}
