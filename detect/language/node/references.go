package node

import (
	"bytes"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/source"
)

// usage is how a name is used.
type usage int

const (
	called       usage = iota // name(...)
	instantiated              // new name(...)
	extended                  // class ... extends name
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

// findReferences reports what the table apiRules knows: names behind new or extends, or before the bracket of a call.
// It jumps from word to word and from bracket to bracket instead of matching a pattern, because a bundle has a hundred
// thousand of them.
func (p *pass) findReferences() {
	p.findBehind("new", instantiated)
	p.findBehind("extends", extended)
	for at := 0; ; at++ {
		next := bytes.IndexByte(p.Code[at:], '(')
		if next < 0 {
			return
		}
		at += next
		p.findCalled(at)
	}
}

// findBehind looks at the names that follow a keyword: new grpc.Server, new (grpc.Server).
func (p *pass) findBehind(keyword string, how usage) {
	for at := 0; ; {
		next := bytes.Index(p.Code[at:], []byte(keyword))
		if next < 0 {
			return
		}
		begin := at + next
		at = begin + len(keyword)
		if begin > 0 && isDottedNameByte(p.Code[begin-1]) || at < len(p.Code) && isNameByte(p.Code[at]) {
			continue
		}
		from := skip(p.Code, at, space+"(")
		to := from
		for to < len(p.Code) && isDottedNameByte(p.Code[to]) {
			to++
		}
		p.reference(how, source.Span{From: from, To: to}, source.Span{From: begin, To: to})
	}
}

func isDottedNameByte(c byte) bool { return c == '.' || isNameByte(c) }

// skip returns the first offset, from at on, of a byte that is not in set.
func skip(code []byte, at int, set string) int {
	for at < len(code) && strings.IndexByte(set, code[at]) >= 0 {
		at++
	}
	return at
}

// findCalled looks at the name before an opening bracket: createServer(, connect.connectNodeAdapter<T>(, (0, a.b)(.
func (p *pass) findCalled(bracket int) {
	to := skipBack(p.Code, bracket)
	if to > 0 && p.Code[to-1] == '>' {
		first := max(0, to-maxTypeArguments)
		if n := bytes.LastIndexByte(p.Code[first:to], '<'); n >= 0 {
			to = skipBack(p.Code, first+n)
		}
	}
	if to > 0 && p.Code[to-1] == ')' {
		to = skipBack(p.Code, to-1)
	}
	from := to
	for from > 0 && isDottedNameByte(p.Code[from-1]) {
		from--
	}
	before := p.Code[max(0, from-maxSpace):skipBack(p.Code, from)]
	if from == to || bytes.HasSuffix(before, []byte("function")) || bytes.HasSuffix(before, []byte("new")) {
		return
	}
	p.reference(called, source.Span{From: from, To: to}, source.Span{From: from, To: bracket + 1})
}

// skipBack returns the offset behind the last byte before at that is not white space. It passes over no more than
// maxSpace bytes.
func skipBack(code []byte, at int) int {
	for begin := max(0, at-maxSpace); at > begin && strings.IndexByte(space, code[at-1]) >= 0; {
		at--
	}
	return at
}

// reference reports what the use of a name proves, if anything. at is the part of the source that the finding names.
func (p *pass) reference(how usage, name, at source.Span) {
	if name.From == name.To || name.To-name.From > maxName {
		return
	}
	dotted := p.Slice(name)
	e := p.imports.resolve(dotted)
	for _, n := range unimportedNames {
		if n.usage == how && strings.HasSuffix(dotted, n.suffix) && n.pattern.MatchString(dotted) {
			e = n.export
		}
	}
	if e.module == "" || p.bundled && (how != called || e.module == "http2") {
		return
	}
	for _, r := range apiRules {
		if r.usage == how && r.module.MatchString(e.module) && r.name.MatchString(e.name) {
			p.report(r.finding, at)
			return
		}
	}
}
