package detect

import (
	"bytes"
	"regexp"
	"strings"
)

var (
	nodeNumber    = regexp.MustCompile(`^\d+$`)
	nodeWord      = regexp.MustCompile(`^[A-Za-z_$][\w$]*$`)
	nodeConverted = regexp.MustCompile(`^(?:parseInt|Number|String|Number\.parseInt)\(`)
	nodeInserted  = regexp.MustCompile(`\$\{([^{}]*)\}`)
	nodeDefault   = regexp.MustCompile(`^[\w$.\s]+(?:\|\||\?\?)\s*['"]?([\w.:]+)['"]?\s*$`)
	nodeAs        = regexp.MustCompile(`\s+as\s+[\w$]+$|\.toString\(\)$|!$`)
)

// constant returns the text of a literal, of a variable that the file declares once and never sets again, of the default
// in `variable || default`, and of what + and templates make of them. depth bounds names that lead to each other.
func (r *nodeReader) constant(e nodeSpan, depth int) (string, bool) {
	e = r.trimmed(e)
	code, text := r.code[e.from:e.to], string(r.text[e.from:e.to])
	if depth > 8 || len(code) == 0 {
		return "", false
	}
	if at := nodeAs.FindIndex(code); at != nil {
		return r.constant(nodeSpan{e.from, e.from + at[0]}, depth+1)
	}
	last := len(code) - 1
	switch first := code[0]; {
	case nodeNumber.Match(code):
		return text, true
	case strings.IndexByte(`"'`, first) >= 0 && last > 0 && len(bytes.TrimSpace(code[1:last])) == 0:
		return text[1:last], true
	case first == '`' && last > 0 && len(bytes.TrimSpace(code[1:last])) == 0:
		return r.template(text[1:last], depth)
	case nodeWord.Match(code):
		return r.variable(text, depth)
	}
	if call := nodeConverted.FindIndex(code); call != nil {
		if each, all := r.arguments(e.from + call[1]); all.to == e.to-1 {
			return r.constant(each[0], depth+1)
		}
	}
	return r.combined(e, depth)
}

func (r *nodeReader) trimmed(e nodeSpan) nodeSpan {
	e.to = min(e.to, len(r.code))
	for e.from < e.to && bytes.IndexByte([]byte(" \t\r\n"), r.code[e.from]) >= 0 {
		e.from++
	}
	for e.from < e.to && bytes.IndexByte([]byte(" \t\r\n"), r.code[e.to-1]) >= 0 {
		e.to--
	}
	return e
}

// combined takes a || b, a ?? b, a + b and (a).
func (r *nodeReader) combined(e nodeSpan, depth int) (string, bool) {
	if r.code[e.from] == '(' {
		if each, all := r.arguments(e.from + 1); all.to == e.to-1 && len(each) == 1 {
			return r.constant(each[0], depth+1)
		}
	}
	outer := r.outer(e)
	if nodeChosen.Match(outer) {
		return "", false
	}
	for _, or := range []string{"||", "??"} {
		if at := bytes.LastIndex(outer, []byte(or)); at >= 0 {
			return r.constant(nodeSpan{e.from + at + len(or), e.to}, depth+1)
		}
	}
	at := bytes.LastIndexByte(outer, '+')
	if at < 0 {
		return "", false
	}
	before, okBefore := r.constant(nodeSpan{e.from, e.from + at}, depth+1)
	after, okAfter := r.constant(nodeSpan{e.from + at + 1, e.to}, depth+1)
	return before + after, okBefore && okAfter
}

// nodeChosen is a conditional expression: a ? that is no ?? and no ?. is in it.
var nodeChosen = regexp.MustCompile(`(?:^|[^?])\?(?:[^?.]|$)`)

// outer returns the code of an expression with what stands in brackets blanked.
func (r *nodeReader) outer(e nodeSpan) []byte {
	outer := bytes.Clone(r.code[e.from:e.to])
	depth := 0
	for i, c := range outer {
		switch c {
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			depth--
		}
		if depth > 0 {
			outer[i] = ' '
		}
	}
	return outer
}

func (r *nodeReader) template(text string, depth int) (string, bool) {
	ok := true
	text = nodeInserted.ReplaceAllStringFunc(text, func(inserted string) string {
		inner := strings.TrimSpace(inserted[2 : len(inserted)-1])
		if m := nodeDefault.FindStringSubmatch(inner); m != nil {
			return m[1]
		}
		value, known := r.variable(inner, depth)
		ok = ok && known
		return value
	})
	return text, ok && !strings.Contains(text, "${")
}

// variable returns the value of a variable that the file sets once, where it declares it.
func (r *nodeReader) variable(name string, depth int) (string, bool) {
	if r.lookups--; r.lookups < 0 || depth > 8 || !nodeWord.MatchString(name) {
		return "", false
	}
	set := regexp.MustCompile(`(?:\b(const|let|var)\s+|^|[^\w$.])` + regexp.QuoteMeta(name) + `\s*(?::\s*[\w$\s|.<>\[\]]+)?=[^=>]`)
	all := set.FindAllSubmatchIndex(r.code, 2)
	if len(all) != 1 || all[0][2] < 0 {
		return "", false
	}
	from := all[0][1] - 1
	return r.constant(nodeSpan{from, r.expressionEnd(from)}, depth+1)
}

// expressionEnd returns where the value of a declaration ends: at a comma, a semicolon, or the end of its line.
func (r *nodeReader) expressionEnd(from int) int {
	depth := 0
	for at := from; at < min(from+500, len(r.code)); at++ {
		switch r.code[at] {
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			depth--
		case ',', ';', '\n':
			if depth <= 0 && len(bytes.TrimSpace(r.code[from:at])) > 0 {
				return at
			}
		}
		if depth < 0 {
			return at
		}
	}
	return min(from+500, len(r.code))
}
