package detect

import (
	"bytes"
	"strings"
)

// uses takes what is told by the module that a used name is of: one after new or extends, or before the bracket that it is
// called with. It goes from word to word and from bracket to bracket, since a bundle has a hundred thousand of them.
func (r *nodeReader) uses() {
	r.after("new", nodeMade)
	r.after("extends", nodeExtended)
	for at := 0; ; at++ {
		next := bytes.IndexByte(r.code[at:], '(')
		if next < 0 {
			return
		}
		at += next
		r.called(at)
	}
}

// after takes the names that follow a word: new grpc.Server, new (grpc.Server).
func (r *nodeReader) after(word string, use nodeUse) {
	for at := 0; ; {
		next := bytes.Index(r.code[at:], []byte(word))
		if next < 0 {
			return
		}
		begin := at + next
		at = begin + len(word)
		if begin > 0 && (nodeInWord(r.code[begin-1]) || r.code[begin-1] == '.') || at < len(r.code) && nodeInWord(r.code[at]) {
			continue
		}
		from := nodeSkip(r.code, at, " \t\r\n(")
		to := from
		for to < len(r.code) && (nodeInWord(r.code[to]) || r.code[to] == '.') {
			to++
		}
		r.use(use, string(r.code[from:to]), span{begin, to})
	}
}

// nodeSkip returns the first offset from one on that holds none of some bytes.
func nodeSkip(code []byte, at int, bytes string) int {
	for at < len(code) && strings.IndexByte(bytes, code[at]) >= 0 {
		at++
	}
	return at
}

// called takes the name before an opening bracket: createServer(, connect.connectNodeAdapter<T>(, (0, a.b)(.
func (r *nodeReader) called(bracket int) {
	to := nodeBack(r.code, bracket)
	if to > 0 && r.code[to-1] == '>' {
		if generic := bytes.LastIndexByte(r.code[max(0, to-200):to], '<'); generic >= 0 {
			to = nodeBack(r.code, max(0, to-200)+generic)
		}
	}
	if to > 0 && r.code[to-1] == ')' {
		to = nodeBack(r.code, to-1)
	}
	from := to
	for from > 0 && (nodeInWord(r.code[from-1]) || r.code[from-1] == '.') {
		from--
	}
	before := r.code[max(0, from-20):nodeBack(r.code, from)]
	if from == to || bytes.HasSuffix(before, []byte("function")) || bytes.HasSuffix(before, []byte("new")) {
		return
	}
	r.use(nodeCalled, string(r.code[from:to]), span{from, bracket + 1})
}

// nodeBack returns the offset after the last byte before one that is no space. It looks no further than lines are long.
func nodeBack(code []byte, at int) int {
	for begin := max(0, at-20); at > begin && strings.IndexByte(" \t\r\n", code[at-1]) >= 0; {
		at--
	}
	return at
}

// nodeLongest is the longest dotted name that is looked at.
const nodeLongest = 200

func (r *nodeReader) use(use nodeUse, dotted string, part span) {
	if len(dotted) == 0 || len(dotted) > nodeLongest {
		return
	}
	module, name := r.names.resolve(dotted)
	for _, n := range nodeNamed {
		if n.use == use && strings.HasSuffix(dotted, n.end) && n.dotted.MatchString(dotted) {
			module, name = n.stands.module, n.stands.name
		}
	}
	if module == "" || r.bundled && (use != nodeCalled || module == "http2") {
		return
	}
	for _, api := range nodeAPI {
		if api.use == use && api.module.MatchString(module) && api.name.MatchString(name) {
			r.add(api.sign, part)
			return
		}
	}
}
