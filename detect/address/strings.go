package address

import (
	"bytes"
	"slices"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

// stringLiteral takes the contents of a string, which stands at an offset.
func (e *evaluation) stringLiteral(text string, at int) {
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
		asked := len(e.variables)
		e.interpolated(host[1], host[2]+host[3], at)
		given := Variables([]byte(host[0])) // they give the host alone
		e.variables = slices.DeleteFunc(e.variables[:asked], func(v string) bool { return slices.Contains(given, v) })
	}
	if a := addressLiteral.FindStringSubmatch(text); a != nil && a[3] != "" {
		e.add(Parse(a[3]), at)
	} else if a != nil {
		e.add(Parse(a[1]+":"+a[2]), at)
	} else if in := interpolation.FindStringSubmatch(text); in != nil {
		e.interpolated(in[1], in[2]+in[3], at)
	} else if before, ok := cutFormat(text); ok {
		e.interpolated(before, "", at)
	}
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
			e.stringLiteral(m[e.Placeholder.SubexpIndex("default")], at)
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
