package detect

import (
	"regexp"
	"strings"
)

// dialect is how Python or Ruby writes expressions whose value the source states plainly: literals, constants of the same
// file, the default beside an environment variable. What it does not know has no value.
type dialect struct {
	text     []*regexp.Regexp // a string literal, all of it; group "held" is what it holds
	hole     *regexp.Regexp   // code in a string literal: group "code"
	through  []*regexp.Regexp // expressions with the value of their group "value"
	joined   *regexp.Regexp   // a sum of strings: groups "left" and "right"
	template []*regexp.Regexp // a string literal "template" whose gaps the arguments "args" fill
	gap      *regexp.Regexp   // a gap of a template
	assigned *regexp.Regexp   // an assignment in code: groups "name" and "value"
}

// maxStated is how many expressions are looked at for the values of one source; a real value takes two or three.
const maxStated = 1000

// longestStated is the longest expression looked at, in bytes: an address or a port is short.
const longestStated = 300

var plainNumber = regexp.MustCompile(`^[0-9][0-9_]*$`)

// valuer knows what the names of one source are assigned.
type valuer struct {
	dialect
	names map[string]string
	left  *int // expressions that may still be looked at
}

// values reads a source's assignments. A name that is assigned different values has none.
func (d dialect) values(s *source) valuer {
	names := map[string]string{}
	for _, m := range d.assigned.FindAllSubmatchIndex(s.code, -1) {
		name, _ := s.group(d.assigned, m, "name")
		i := 2 * d.assigned.SubexpIndex("value")
		code := strings.TrimRight(string(s.code[m[i]:m[i+1]]), " \t\r")
		value := string(s.text[m[i] : m[i]+len(code)])
		if before, again := names[name]; again && before != value {
			value = ""
		}
		names[name] = value
	}
	left := maxStated
	return valuer{d, names, &left}
}

// of returns the value that an expression states, or "".
func (v valuer) of(expression string) string {
	value, _ := v.value(expression)
	return value
}

func (v valuer) value(expression string) (string, bool) {
	expression = strings.TrimSpace(expression)
	if *v.left--; *v.left < 0 || len(expression) > longestStated || expression == "" {
		return "", false
	}
	if plainNumber.MatchString(expression) {
		return strings.ReplaceAll(expression, "_", ""), true
	}
	for _, form := range v.text {
		if m := form.FindStringSubmatch(expression); m != nil {
			return v.filled(m[form.SubexpIndex("held")])
		}
	}
	for _, form := range v.through {
		if m := form.FindStringSubmatch(expression); m != nil {
			return v.value(m[form.SubexpIndex("value")])
		}
	}
	for _, form := range v.template {
		if m := form.FindStringSubmatch(expression); m != nil {
			return v.fill(m[form.SubexpIndex("template")], m[form.SubexpIndex("args")])
		}
	}
	if m := v.joined.FindStringSubmatch(expression); m != nil {
		first, ok := v.value(m[v.joined.SubexpIndex("left")])
		rest, also := v.value(m[v.joined.SubexpIndex("right")])
		return first + rest, ok && also
	}
	assigned, ok := v.names[expression]
	if !ok || assigned == "" {
		return "", false
	}
	return v.value(assigned)
}

// filled returns what a string literal holds, with the values of the code in it.
func (v valuer) filled(held string) (string, bool) {
	all := true
	text := v.hole.ReplaceAllStringFunc(held, func(hole string) string {
		value, ok := v.value(v.hole.FindStringSubmatch(hole)[1])
		all = all && ok
		return value
	})
	return text, all
}

// fill puts arguments into the gaps of a template, which have to be as many.
func (v valuer) fill(template, args string) (string, bool) {
	given := strings.Split(args, ",")
	all := len(v.gap.FindAllString(template, -1)) == len(given)
	text := v.gap.ReplaceAllStringFunc(template, func(string) string {
		if len(given) == 0 {
			return ""
		}
		value, ok := v.value(given[0])
		all, given = all && ok, given[1:]
		return value
	})
	return text, all
}

// argument returns the text of the argument with this number, or of this name where one is given by name, of the call
// whose parenthesis opens before the offset from.
func (s *source) argument(from, number int, names ...string) string {
	for i, at := range s.arguments(from) {
		text := string(s.text[at.from:at.to])
		name, value, named := strings.Cut(text, "=")
		if !named {
			name, value, named = strings.Cut(text, ": ")
		}
		if named = named && identifier.MatchString(strings.TrimSpace(name)); named {
			for _, want := range names {
				if strings.TrimSpace(name) == want {
					return value
				}
			}
		}
		if i == number && !named {
			return text
		}
	}
	return ""
}

var identifier = regexp.MustCompile(`^[A-Za-z_]\w*$`)
