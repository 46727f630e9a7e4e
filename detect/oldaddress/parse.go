package address

import (
	"bytes"
	"net/netip"
	"strconv"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/hostport"
)

// Parse returns the address that a text is: host:port, a port alone, or a Unix domain socket. It is the zero Address
// if the text is none.
func Parse(text string) Address {
	if strings.HasPrefix(text, "unix:") || strings.HasPrefix(text, "unix-abstract:") {
		return Address{Host: UnixSocket, Socket: text, Certainty: Written}
	}
	// A bare number is no address: the variable was declared with it and got its colon later.
	host, port, err := hostport.Split(text)
	in := UnknownHost
	if err != nil {
		port = text
	} else {
		in = hostOf(host)
	}
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil || n == 0 {
		return Address{}
	}
	return Address{Host: in, Port: int(n), Certainty: Written}
}

// hostOf returns which host the one in an address is.
func hostOf(host string) Host {
	ip := ipOf(host)
	switch {
	case host == "" || ip.IsUnspecified():
		return AllInterfaces
	case host == "localhost" || ip.IsLoopback():
		return Loopback
	}
	return OneInterface
}

// ipOf returns the IP address that a text is, and one that is not valid if it is none.
func ipOf(text string) netip.Addr {
	ip, err := netip.ParseAddr(text)
	if err != nil || ip.Zone() != "" {
		return netip.Addr{}
	}
	return ip.Unmap()
}

// HostOf returns which host a name or an address is that stands without a port: "0.0.0.0", "*", "localhost".
func HostOf(text string) Host {
	if text = strings.Trim(text, "[]"); text == "*" || text == "+" {
		return AllInterfaces
	}
	return hostOf(text)
}

// listenWords are parts of the names of constants, fields, functions and parameters that say where something listens.
var listenWords = source.NewKeywords(
	"port", "Port", "PORT", "addr", "Addr", "ADDR", "listen", "Listen", "LISTEN", "bind", "Bind", "BIND", "ndpoint",
	"ENDPOINT", "url", "Url", "URL", "uri", "socket",
	"erve(", "erver(",
)

var (
	// readsVariable are how sources read environment variables, and variableWords are in the names of those that have
	// an address.
	readsVariable = source.NewKeywords("process.env", "environ", "getenv", "env::var", "env!(", "ENV[", "ENV.fetch",
		"Platform.environment", ".environment[", "EnvironmentVariable", "fromEnvironment")
	variableWords = source.NewKeywords("PORT", "ADDR", "LISTEN")
)

// ReadsVariable reports whether a text may read an environment variable that has an address.
func ReadsVariable(text []byte) bool { return readsVariable.In(text) && variableWords.In(text) }

// MayState reports whether a text may state a port, or the variable that has one: see [HasPortLine], [ReadsVariable].
func MayState(text []byte) bool { return HasPortLine(text) || ReadsVariable(text) }

// HasPortLine reports whether a number of four or five digits, as most ports have, stands in a line that says where
// something listens, or in one of the lines after it, as an argument of a call may: "const PORT = 50051". It is made to
// be fast on files that have none.
func HasPortLine(text []byte) bool {
	digits := 0
	var lines [5]int // where the line begins, and those before it
	for at := 0; at <= len(text); at++ {
		if at < len(text) && text[at] >= '0' && text[at] <= '9' {
			digits++
			continue
		}
		if digits == 4 || digits == 5 {
			end := len(text)
			if n := bytes.IndexByte(text[at:], '\n'); n >= 0 {
				end = at + n
			}
			if before := lines[len(lines)-1]; listenWords.In(text[before:min(end, before+2*source.MaxValue)]) {
				return true
			}
			at = end
		}
		if digits = 0; at < len(text) && text[at] == '\n' {
			copy(lines[1:], lines[:])
			lines[0] = at + 1
		}
	}
	return false
}
