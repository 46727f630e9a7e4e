package address

import (
	"bytes"
	"slices"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

// stringLiteral takes the contents of a string, which stands at an offset. isPart says that another text goes before
// it.
func (e *evaluation) stringLiteral(text string, at int, isPart bool) {
	e.hosted = e.hosted || strings.Contains(text, ":")
	e.texts = append(e.texts, text)
	if socketScheme.MatchString(text) {
		e.socket(text, at)
		return
	}
	if ipOf(text).IsValid() || text == "localhost" {
		e.host(hostOf(text), at)
		return
	}
	text = TrimScheme(text)
	if host := interpolation.FindStringSubmatch(text[:max(0, strings.LastIndexByte(text, ':'))]); host != nil {
		e.hostCode(host[1], host[2]+host[3], at)
	}
	if a := addressLiteral.FindStringSubmatch(text); a != nil && a[3] != "" {
		e.add(Parse(a[3]), at)
	} else if a != nil && (isPart || a[1] == "" && text[0] != ':') {
		e.add(Parse(a[2]), at) // the host stands elsewhere
	} else if a != nil {
		e.add(Parse(a[1]+":"+a[2]), at)
	} else if in := interpolation.FindStringSubmatch(text); in != nil {
		e.interpolated(in[1], in[2]+in[3], at)
	} else if before, ok := cutFormat(text); ok {
		e.interpolated(before, "", at)
	}
}

var (
	// concatenated is a host that goes before a part of a text, and formatted one that a format is given first.
	concatenated = lazyregexp.New(`([\w.@$]*)\s*(?:[+.]+|&|<>)\s*$`)
	formatted    = lazyregexp.New(`^\s*(?:\.\s*format\s*\(|%\s*\(?|,)\s*([\w.@$]+)\s*(?:[,)]|$)`)
)

// hostBeside takes the host of an address that begins with a colon or with the place of a host in a format, where a
// match for its string says. It reports whether another text goes before it.
func (e *evaluation) hostBeside(x expression, text string, match []int) (isPart bool) {
	before := concatenated.FindSubmatch(x.code[:match[0]])
	isPart = before != nil && strings.HasPrefix(text, ":")
	var host []byte
	switch {
	case isPart:
		e.variables = Variables(x.raw[match[1]:]) // those before it give the host
		host = before[1]
	case strings.HasPrefix(text, "{}:"), strings.HasPrefix(text, "%s:"):
		if given := formatted.FindSubmatch(x.code[match[1]:]); given != nil {
			host = given[1]
		}
	}
	if len(host) > 0 {
		e.hostCode("", string(host), x.at+match[0])
	}
	return isPart
}

// hostCode takes code for the host of an address, after a text. The variables that it asks are not those of the port.
func (e *evaluation) hostCode(before, code string, at int) {
	asked := len(e.variables)
	e.interpolated(before, code, at)
	given := Variables([]byte(code))
	e.variables = slices.DeleteFunc(e.variables[:asked], func(v string) bool { return slices.Contains(given, v) })
}

// cutFormat returns what a string has before the place where its port is put, {} in Rust and Python, %s or %d, if that
// is a host.
func cutFormat(text string) (before string, ok bool) {
	for _, place := range []string{"{}", "%s", "%d"} {
		if host, isCut := strings.CutSuffix(text, ":"+place); isCut {
			return host + ":", host == "localhost" || ipOf(strings.Trim(host, "[]")).IsValid()
		}
	}
	return "", false
}

// socketScheme begins a Unix domain socket (grpc's doc/naming.md).
var socketScheme = lazyregexp.New(`^unix(?:-abstract)?:`)

// socket takes the text of a Unix domain socket. Its path is not known if the text goes on elsewhere.
func (e *evaluation) socket(text string, at int) {
	if _, path, _ := strings.Cut(text, ":"); strings.Trim(path, "/") == "" || strings.ContainsAny(path, "{}%$#") {
		text = ""
	}
	e.add(Address{Host: UnixSocket, Socket: text}, at)
}

// TrimScheme returns the address of a URL; any other text comes back unchanged.
func TrimScheme(url string) string {
	if !anyHostURL.MatchString(url) {
		return url
	}
	return strings.TrimRight(anyHostURL.ReplaceAllLiteralString(url, ""), "/; ")
}

// interpolated takes code in a string, which stands at an offset, for the port of an address or for its host.
func (e *evaluation) interpolated(host, code string, at int) {
	if host != ":" && strings.HasSuffix(host, ":") && !strings.ContainsAny(host, "{($%") {
		of := Parse(host + "80")
		if e.host(of.Host, at); of.Local() == 0 {
			return
		}
	}
	if e.Placeholder != nil {
		if m := e.Placeholder.FindStringSubmatch(code); m != nil {
			key := m[e.Placeholder.SubexpIndex("key")]
			if isVariable(key) {
				e.variables = append(e.variables, key)
			}
			u := Use{Path: Key(key), Dotted: code, At: at}
			e.outside = true
			e.before = append(e.before, u)
			e.follow(u.Path, u)
			e.stringLiteral(m[e.Placeholder.SubexpIndex("default")], at, false)
			return
		}
	}
	raw := []byte(interpolationFormat.ReplaceAllString(code, ""))
	e.evaluate(expression{raw: raw, code: quotedContents.ReplaceAllFunc(raw, func(quoted []byte) []byte {
		quoted = bytes.Clone(quoted)
		source.Blank(quoted[1 : len(quoted)-1])
		return quoted
	}), at: at})
}

var quotedContents = lazyregexp.New(`"[^"\n]*"|'[^'\n]*'`)
