// Package ecmascript reads what a source of JavaScript or TypeScript says, whatever it is about. Begin with [Read]: a
// [Source] has [Imports], each [Assignment], each [Property] of an object, and each [Use] of a name. How comments,
// strings and regular expressions are told apart is in grammar.go.
package ecmascript

import (
	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

// Source is a source, with what it imports.
type Source struct {
	*source.Text
	Imports  Imports
	assigned []Assignment
}

// Read reads a source. Names are also taken out of the imported modules that a pattern matches: { Server } = grpc.
func Read(text []byte, destructured *lazyregexp.Regexp) *Source {
	s := &Source{Text: grammar.Read(text)}
	s.Imports = importsOf(s, destructured)
	return s
}

// Part returns what the named group of a pattern matched: "" if it took no part in the match.
func (s *Source) Part(pattern *lazyregexp.Regexp, match []int, name string) string {
	text, _ := s.Group(pattern, match, name)
	return text
}

// Assigned returns the values of all names of the source, in its order.
func (s *Source) Assigned() []Assignment {
	if s.assigned == nil {
		s.assigned = s.assignments()
	}
	return s.assigned
}
