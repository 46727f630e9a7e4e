// Package lazyregexp compiles the regular expressions of package-level variables on first use: the detect phase has a
// thousand expressions, and an app needs only the expressions of its language. The go command has a package of the same
// name and purpose. An expression is executed only on a text with one of the literals that every match needs. Begin
// with [New].
package lazyregexp

import (
	"io"
	"os"
	"regexp"
	"strings"
	"sync"
)

// Regexp is a regular expression, compiled on first use, with methods of [regexp.Regexp].
type Regexp struct {
	expression string
	compile    func() *regexp.Regexp
	known      func() known
}

// never replaces an expression on a text without a possible match.
var never = regexp.MustCompile(`^[^\x00-\x{10FFFF}]`)

// New returns a regular expression. The first use of a wrong expression panics. In a test program New compiles the
// expression at once, so that tests find mistakes in unused expressions.
func New(expression string) *Regexp {
	r := &Regexp{expression: expression, compile: sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(expression)
	})}
	r.known = sync.OnceValue(func() known { return read(expression) })
	if isTest {
		r.compile()
	}
	return r
}

// isTest reports whether the program is a package's tests.
var isTest = len(os.Args) > 0 && strings.HasSuffix(os.Args[0], ".test")

// in returns the expression to execute on a text: never, or the compiled expression.
func (r *Regexp) in(text []byte) *regexp.Regexp {
	if !r.MayMatch(text) {
		return never
	}
	return r.compile()
}

func (r *Regexp) inString(text string) *regexp.Regexp {
	if !r.known().mayMatch(len(text), func(l literals) bool { return l.inString(text) }) {
		return never
	}
	return r.compile()
}

// MayMatch reports false for a text that lacks literals of every match, if the literals are worth a search. MayMatch
// costs much less than [Regexp.Match].
func (r *Regexp) MayMatch(text []byte) bool {
	return r.known().mayMatch(len(text), func(l literals) bool { return l.inBytes(text) })
}

// Literals returns literals of which every match has at least one, in the same case; none if unknown.
func (r *Regexp) Literals() [][]byte { return r.known().exact.texts }

// String returns the text of the expression.
func (r *Regexp) String() string { return r.expression }

// Find is [regexp.Regexp.Find].
func (r *Regexp) Find(b []byte) []byte { return r.in(b).Find(b) }

// FindAll is [regexp.Regexp.FindAll].
func (r *Regexp) FindAll(b []byte, n int) [][]byte { return r.in(b).FindAll(b, n) }

// FindAllIndex is [regexp.Regexp.FindAllIndex].
func (r *Regexp) FindAllIndex(b []byte, n int) [][]int { return r.in(b).FindAllIndex(b, n) }

// FindAllString is [regexp.Regexp.FindAllString].
func (r *Regexp) FindAllString(s string, n int) []string { return r.inString(s).FindAllString(s, n) }

// FindAllStringIndex is [regexp.Regexp.FindAllStringIndex].
func (r *Regexp) FindAllStringIndex(s string, n int) [][]int {
	return r.inString(s).FindAllStringIndex(s, n)
}

// FindAllStringSubmatch is [regexp.Regexp.FindAllStringSubmatch].
func (r *Regexp) FindAllStringSubmatch(s string, n int) [][]string {
	return r.inString(s).FindAllStringSubmatch(s, n)
}

// FindAllSubmatch is [regexp.Regexp.FindAllSubmatch].
func (r *Regexp) FindAllSubmatch(b []byte, n int) [][][]byte {
	return r.in(b).FindAllSubmatch(b, n)
}

// FindAllSubmatchIndex is [regexp.Regexp.FindAllSubmatchIndex].
func (r *Regexp) FindAllSubmatchIndex(b []byte, n int) [][]int {
	return r.in(b).FindAllSubmatchIndex(b, n)
}

// FindIndex is [regexp.Regexp.FindIndex].
func (r *Regexp) FindIndex(b []byte) []int { return r.in(b).FindIndex(b) }

// FindReaderIndex is [regexp.Regexp.FindReaderIndex].
func (r *Regexp) FindReaderIndex(text io.RuneReader) []int { return r.compile().FindReaderIndex(text) }

// FindString is [regexp.Regexp.FindString].
func (r *Regexp) FindString(s string) string { return r.inString(s).FindString(s) }

// FindStringIndex is [regexp.Regexp.FindStringIndex].
func (r *Regexp) FindStringIndex(s string) []int { return r.inString(s).FindStringIndex(s) }

// FindStringSubmatch is [regexp.Regexp.FindStringSubmatch].
func (r *Regexp) FindStringSubmatch(s string) []string { return r.inString(s).FindStringSubmatch(s) }

// FindStringSubmatchIndex is [regexp.Regexp.FindStringSubmatchIndex].
func (r *Regexp) FindStringSubmatchIndex(s string) []int {
	return r.inString(s).FindStringSubmatchIndex(s)
}

// FindSubmatch is [regexp.Regexp.FindSubmatch].
func (r *Regexp) FindSubmatch(b []byte) [][]byte { return r.in(b).FindSubmatch(b) }

// FindSubmatchIndex is [regexp.Regexp.FindSubmatchIndex].
func (r *Regexp) FindSubmatchIndex(b []byte) []int { return r.in(b).FindSubmatchIndex(b) }

// Match is [regexp.Regexp.Match].
func (r *Regexp) Match(b []byte) bool { return r.in(b).Match(b) }

// MatchString is [regexp.Regexp.MatchString].
func (r *Regexp) MatchString(s string) bool { return r.inString(s).MatchString(s) }

// ReplaceAll is [regexp.Regexp.ReplaceAll].
func (r *Regexp) ReplaceAll(src, repl []byte) []byte { return r.in(src).ReplaceAll(src, repl) }

// ReplaceAllFunc is [regexp.Regexp.ReplaceAllFunc].
func (r *Regexp) ReplaceAllFunc(src []byte, repl func([]byte) []byte) []byte {
	return r.in(src).ReplaceAllFunc(src, repl)
}

// ReplaceAllLiteralString is [regexp.Regexp.ReplaceAllLiteralString].
func (r *Regexp) ReplaceAllLiteralString(src, repl string) string {
	return r.inString(src).ReplaceAllLiteralString(src, repl)
}

// ReplaceAllString is [regexp.Regexp.ReplaceAllString].
func (r *Regexp) ReplaceAllString(src, repl string) string {
	return r.inString(src).ReplaceAllString(src, repl)
}

// ReplaceAllStringFunc is [regexp.Regexp.ReplaceAllStringFunc].
func (r *Regexp) ReplaceAllStringFunc(src string, repl func(string) string) string {
	return r.inString(src).ReplaceAllStringFunc(src, repl)
}

// Split is [regexp.Regexp.Split].
func (r *Regexp) Split(s string, n int) []string { return r.inString(s).Split(s, n) }

// SubexpIndex is [regexp.Regexp.SubexpIndex].
func (r *Regexp) SubexpIndex(name string) int { return r.compile().SubexpIndex(name) }

// SubexpNames is [regexp.Regexp.SubexpNames].
func (r *Regexp) SubexpNames() []string { return r.compile().SubexpNames() }
