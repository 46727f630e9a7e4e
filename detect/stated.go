package detect

import (
	"regexp"
	"strings"
)

// What follows reads arguments of calls in languages that write them as C does: between parentheses, with commas.

// maxArguments is how many bytes the arguments of one call may take: longer ones hold no address.
const maxArguments = 4096

// arguments returns the arguments of a call whose opening bracket ends at an offset; none where it is not closed soon.
func (s *source) arguments(from int) []span {
	var all []span
	depth, begin := 0, from
	for at := from; at < min(len(s.code), from+maxArguments); at++ {
		switch s.code[at] {
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			if depth == 0 {
				return append(all, s.trim(span{begin, at}))
			}
			depth--
		case ',':
			if depth == 0 {
				all = append(all, s.trim(span{begin, at}))
				begin = at + 1
			}
		}
	}
	return nil
}

func (s *source) trim(p span) span {
	for p.from < p.to && strings.IndexByte(" \t\r\n", s.code[p.from]) >= 0 {
		p.from++
	}
	for p.from < p.to && strings.IndexByte(" \t\r\n", s.code[p.to-1]) >= 0 {
		p.to--
	}
	return p
}

// expressions reads what the expressions of one source state.
type expressions struct {
	*source
	constants
	left int // how many names may still be looked up: each costs a pass over the source
}

// maxLookups is how many names are looked up in one source.
const maxLookups = 24

func (s *source) expressions(c constants) *expressions {
	return &expressions{source: s, constants: c, left: maxLookups}
}

// constants is how a language writes them.
type constants struct {
	// declared is how a name is declared with a literal, with NAME for the name; its last group takes the literal.
	declared string
	// same are calls that state what their argument does, format those whose first argument has places for the others.
	same, format *regexp.Regexp
}

var (
	statedNumber = regexp.MustCompile(`^\d[\d_']*[uUlL]*$`)
	statedString = regexp.MustCompile(`^(\$?)"([ \n]*)"s?$`)
	statedName   = regexp.MustCompile(`^(?:this(?:->|\.)|\w+::)*(\w+)(?:\.c_str\(\)|\.data\(\))?$`)
	statedCall   = regexp.MustCompile(`^((?:\w+(?:::|\.))*\w+)\(`)
	placeFormat  = regexp.MustCompile(`%[dsuiv]|\{\d*\}`)
	placeName    = regexp.MustCompile(`\{(\w+)\}`)
)

// stated returns the text that an expression plainly has: a literal, a name that this file declares with one, and what +
// and formats make of them. depth bounds names that lead to each other.
func (s *expressions) stated(e span, depth int) (string, bool) {
	const deepest, longest = 4, 400
	if depth > deepest || e.to-e.from > longest {
		return "", false
	}
	if parts := s.sum(e); len(parts) > 1 {
		return s.joined(parts, depth)
	}
	code := s.code[e.from:e.to]
	if statedNumber.Match(code) {
		return strings.NewReplacer("'", "", "_", "").Replace(strings.TrimRight(string(code), "uUlL")), true
	}
	if m := statedString.FindSubmatchIndex(code); m != nil {
		text := string(s.text[e.from+m[4] : e.from+m[5]])
		if m[2] < m[3] {
			return s.interpolated(text, depth)
		}
		return text, true
	}
	if m := statedName.FindSubmatch(code); m != nil {
		return s.declaration(string(m[1]), depth)
	}
	if m := statedCall.FindSubmatchIndex(code); m != nil && code[len(code)-1] == ')' {
		return s.call(string(code[m[2]:m[3]]), s.arguments(e.from+m[1]), depth)
	}
	return "", false
}

// sum returns the summands of an expression.
func (s *source) sum(e span) []span {
	var parts []span
	depth, begin := 0, e.from
	for at := e.from; at < e.to; at++ {
		switch s.code[at] {
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			depth--
		case '+':
			if depth == 0 {
				parts = append(parts, s.trim(span{begin, at}))
				begin = at + 1
			}
		}
	}
	return append(parts, s.trim(span{begin, e.to}))
}

func (s *expressions) joined(parts []span, depth int) (string, bool) {
	var whole strings.Builder
	for _, p := range parts {
		text, ok := s.stated(p, depth+1)
		if !ok {
			return "", false
		}
		whole.WriteString(text)
	}
	return whole.String(), true
}

// interpolated puts what names state into a string that has them in braces.
func (s *expressions) interpolated(text string, depth int) (string, bool) {
	known := true
	text = placeName.ReplaceAllStringFunc(text, func(place string) string {
		value, ok := s.declaration(strings.Trim(place, "{}"), depth)
		known = known && ok
		return value
	})
	return text, known && !strings.Contains(text, "{")
}

// declaration returns the one literal, or what is made of literals, that a name is declared with.
func (s *expressions) declaration(name string, depth int) (string, bool) {
	if s.left--; s.left < 0 {
		return "", false
	}
	name = strings.TrimPrefix(name, "FLAGS_") // gflags and Abseil declare without it
	declared := regexp.MustCompile(strings.ReplaceAll(s.declared, "NAME", regexp.QuoteMeta(name)))
	value := ""
	for _, m := range declared.FindAllSubmatchIndex(s.code, 8) {
		text, ok := s.stated(s.trim(span{m[len(m)-2], m[len(m)-1]}), depth+1)
		if ok && value != "" && text != value {
			return "", false
		}
		if ok {
			value = text
		}
	}
	return value, value != ""
}

func (s *expressions) call(name string, args []span, depth int) (string, bool) {
	switch {
	case s.same.MatchString(name) && len(args) == 1:
		return s.stated(args[0], depth+1)
	case s.format.MatchString(name) && len(args) > 1:
		text, ok := s.stated(args[0], depth+1)
		if !ok || len(placeFormat.FindAllString(text, -1)) != len(args)-1 {
			return "", false
		}
		for _, arg := range args[1:] {
			value, ok := s.stated(arg, depth+1)
			if !ok {
				return "", false
			}
			at := placeFormat.FindStringIndex(text)
			text = text[:at[0]] + value + text[at[1]:]
		}
		return text, true
	}
	return "", false
}
