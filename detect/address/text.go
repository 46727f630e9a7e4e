package address

import (
	"bytes"
	"slices"
	"strings"
	"unicode"

	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

var (
	// addressLiteral is an address or a port. The host may be interpolated: "{}:", "${host}:", "\(host):", "%s:".
	addressLiteral = lazyregexp.New(`^(?:([\w.-]*|\[[\w.:]*\])|\\\([^)]*\)|[$#]?\{[^}]*\}|%s|\$\w+)` +
		`:(\d{1,5})$|^(\d{1,5})$`)
	// interpolation matches code at the end of a string, and the text before the code.
	interpolation       = lazyregexp.New(`^(.*?)(?:(?:\\\(|[$#]?\{)((?:[^{}\\]|\{[^{}]*\})+)[)}]|\$(\w+))$`)
	interpolationFormat = lazyregexp.New(`:[ds]$`)
	quotedContents      = lazyregexp.New(`"[^"\n]*"|'[^'\n]*'`)
	// socketScheme matches the beginning of a Unix domain socket (grpc's doc/naming.md).
	socketScheme = lazyregexp.New(`^unix(?:-abstract)?:`)
)

// text reads the contents of a string at an offset. isPart says that another text goes before.
func (e *evaluation) text(text string, at int, isPart bool) {
	if socketScheme.MatchString(text) {
		e.socket(text, at)
		return
	}
	if ipOf(text).IsValid() || text == "localhost" {
		e.hosts = append(e.hosts, hostOf(text))
		return
	}
	text = TrimScheme(text)
	if a := addressLiteral.FindStringSubmatch(text); a != nil {
		switch {
		case a[3] != "":
			e.add(Parse(a[3]), at)
		case isPart || a[1] == "" && text[0] != ':': // the host stands elsewhere
			if e.add(Parse(a[2]), at); IsOwnHost([]byte(text)) {
				e.hosts = append(e.hosts, OneInterface)
			}
		default:
			e.add(Parse(a[1]+":"+a[2]), at)
		}
		return
	}
	if in := interpolation.FindStringSubmatch(text); in != nil {
		e.hostBefore(in[1])
		e.interpolated(in[2]+in[3], at)
		return
	}
	for _, place := range []string{"{}", "%s", "%d", ""} { // "0.0.0.0:{}", "%s:%d", "0.0.0.0:" + port
		if host, ok := strings.CutSuffix(text, ":"+place); ok {
			e.hostBefore(host + ":")
			return
		}
	}
}

// hostBefore adds the host in a string before a port elsewhere.
func (e *evaluation) hostBefore(host string) {
	if strings.HasSuffix(host, ":") && !strings.ContainsAny(host, "{($%") {
		if a := Parse(host + "80"); a.Port != 0 && (len(host) > 1 || a.Host != AllInterfaces) {
			e.hosts = append(e.hosts, a.Host)
		}
	}
}

// socket adds the Unix domain socket in a text. The path is unknown if the text goes on elsewhere.
func (e *evaluation) socket(text string, at int) {
	if _, path, _ := strings.Cut(text, ":"); strings.Trim(path, "/") == "" || strings.ContainsAny(path, "{}%$#") {
		text = ""
	}
	e.add(Address{Host: UnixSocket, Socket: text}, at)
}

// interpolated reads code in a string at an offset, for a port.
func (e *evaluation) interpolated(code string, at int) {
	raw := []byte(interpolationFormat.ReplaceAllString(code, ""))
	delete(e.seen, at)
	e.expression(expression{raw: raw, code: quotedContents.ReplaceAllFunc(raw, func(quoted []byte) []byte {
		quoted = bytes.Clone(quoted)
		source.Blank(quoted[1 : len(quoted)-1])
		return quoted
	}), at: at})
}

var (
	// hostConstant matches library names for a host, and hostNumbers the numbers of an address.
	hostConstant = lazyregexp.New(`(?i)\b(?:((?:ipv6)?loopback(?:_?(?:ipv?[46]|v[46]))?|localhost)|` +
		`(unspecified|any_?ipv?[46]|ipv[46]_any|ipaddress\.(?:ipv6)?any))\b`)
	hostNumbers = lazyregexp.New(`[\[({]\s*(\d{1,3}(?:\s*,\s*\d{1,3}){3})\s*[\])}]`)
	// ownHost matches a call for the machine's own name or address, the address of one interface.
	ownHost = lazyregexp.New(`(?i)\b(?:gethostby(?:name|addr)|gethost(?:name|entry)|getfqdn|getLocalHost|` +
		`os\s*\.\s*hostname|hostname::get)\b|` +
		`\b(?:ip\.address|(?:get_?)?(?:my|local|own|host)_?ip(?:_?addr(?:ess)?)?|` +
		`get_?ip(?:_?addr(?:ess)?)?)\s*\(`)
)

// IsOwnHost reports whether code asks for the machine's own name or address.
func IsOwnHost(code []byte) bool { return ownHost.Match(code) }

// hostsIn adds the hosts of an expression outside of strings.
func (e *evaluation) hostsIn(x expression) {
	for _, m := range hostConstant.FindAllSubmatch(x.code, maxDeclarations) {
		h := Loopback
		if m[2] != nil {
			h = AllInterfaces
		}
		if !slices.Contains(e.hosts, h) {
			e.hosts = append(e.hosts, h)
		}
	}
	if IsOwnHost(x.code) {
		e.hosts = append(e.hosts, OneInterface)
	}
	for _, m := range hostNumbers.FindAllSubmatch(x.code, maxDeclarations) {
		numbers := strings.Join(strings.FieldsFunc(string(m[1]), func(c rune) bool {
			return c == ',' || unicode.IsSpace(c)
		}), ".")
		if ipOf(numbers).IsValid() {
			e.hosts = append(e.hosts, hostOf(numbers))
		}
	}
}
