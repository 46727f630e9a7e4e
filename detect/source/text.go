// Package source reads the text of a program without parsing its language: it tells code, comments and strings apart,
// follows brackets to the arguments of a call, and finds the port that an expression states.
//
// Begin with [Grammar]: a language describes how it writes comments and strings, and [Grammar.Read] returns a [Text],
// on which everything else is a method.
package source

import (
	"bytes"
	"sort"
	"unicode/utf8"

	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

// Text is the text of a file in which code, comments and the contents of strings are told apart.
type Text struct {
	// Raw is the text as it is in the file, but comments are blank.
	Raw []byte
	// Code is as long as Raw, and its lines are logical: one that goes on after a line break in round brackets, before
	// a dot or after a backslash has spaces there. Comments are blank in it, and so is what stands between the
	// delimiters of a string. An offset is therefore the same place in both, and a pattern that is matched against Code
	// never meets a word that is only mentioned.
	Code []byte

	lines    []int // the offset at which each line of Raw begins
	logical  []int // the offset at which each line of Code begins
	followed int   // how many bytes were followed after opening brackets
}

// Uncut returns a text for searches that need its comments and strings. It knows no lines.
func Uncut(text []byte) *Text { return &Text{Raw: text, Code: text} }

// Line returns the number, from 1, of the line that an offset is in, as an editor counts them.
func (t *Text) Line(offset int) int { return sort.SearchInts(t.lines, offset+1) }

// LogicalLine returns the index, from 0, of the line of Code that an offset is in.
func (t *Text) LogicalLine(offset int) int { return sort.SearchInts(t.logical, offset+1) - 1 }

// OfLine returns the index, from 0, of the line of Code that a line of Raw is a part of, by its number from 1.
func (t *Text) OfLine(number int) int { return t.LogicalLine(t.lines[number-1]) }

// LineStart returns the offset at which a line of Code begins, by its index; the end of the text for one after the
// last.
func (t *Text) LineStart(line int) int {
	if line < len(t.logical) {
		return t.logical[line]
	}
	return len(t.Code)
}

// LineCode returns a line of Code, by its index.
func (t *Text) LineCode(line int) []byte {
	return t.Code[t.LineStart(line):t.LineStart(line+1)]
}

// Group returns what the named group of a pattern matched, from Raw: the contents of a string are there. It reports
// whether the group took part in the match. Alternatives of a pattern may each have a group of the name.
func (t *Text) Group(pattern *lazyregexp.Regexp, match []int, name string) (string, bool) {
	for i, group := range pattern.SubexpNames() {
		if group == name && match[2*i] >= 0 {
			return string(t.Raw[match[2*i]:match[2*i+1]]), true
		}
	}
	return "", false
}

// Names returns what the group "name" of the pattern takes wherever it matches.
func (t *Text) Names(pattern *lazyregexp.Regexp) []string {
	var found []string
	for _, m := range t.FindAll(pattern, -1) {
		if name, ok := t.Group(pattern, m, "name"); ok {
			found = append(found, name)
		}
	}
	return found
}

// Blank replaces code by spaces and keeps its line breaks.
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

// IsWordByte reports whether a byte is part of a name. Letters of other alphabets are.
func IsWordByte(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' || c >= utf8.RuneSelf
}

// TrimBOM returns a text without the byte order mark that some editors put before UTF-8.
func TrimBOM(text []byte) []byte { return bytes.TrimPrefix(text, []byte("\xef\xbb\xbf")) }

// Exactly returns a pattern that has to match a whole string.
func Exactly(pattern string) *lazyregexp.Regexp {
	return lazyregexp.New(`^(?:` + pattern + `)$`)
}

// Indented returns how many bytes of white space a line of Code begins with, by its index, or -1 for a blank one.
func (t *Text) Indented(line int) int {
	for i, c := range t.LineCode(line) {
		if c != ' ' && c != '\t' && c != '\r' && c != '\n' {
			return i
		}
	}
	return -1
}

// Words yields the offsets at which a word stands in the code, whole and not as a part of a longer word.
func (t *Text) Words(word string) func(yield func(at int) bool) { return words(t.Code, word) }

// HasWord reports whether a word stands in code, whole and not as a part of a longer word.
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
