// Package source reads the text of a program without parsing the language: it tells code, comments and strings apart,
// follows brackets to the arguments of a call, and finds the port in an expression.
//
// Begin with [Grammar]: the comments and strings of a language. [Grammar.Read] returns a [Text], whose methods are
// everything else.
package source

import (
	"bytes"
	"sort"
	"unicode/utf8"

	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

// Text is the text of a file with code, comments and the contents of strings told apart.
type Text struct {
	// Raw is the text of the file with blank comments.
	Raw []byte
	// Code is as long as Raw, and has logical lines: a line break in round brackets, before a dot or after a backslash
	// is a space. Comments and the contents of strings are blank. An offset is therefore the same place in Raw and in
	// Code, and a pattern for Code never meets a word from a comment or a string.
	Code []byte

	lines    []int // the offset at which each line of Raw begins
	logical  []int // the offset at which each line of Code begins
	followed int   // bytes followed after opening brackets
}

// Uncut returns a text without lines, for searches in comments and strings too.
func Uncut(text []byte) *Text { return &Text{Raw: text, Code: text} }

// Line returns the number, from 1, of the line around an offset, as editors count lines.
func (t *Text) Line(offset int) int { return sort.SearchInts(t.lines, offset+1) }

// LogicalLine returns the index, from 0, of the line of Code around an offset.
func (t *Text) LogicalLine(offset int) int { return sort.SearchInts(t.logical, offset+1) - 1 }

// OfLine returns the index, from 0, of the line of Code that holds a line of Raw. number counts from 1.
func (t *Text) OfLine(number int) int { return t.LogicalLine(t.lines[number-1]) }

// LineStart returns the offset of a line of Code, by index; the end of the text for the index after the last line.
func (t *Text) LineStart(line int) int {
	if line < len(t.logical) {
		return t.logical[line]
	}
	return len(t.Code)
}

// LineCode returns a line of Code, by index.
func (t *Text) LineCode(line int) []byte {
	return t.Code[t.LineStart(line):t.LineStart(line+1)]
}

// Group returns the match of a named group of a pattern, from Raw: Raw has the contents of strings. The second result
// reports whether the group took part in the match. Alternatives of a pattern may each have a group of the name.
func (t *Text) Group(pattern *lazyregexp.Regexp, match []int, name string) (string, bool) {
	for i, group := range pattern.SubexpNames() {
		if group == name && match[2*i] >= 0 {
			return string(t.Raw[match[2*i]:match[2*i+1]]), true
		}
	}
	return "", false
}

// Names returns the group "name" of all matches of the pattern.
func (t *Text) Names(pattern *lazyregexp.Regexp) []string {
	var found []string
	for _, m := range t.FindAll(pattern, -1) {
		if name, ok := t.Group(pattern, m, "name"); ok {
			found = append(found, name)
		}
	}
	return found
}

// Blank replaces code by spaces and keeps line breaks.
func Blank(code []byte) {
	for i, c := range code {
		if c != '\n' {
			code[i] = ' '
		}
	}
}

var space = lazyregexp.New(`\s+`)

// Excerpt returns the beginning of a part of a source in one line, short enough for a log.
func Excerpt(text []byte) string {
	text = space.ReplaceAll(text, []byte(" "))
	return string(text[:min(len(text), 80)])
}

// IsWordByte reports whether a byte is part of a name. Names may have letters of other alphabets.
func IsWordByte(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' || c >= utf8.RuneSelf
}

// TrimBOM returns a text without the byte order mark that some editors put before UTF-8.
func TrimBOM(text []byte) []byte { return bytes.TrimPrefix(text, []byte("\xef\xbb\xbf")) }

// Exactly returns a pattern that has to match a whole string.
func Exactly(pattern string) *lazyregexp.Regexp {
	return lazyregexp.New(`^(?:` + pattern + `)$`)
}

// Indented returns the bytes of white space at the beginning of a line of Code, by index, or -1 for a blank line.
func (t *Text) Indented(line int) int {
	for i, c := range t.LineCode(line) {
		if c != ' ' && c != '\t' && c != '\r' && c != '\n' {
			return i
		}
	}
	return -1
}

// Words yields the offsets of a word in the code. Parts of longer words do not count.
func (t *Text) Words(word string) func(yield func(at int) bool) { return words(t.Code, word) }

// HasWord reports whether code has a word. Parts of longer words do not count.
func HasWord(code []byte, word string) bool {
	for range words(code, word) {
		return true
	}
	return false
}

func words(code []byte, word string) func(yield func(at int) bool) {
	return func(yield func(at int) bool) {
		for at := 0; word != ""; at += len(word) {
			n := bytes.Index(code[at:], []byte(word))
			if n < 0 {
				return
			}
			at += n
			end := at + len(word)
			isPart := at > 0 && IsWordByte(code[at-1]) || end < len(code) && IsWordByte(code[end])
			if !isPart && !yield(at) {
				return
			}
		}
	}
}
