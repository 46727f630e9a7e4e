package detect

import (
	"bytes"
	"regexp"
)

var cppGrammar = grammar{
	{open: "//", comment: true, end: cppLineComment},
	between("/*", "*/", false),
	{open: "#", comment: true, starts: cppNever, end: cppEndif},
	{open: `R"`, starts: cppPrefix, end: cppRaw},
	quoted(`"`, `"`, quoting{}),
	{open: "'", starts: cppNoSeparator, end: quoted("'", "'", quoting{}).end},
}

// cppLineComment goes on after a line that ends with a backslash.
func cppLineComment(text []byte, from int) (inner, after int) {
	for ; from < len(text); from++ {
		if text[from] == '\n' && text[from-1] != '\\' && !bytes.HasSuffix(text[:from], []byte("\\\r")) {
			break
		}
	}
	return from, from
}

var (
	cppIfZero      = regexp.MustCompile(`^#[ \t]*if[ \t]+(?:0|false)\b`)
	cppConditional = regexp.MustCompile(`(?m)^[ \t]*#[ \t]*(if|else|elif|endif)`)
)

// cppNever reports code that is never compiled: #if 0.
func cppNever(text []byte, at int) bool {
	return cppIfZero.Match(text[at:min(len(text), at+32)])
}

// cppEndif goes to the #endif, #else or #elif that ends an #if.
func cppEndif(text []byte, from int) (inner, after int) {
	for depth := 1; ; {
		m := cppConditional.FindSubmatchIndex(text[from:])
		if m == nil {
			return len(text), len(text)
		}
		switch word := string(text[from+m[2] : from+m[3]]); {
		case word == "if":
			depth++
		case word == "endif":
			depth--
		}
		if word := text[from+m[2]]; depth == 0 || depth == 1 && word == 'e' && text[from+m[2]+1] == 'l' {
			return from + m[0], from + m[0]
		}
		from += m[1]
	}
}

// cppPrefix tells the beginning of a raw string (R"x(, u8R"x() from the end of a name.
func cppPrefix(text []byte, at int) bool {
	for i := at - 1; i >= 0 && i >= at-2; i-- {
		if !wordByte(text[i]) {
			return true
		}
		if c := text[i]; c != 'u' && c != 'U' && c != 'L' && c != '8' {
			return false
		}
	}
	return true
}

// maxDelimiter is the longest delimiter of a raw string (C++ standard, lex.string).
const maxDelimiter = 16

// cppRaw takes a raw string after its quote: delimiter, parenthesis, text, parenthesis, delimiter, quote.
func cppRaw(text []byte, from int) (inner, after int) {
	n := bytes.IndexByte(text[from:min(len(text), from+maxDelimiter+1)], '(')
	if n < 0 {
		return from, from
	}
	closing := []byte(")" + string(text[from:from+n]) + `"`)
	if end := bytes.Index(text[from+n:], closing); end >= 0 {
		return from + n + end, from + n + end + len(closing)
	}
	return len(text), len(text)
}

// cppNoSeparator tells a character from the quote that separates digits (1'000).
func cppNoSeparator(text []byte, at int) bool {
	if at == 0 || !wordByte(text[at-1]) {
		return true
	}
	c := text[at-1]
	return c == 'L' || c == 'u' || c == 'U' || c == '8' && at > 1 && text[at-2] == 'u'
}
