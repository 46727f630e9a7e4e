package source

import (
	"bytes"
	"strings"
)

// joinLines makes the lines of code logical ones: a line break within round brackets, before a dot or after a backslash
// becomes a space, so that it does not matter how a statement is laid out. Statements within the brackets, such as
// those of a function among the arguments, keep their lines, and so does what stands in brackets that do not match.
// Lines end with a line feed alone, also those of Windows.
func joinLines(code []byte) {
	var open brackets
	before := byte(0)          // the last byte of code
	next, isMember := 0, false // the next byte of code after a line break, and whether it begins with a member's name
	for at, c := range code {
		switch c {
		case '(', '[', '{':
			open.push(c)
		case ')', ']', '}':
			open.pop(code, at)
		case '\n':
			if at > 0 && code[at-1] == '\r' {
				code[at-1] = ' '
			}
			if at >= next {
				next = at + len(code[at:]) - len(bytes.TrimLeft(code[at:], " \t\r\n"))
				isMember = endsExpression(before) && beginsWithMember(code[next:])
			}
			switch last := len(open.all) - 1; {
			case isMember:
				code[at] = ' '
			case before == '\\':
				code[bytes.LastIndexByte(code[:at], before)], code[at], before = ' ', ' ', 0
			case last >= 0 && open.all[last].opening == '(':
				in := &open.all[last]
				in.breaks = append(in.breaks, at)
				in.hasStatements = in.hasStatements || beginsStatements(code[:at])
			}
		}
		isTried := c == '?' && at > 0 && code[at-1] == ')' // f()? of Rust is an expression as f() is
		if c != ' ' && c != '\t' && c != '\r' && c != '\n' && !isTried {
			before = c
		}
	}
}

// brackets are the opening brackets whose closing ones have not been met yet.
type brackets struct {
	all   []bracket
	count [256]int // how many there are of each
}

type bracket struct {
	opening       byte
	breaks        []int // the line breaks in it that are in no bracket further within
	hasStatements bool
}

func (b *brackets) push(opening byte) {
	b.all = append(b.all, bracket{opening: opening})
	b.count[opening]++
}

// pop takes away what a bracket closes at an offset, with those that were opened after it, and joins the lines within
// it if there are none of these.
func (b *brackets) pop(code []byte, at int) {
	opening := "([{"[strings.IndexByte(")]}", code[at])]
	for first := true; b.count[opening] > 0; first = false {
		last := b.all[len(b.all)-1]
		b.all = b.all[:len(b.all)-1]
		b.count[last.opening]--
		if last.opening != opening {
			continue
		}
		if opening == '(' && first {
			last.join(code, at)
		}
		return
	}
}

// join joins the lines in a bracket that closes at an offset.
func (b bracket) join(code []byte, closing int) {
	if b.hasStatements || len(b.breaks) > 0 && endsStatements[lastWord(code[:closing])] {
		return
	}
	for _, at := range b.breaks {
		code[at] = ' '
	}
}

// endsExpression reports whether a byte may be the last of an expression.
func endsExpression(c byte) bool { return IsWordByte(c) || strings.IndexByte(")]}>\"'`", c) >= 0 }

// beginsWithMember reports whether code begins with a dot, or what other languages have for it, and a name.
func beginsWithMember(code []byte) bool {
	for _, mark := range []string{".", "?.", "!.", "..", "->"} {
		if name, ok := bytes.CutPrefix(code, []byte(mark)); ok && len(name) > 0 && IsWordByte(name[0]) {
			return true
		}
	}
	return false
}

// blockWords begin statements at the end of a line, and endsStatements are the words before a closing bracket that end
// those in it: in Ruby, Elixir, Haskell, Visual Basic and others that have no braces for them.
var (
	blockWords     = map[string]bool{"do": true, "of": true, "then": true, "else": true, "where": true, "begin": true}
	endsStatements = map[string]bool{"end": true, "Sub": true, "Function": true}
)

// beginsStatements reports whether statements follow a line, such as those of a function without braces.
func beginsStatements(code []byte) bool {
	code = bytes.TrimRight(code[max(0, len(code)-maxLine):], " \t\r")
	for _, end := range []string{"->", "=>"} {
		if bytes.HasSuffix(code, []byte(end)) {
			return true
		}
	}
	isParameters := bytes.HasSuffix(code, []byte("|")) && !bytes.HasSuffix(code, []byte("||"))
	return isParameters || blockWords[lastWord(code)]
}

// lastWord returns the word at the end of code.
func lastWord(code []byte) string {
	code = bytes.TrimRight(code[max(0, len(code)-maxLine):], " \t\r\n")
	return string(code[bytes.LastIndexFunc(code, func(r rune) bool { return !IsWordByte(byte(r)) })+1:])
}
