package detect

import (
	"regexp"
	"slices"
	"strings"
)

// values tells what ports expressions state, for languages that are read as text: by a literal, by a name that the same
// file gives a literal to, or by a default (what the environment says, else 50051).
type values struct {
	source   *source
	declared map[string][]span // the expressions that a name is declared with
}

// span is a part of a source, by offsets.
type span struct{ from, to int }

const (
	// longestValue is how many bytes an expression has that states a port; what is longer computes.
	longestValue = 400
	// maxDeclared is how many declarations of one name are read, maxListens how many listeners of a file: real ones have
	// few, and files that are made to take long have many.
	maxDeclared = 16
	maxListens  = 16
)

// declaredValues collects a file's declarations. Group "name" of a pattern is what is declared, or group "field" what is
// reached as a field. Group "value" is its value, or, without one, what follows the match up to the first of the bytes in
// ends that is in no bracket.
func declaredValues(s *source, ends string, patterns ...*regexp.Regexp) *values {
	v := &values{s, map[string][]span{}}
	for _, p := range patterns {
		for _, m := range p.FindAllSubmatchIndex(s.code, -1) {
			name, ok := s.group(p, m, "name")
			if !ok {
				field, _ := s.group(p, m, "field")
				name = "." + field
			}
			value := span{m[1], 0}
			if i := p.SubexpIndex("value"); i >= 0 {
				value = span{m[2*i], m[2*i+1]}
			} else {
				value.to = s.until(m[1], ends)
			}
			if len(v.declared[name]) < maxDeclared {
				v.declared[name] = append(v.declared[name], value)
			}
		}
	}
	return v
}

// until returns where the first of the bytes in ends is that no bracket opened after from holds, or where a bracket
// closes that was open before. It gives up past longestValue.
func (s *source) until(from int, ends string) int {
	depth, last := 0, min(len(s.code), from+longestValue+1)
	for at := from; at < last; at++ {
		switch c := s.code[at]; {
		case depth == 0 && strings.IndexByte(ends, c) >= 0:
			return at
		case c == '(' || c == '[' || c == '{':
			depth++
		case c == ')' || c == ']' || c == '}':
			if depth--; depth < 0 {
				return at
			}
		}
	}
	return last
}

// makes reports whether a server is made among the signs of a file: only then are its listeners the server's.
func makes(signs []sign) bool {
	return slices.ContainsFunc(signs, func(s sign) bool { return s.kind == constructs })
}

// port returns the port that an expression states; noPort where it states none, or several.
func (v *values) port(e span) int {
	found := v.ports(e, map[string]bool{})
	slices.Sort(found)
	if found = slices.Compact(found); len(found) != 1 {
		return noPort
	}
	return found[0]
}

var (
	literalString = regexp.MustCompile(`"[ \n]*"|'[ \n]*'`)
	literalNumber = regexp.MustCompile(`(?:^|[\s(=,:])(\d[\d_]*)(?:u16|i32|u32)?(?:$|[\s),;}])`)
	// An address or a port. The host may be put in: "{}:", "${host}:", "\(host):".
	addressLiteral = regexp.MustCompile(`^(?:([\w.*-]*|\[[\w.:]*\])|\\\([^)]*\)|[$#]?\{[^}]*\}|\$\w+):(\d{1,5})$|^(\d{1,5})$`)
	// A name that is put in where an address has its port.
	portPutIn = regexp.MustCompile(`(?:\\\(|[$#]?\{|\$)([A-Za-z_][\w.]*)[)}]?$`)
	// The numbers of an IP address.
	ipNumbers  = regexp.MustCompile(`\[[\d\s,;]*\]|\bIpv[46]Addr::new\([^)]*\)`)
	calculates = regexp.MustCompile(`\s[+*/%-]\s`)
	dottedName = regexp.MustCompile(`@?[A-Za-z_]\w*(?:(?:\.|::)\w+)*`)
)

// ports returns all ports that an expression may have for its value. seen are the names that were followed already.
func (v *values) ports(e span, seen map[string]bool) []int {
	if e.to-e.from > longestValue || calculates.Match(v.source.code[e.from:e.to]) {
		return nil
	}
	found := v.literals(e, seen)
	if len(found) > 0 {
		return found
	}
	code := v.source.code[e.from:e.to]
	for _, m := range dottedName.FindAllIndex(code, -1) {
		labels := strings.HasPrefix(strings.TrimSpace(string(code[m[1]:])), ":")
		if !labels && (m[0] == 0 || code[m[0]-1] != '.' && code[m[0]-1] != ':') {
			calls := strings.HasPrefix(string(code[m[1]:]), "(")
			found = append(found, v.named(string(code[m[0]:m[1]]), calls, seen)...)
		}
	}
	return found
}

func (v *values) literals(e span, seen map[string]bool) []int {
	var found []int
	text, code := v.source.text[e.from:e.to], v.source.code[e.from:e.to]
	for _, m := range literalString.FindAllIndex(code, -1) {
		literal := string(text[m[0]+1 : m[1]-1])
		if a := addressLiteral.FindStringSubmatch(literal); a != nil && a[3] == "" {
			found = append(found, statedPort(a[1]+":"+a[2]))
		} else if a != nil {
			found = append(found, statedPort(a[3]))
		} else if in := portPutIn.FindStringSubmatch(literal); in != nil {
			found = append(found, v.named(in[1], false, seen)...)
		}
	}
	for _, m := range literalNumber.FindAllSubmatch(ipNumbers.ReplaceAllLiteral(code, []byte("_")), -1) {
		found = append(found, statedPort(strings.ReplaceAll(string(m[1]), "_", "")))
	}
	return found
}

// named returns what the declarations of a name may have for their value. name.field asks for the field, and
// name.method() for the name.
func (v *values) named(name string, calls bool, seen map[string]bool) []int {
	for _, own := range []string{"self.", "this.", "Self.", "Self::"} {
		name = strings.TrimPrefix(name, own)
	}
	if object, field, ok := strings.Cut(name, "."); ok && calls {
		name = object
	} else if ok {
		name = "." + field
	}
	if seen[name] {
		return nil
	}
	seen[name] = true
	var found []int
	for _, e := range v.declared[name] {
		found = append(found, v.ports(e, seen)...)
	}
	return found
}
