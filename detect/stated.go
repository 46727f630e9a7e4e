package detect

import (
	"bytes"
	"net"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// values tells which ports expressions state, in all languages that are read as text: the one port that turns up in an
// expression and in what its names are declared with in the same file. What the environment or an option gives is not
// known, and its default is: PORT || 50051. Where several ports turn up, or something is calculated, none is stated.
type values struct {
	*source
	declared map[string][]expression
	left     int // expressions that may still be read
}

// expression is a part of a source.
type expression struct{ text, code []byte }

const (
	// longestValue is how many bytes an expression has that states a port; what is longer computes.
	longestValue = 400
	// maxDeclared is how many declarations of one name are read, maxListens how many listeners of a file, maxRead how many
	// expressions: real ones have few, and files that are made to take long have many.
	maxDeclared = 16
	maxListens  = 16
	maxRead     = 1000
)

// lowestPort is the lowest number that is taken for a port where it stands alone: below it are indexes, radixes, counts.
const lowestPort = 80

// values collects a source's declarations. Group "name" of a pattern is what is declared, or group "field" what is reached
// as a field. Group "value" is its value, or, without one, what follows the match up to the first of the bytes in ends that
// is in no bracket.
func (s *source) values(ends string, patterns ...*regexp.Regexp) *values {
	v := &values{s, map[string][]expression{}, maxRead}
	for _, p := range patterns {
		for _, m := range p.FindAllSubmatchIndex(s.code, -1) {
			name, ok := s.group(p, m, "name")
			if field, is := s.group(p, m, "field"); is {
				// An option --listen-port is read as listen_port.
				name, ok = "."+strings.ReplaceAll(strings.TrimLeft(field, "-"), "-", "_"), true
			}
			if !ok || len(v.declared[name]) == maxDeclared {
				continue
			}
			value := span{m[1], 0}
			if i := p.SubexpIndex("value"); i >= 0 {
				value = span{m[2*i], m[2*i+1]}
			} else {
				value.to = s.until(m[1], ends)
			}
			// What begins so is compared, or what a function returns.
			if value.from < len(s.code) && strings.IndexByte("=>", s.code[value.from]) < 0 {
				v.declare(name, value)
			}
		}
	}
	return v
}

func (v *values) declare(name string, value span) {
	v.declared[name] = append(v.declared[name], v.expression(value))
}

func (s *source) expression(e span) expression {
	return expression{s.text[e.from:e.to], s.code[e.from:e.to]}
}

// makes reports whether a server is made among the signs of a file: only then are its listeners the server's.
func makes(signs []sign) bool {
	return slices.ContainsFunc(signs, func(s sign) bool { return s.kind == constructs })
}

// port returns the port that an expression states; noPort where it states none, or several.
func (v *values) port(e span) int {
	port, _ := v.address(e)
	return port
}

// address is port, and whether a host goes before it.
func (v *values) address(e span) (port int, hosted bool) {
	r := reading{values: v, seen: map[string]bool{}}
	r.read(v.expression(e))
	slices.Sort(r.ports)
	if r.ports = slices.Compact(r.ports); len(r.ports) != 1 {
		return noPort, r.hosted
	}
	return r.ports[0], r.hosted
}

// reading is the way through one expression and the declarations of its names.
type reading struct {
	*values
	seen   map[string]bool // names that were followed
	ports  []int
	hosted bool
}

var (
	literalString = regexp.MustCompile("\"[ \\n]*\"|'[ \\n]*'|`[ \\n]*`")
	literalNumber = regexp.MustCompile(`\b(\d[\d_]*)(?:[ui](?:16|32)|[uUlL]+)?\b`)
	// An address or a port. The host may be put in: "{}:", "${host}:", "\(host):", "%s:".
	addressLiteral = regexp.MustCompile(`^(?:([\w.-]*|\[[\w.:]*\])|\\\([^)]*\)|[$#]?\{[^}]*\}|%s|\$\w+):(\d{1,5})$|^(\d{1,5})$`)
	// What is put in at the end of a string, and what goes before it.
	putInLast = regexp.MustCompile(`^(.*?)(?:(?:\\\(|[$#]?\{)((?:[^{}\\]|\{[^{}]*\})+)[)}]|\$(\w+))$`)
	// The scheme of a URL, and the names of all addresses in ASP.NET Core's URLs.
	schemeAnyHost = regexp.MustCompile(`^(?i:https?)://(?:[*+]|\[::\])?`)
	putInFormat   = regexp.MustCompile(`:[ds]$`)
	// The numbers of an IP address, and of an index.
	ipNumbers  = regexp.MustCompile(`\[[\d\s,;]*\]|\{\s*\d+(?:\s*,\s*\d+){3,7}\s*\}|\bIpv[46]Addr::new\([^)]*\)`)
	calculates = regexp.MustCompile(`[\w\]]\s*[+*/%-]\s*[\w(]`)
	ofResults  = regexp.MustCompile(`\)\s*[+*/%-]\s*[\w(]`)
	dottedName = regexp.MustCompile(`@?[A-Za-z_]\w*(?:(?:\.|::|->)\w+)*`)
)

// read collects the ports that an expression may have for its value.
func (r *reading) read(e expression) {
	literals := literalString.FindAllIndex(e.code, -1)
	if r.left--; r.left < 0 || len(e.code) > longestValue || calculates.Match(e.code) ||
		len(literals) == 0 && ofResults.Match(e.code) {
		return
	}
	before := len(r.ports)
	for _, m := range literals {
		r.literal(string(e.text[m[0]+1 : m[1]-1]))
	}
	r.numbers(ipNumbers.ReplaceAllLiteral(e.code, []byte("_")))
	if len(r.ports) == before {
		r.names(e.code)
	}
}

// literal takes what a string holds.
func (r *reading) literal(text string) {
	r.hosted = r.hosted || strings.Contains(text, ":")
	if ip := net.ParseIP(text); ip != nil && !isLocal(ip) {
		r.ports = append(r.ports, noPort) // of another machine, whatever its port is
		return
	}
	text = withoutScheme(text)
	if host := putInLast.FindStringSubmatch(text[:max(0, strings.LastIndexByte(text, ':'))]); host != nil {
		r.putIn(host[1], host[2]+host[3])
	}
	if a := addressLiteral.FindStringSubmatch(text); a != nil && a[3] != "" {
		r.ports = append(r.ports, statedPort(a[3]))
	} else if a != nil {
		r.ports = append(r.ports, statedPort(a[1]+":"+a[2]))
	} else if in := putInLast.FindStringSubmatch(text); in != nil {
		r.putIn(in[1], in[2]+in[3])
	}
}

// withoutScheme makes an address of a URL.
func withoutScheme(url string) string {
	if !schemeAnyHost.MatchString(url) {
		return url
	}
	return strings.TrimRight(schemeAnyHost.ReplaceAllLiteralString(url, ""), "/; ")
}

// putIn takes code in a string, where an address has its port, or its host.
func (r *reading) putIn(host, code string) {
	if strings.HasSuffix(host, ":") && !strings.ContainsAny(host, "{($%") && statedPort(host+"80") == noPort {
		r.ports = append(r.ports, noPort)
		return
	}
	text := []byte(putInFormat.ReplaceAllString(code, ""))
	r.read(expression{text, heldInQuotes.ReplaceAllFunc(text, func(quoted []byte) []byte {
		quoted = bytes.Clone(quoted)
		blank(quoted[1 : len(quoted)-1])
		return quoted
	})})
}

var heldInQuotes = regexp.MustCompile(`"[^"\n]*"|'[^'\n]*'`)

func (r *reading) numbers(code []byte) {
	for _, m := range literalNumber.FindAllSubmatchIndex(code, -1) {
		part := m[0] > 0 && strings.IndexByte(".-#$", code[m[0]-1]) >= 0 ||
			m[1]+1 < len(code) && code[m[1]] == '.' && code[m[1]+1] >= '0' && code[m[1]+1] <= '9'
		n, err := strconv.Atoi(strings.ReplaceAll(string(code[m[2]:m[3]]), "_", ""))
		if !part && err == nil && n >= lowestPort {
			r.ports = append(r.ports, statedPort(strconv.Itoa(n)))
		}
	}
}

func (r *reading) names(code []byte) {
	for _, m := range dottedName.FindAllIndex(code, -1) {
		after := append(code[m[1]:len(code):len(code)], ' ')[0]
		// What follows a dot is reached by what is not known; a colon ends an argument's name, a quote a string's prefix.
		if m[0] > 0 && strings.IndexByte(".:>", code[m[0]-1]) >= 0 || strings.IndexByte(":\"'", after) >= 0 {
			continue
		}
		r.name(string(code[m[0]:m[1]]), after == '(')
	}
}

// ownPrefix is what goes before the names of an object's or a class's own fields, and before gflags' and Abseil's flags.
var ownPrefix = regexp.MustCompile(`^(?:(?:self|cls|this|Self)(?:\.|::|->)|FLAGS_)`)

// name follows a name to its declarations. name.field asks for the field, and name.method() for the name.
func (r *reading) name(name string, calls bool) {
	name = strings.ReplaceAll(ownPrefix.ReplaceAllString(name, ""), "->", ".")
	name = name[strings.LastIndex(name, ":")+1:]
	if dot := strings.LastIndexByte(name, '.'); calls && dot >= 0 {
		name = name[:dot]
	}
	if _, field, ok := strings.Cut(name, "."); ok {
		name = "." + field
	}
	if r.seen[name] {
		return
	}
	r.seen[name] = true
	for _, e := range r.declared[name] {
		r.read(e)
	}
}
