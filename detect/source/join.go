package source

import (
	"bytes"
	"strings"
)

// joinLines makes the lines of code logical: a line break within round brackets, before a dot or after a backslash
// becomes a space, so that the layout of a statement does not matter. Statements within brackets, such as the body of a
// function among arguments, keep their lines. Text in brackets that do not match keeps line breaks too. All lines end
// with a line feed alone, also in files of Windows.
func joinLines(code []byte) {
	var open brackets
	before := byte(0)          // the last byte of code
	next, isMember := 0, false // the next byte of code after a line break, and whether a member's name begins there
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

// brackets are the opening brackets before their closing brackets are met.
type brackets struct {
	all   []bracket
	count [256]int // by opening bracket
}

type bracket struct {
	opening       byte
	breaks        []int // line breaks in the bracket, but in no inner bracket
	hasStatements bool
}

func (b *brackets) push(opening byte) {
	b.all = append(b.all, bracket{opening: opening})
	b.count[opening]++
}

// pop removes the bracket that closes at an offset, and all brackets opened after. pop joins the lines within the
// bracket if none was opened after.
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

func endsExpression(c byte) bool { return IsWordByte(c) || strings.IndexByte(")]}>\"'`", c) >= 0 }

// beginsWithMember reports whether code begins with a name after a dot, or after another language's mark for members.
func beginsWithMember(code []byte) bool {
	for _, mark := range []string{".", "?.", "!.", "..", "->"} {
		if name, ok := bytes.CutPrefix(code, []byte(mark)); ok && len(name) > 0 && IsWordByte(name[0]) {
			return true
		}
	}
	return false
}

// blockWords at the end of a line begin statements. endsStatements are words that end statements before a closing
// bracket, in Ruby, Elixir, Haskell, Visual Basic and other languages without braces for statements.
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

func lastWord(code []byte) string {
	code = bytes.TrimRight(code[max(0, len(code)-maxLine):], " \t\r\n")
	return string(code[bytes.LastIndexFunc(code, func(r rune) bool { return !IsWordByte(byte(r)) })+1:])
}
