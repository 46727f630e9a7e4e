package address

import (
	"slices"
	"strings"
	"unicode"

	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

// host takes a host that stands apart from a port, at an offset.
func (e *evaluation) host(h Host, at int) {
	if h == OneInterface {
		e.add(Address{Host: OneInterface}, at)
	} else if !slices.Contains(e.hosts, h) {
		e.hosts = append(e.hosts, h)
	}
}

// HostIn returns which host a text is that has no port, UnknownHost if it is none for sure.
func HostIn(text string) Host {
	if text == "localhost" || ipOf(text).IsValid() {
		return hostOf(text)
	}
	return UnknownHost
}

// hostConstant matches what libraries call a host that stands for an address, hostNumbers the numbers of one, and
// ownHost what asks for the machine's own name or address.
var (
	hostConstant = lazyregexp.New(`(?i)\b(?:(loopback(?:_?(?:ipv?[46]|v[46]))?|localhost)|` +
		`(unspecified|any_?ipv?[46]|ipv[46]_any))\b`)
	ownHost = lazyregexp.New(`(?i)\b(?:gethostby(?:name|addr)|gethost(?:name|entry)|getfqdn|getLocalHost|` +
		`os\s*\.\s*hostname|hostname::get)\b|` +
		`\b(?:ip\.address|(?:get_?)?(?:my|local|own|host)_?ip(?:_?addr(?:ess)?)?|` +
		`get_?ip(?:_?addr(?:ess)?)?)\s*\(`)
	hostNumbers = lazyregexp.New(`[\[({]\s*(\d{1,3}(?:\s*,\s*\d{1,3}){3})\s*[\])}]`)
)

// IsOwnHost reports whether code asks for the machine's own name or address, which is one of its interfaces.
func IsOwnHost(code []byte) bool { return ownHost.Match(code) }

// hostsIn takes the hosts that an expression has without a string.
func (e *evaluation) hostsIn(x expression) {
	for _, m := range hostConstant.FindAllSubmatchIndex(x.code, maxDeclarations) {
		h := Loopback
		if m[4] >= 0 {
			h = AllInterfaces
		}
		e.host(h, x.at+m[0])
	}
	if m := ownHost.FindIndex(x.code); m != nil {
		e.host(OneInterface, x.at+m[0])
	}
	for _, m := range hostNumbers.FindAllSubmatchIndex(x.code, maxDeclarations) {
		numbers := strings.Join(strings.FieldsFunc(string(x.code[m[2]:m[3]]), func(c rune) bool {
			return c == ',' || unicode.IsSpace(c)
		}), ".")
		if ipOf(numbers).IsValid() {
			e.host(hostOf(numbers), x.at+m[0])
		}
	}
}
