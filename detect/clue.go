package detect

import (
	"net"
	"regexp"
	"slices"
	"strconv"
)

// kind is what a sign says.
type kind int

const (
	constructs kind = iota // a server is made here: a service of its own
	registers              // a service is implemented or registered: there is a server, made elsewhere in the project or by a framework
	health                 // grpc.health.v1 is registered
	noHealth               // the framework is told not to register grpc.health.v1
	listens                // a port is named, or one that is not known: noPort
	ownKinds               // from here on a language has kinds of its own, gone when its facts are concluded from
)

// sign is what one place in a file says.
type sign struct {
	kind      kind
	line      int    // from 1; 0 for the whole file
	what      string // as written, for the debug log; "" where it is not worth a line there
	framework string // of constructs and registers
	automatic bool   // of constructs and registers: the framework registers grpc.health.v1 unasked
	port      int    // of listens
	from      string // what it was imported from, for languages that ask
}

// clue is one row of a language's table: what is written in a source, and the sign that it is.
type clue struct {
	// code is matched against the code, where strings are blank. Group "literal", if it has one, takes a string's blank,
	// and literal is matched against what stands there in the text. Group "port" takes an address or a port, as a blank
	// or as code. A group "at" is the place that the sign names; without one it is the match.
	code    *regexp.Regexp
	literal *regexp.Regexp
	// imports is matched against each of the file's imports: one has to fit. nil for a clue that needs none.
	imports *regexp.Regexp
	sign    sign // without line and what
}

// find returns the signs that a source has of the clues, in the order of the clues, then of lines. imports are the file's,
// as the language writes them.
func (s *source) find(clues []clue, imports []string) []sign {
	var found []sign
	for _, c := range clues {
		if c.imports != nil && !slices.ContainsFunc(imports, c.imports.MatchString) {
			continue
		}
		for _, m := range c.code.FindAllSubmatchIndex(s.code, -1) {
			if sign, ok := s.sign(c, m); ok {
				found = append(found, sign)
			}
		}
	}
	return found
}

func (s *source) sign(c clue, match []int) (sign, bool) {
	if text, ok := s.group(c.code, match, "literal"); ok && c.literal != nil && !c.literal.MatchString(text) {
		return sign{}, false
	}
	found, at := c.sign, match[:2]
	if i := c.code.SubexpIndex("at"); i > 0 && match[2*i] >= 0 {
		at = match[2*i : 2*i+2]
	}
	found.line = s.line(at[0])
	if found.kind == listens {
		port, _ := s.group(c.code, match, "port")
		found.port = statedPort(port)
		return found, true
	}
	found.what = onOneLine(s.text[at[0]:at[1]])
	return found, true
}

// group returns the text, not the code, that a named group matched.
func (s *source) group(pattern *regexp.Regexp, match []int, name string) (string, bool) {
	i := pattern.SubexpIndex(name)
	if i < 0 || match[2*i] < 0 {
		return "", false
	}
	return string(s.text[match[2*i]:match[2*i+1]]), true
}

// imports returns what group "name" of the pattern takes wherever it fits.
func (s *source) imports(pattern *regexp.Regexp) []string {
	var found []string
	for _, m := range pattern.FindAllSubmatchIndex(s.code, -1) {
		if name, ok := s.group(pattern, m, "name"); ok {
			found = append(found, name)
		}
	}
	return found
}

var space = regexp.MustCompile(`\s+`)

// onOneLine shortens what is written to what fits in a log line.
func onOneLine(text []byte) string {
	text = space.ReplaceAll(text, []byte(" "))
	return string(text[:min(len(text), 80)])
}

// noPort is the port of a listener whose port is not known, or that a probe beside the server cannot reach.
const noPort = -1

// statedPort returns the port of an address (host:port, or a port alone) that a probe in the same container can reach.
func statedPort(address string) int {
	// A bare number is no address: the variable was declared with it and got its colon later.
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		host, port = "", address
	}
	ip := net.ParseIP(host)
	local := host == "" || host == "localhost" || ip != nil && isLocal(ip)
	if n, err := strconv.ParseUint(port, 10, 16); err == nil && n > 0 && local {
		return int(n)
	}
	return noPort
}

func isLocal(ip net.IP) bool { return ip.IsUnspecified() || ip.IsLoopback() }
