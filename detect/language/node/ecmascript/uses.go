package ecmascript

import (
	"bytes"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/source"
)

// Usage is how a name is used.
type Usage int

// The usages.
const (
	Called       Usage = iota // name(...)
	Instantiated              // new name(...)
	Extended                  // class ... extends name
)

const (
	// maxName is the longest dotted name that is looked at, in bytes.
	maxName = 200
	// maxSpace is how many bytes of white space are passed over before a bracket: no more than a line has.
	maxSpace = 20
	// maxTypeArguments is how many bytes the type arguments of a call may have, from < to >.
	maxTypeArguments = 200

	space = " \t\r\n"
)

// Use is the use of a dotted name.
type Use struct {
	How  Usage
	Name string
	At   source.Span // from the keyword before it, up to the bracket after it
}

// Uses yields the names after new or extends, then those before the bracket of a call. It jumps from word to word and
// from bracket to bracket instead of matching a pattern, because a bundle has a hundred thousand of them.
func (s *Source) Uses(yield func(Use)) {
	s.behind("new", Instantiated, yield)
	s.behind("extends", Extended, yield)
	for at := 0; ; at++ {
		next := bytes.IndexByte(s.Code[at:], '(')
		if next < 0 {
			return
		}
		at += next
		s.called(at, yield)
	}
}

// behind looks at the names that follow a keyword: new grpc.Server, new (grpc.Server).
func (s *Source) behind(keyword string, how Usage, yield func(Use)) {
	for at := 0; ; {
		next := bytes.Index(s.Code[at:], []byte(keyword))
		if next < 0 {
			return
		}
		begin := at + next
		at = begin + len(keyword)
		if begin > 0 && isDottedNameByte(s.Code[begin-1]) || at < len(s.Code) && IsNameByte(s.Code[at]) {
			continue
		}
		from := skip(s.Code, at, space+"(")
		to := from
		for to < len(s.Code) && isDottedNameByte(s.Code[to]) {
			to++
		}
		s.use(how, source.Span{From: from, To: to}, source.Span{From: begin, To: to}, yield)
	}
}

func isDottedNameByte(c byte) bool { return c == '.' || IsNameByte(c) }

// skip returns the first offset, from at on, of a byte that is not in set.
func skip(code []byte, at int, set string) int {
	for at < len(code) && strings.IndexByte(set, code[at]) >= 0 {
		at++
	}
	return at
}

// called looks at the name before an opening bracket: createServer(, connect.connectNodeAdapter<T>(, (0, a.b)(.
func (s *Source) called(bracket int, yield func(Use)) {
	to := skipBack(s.Code, bracket)
	if to > 0 && s.Code[to-1] == '>' {
		first := max(0, to-maxTypeArguments)
		if n := bytes.LastIndexByte(s.Code[first:to], '<'); n >= 0 {
			to = skipBack(s.Code, first+n)
		}
	}
	if to > 0 && s.Code[to-1] == ')' {
		to = skipBack(s.Code, to-1)
	}
	from := to
	for from > 0 && isDottedNameByte(s.Code[from-1]) {
		from--
	}
	before := s.Code[max(0, from-maxSpace):skipBack(s.Code, from)]
	if from == to || bytes.HasSuffix(before, []byte("function")) || bytes.HasSuffix(before, []byte("new")) {
		return
	}
	s.use(Called, source.Span{From: from, To: to}, source.Span{From: from, To: bracket + 1}, yield)
}

// skipBack returns the offset after the last byte before at that is not white space. It passes over no more than
// maxSpace bytes.
func skipBack(code []byte, at int) int {
	for begin := max(0, at-maxSpace); at > begin && strings.IndexByte(space, code[at-1]) >= 0; {
		at--
	}
	return at
}

func (s *Source) use(how Usage, name, at source.Span, yield func(Use)) {
	if name.From < name.To && name.To-name.From <= maxName {
		yield(Use{how, s.Slice(name), at})
	}
}
