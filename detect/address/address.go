// Package address says where a server listens, if the source plainly states the address: by a literal, a constant, or
// the default of a flag, an option or an environment variable, in the same file, or in files that a language names
// ([Names.Elsewhere]). Any other source of an address is unknown here: the probe finds its server at run time.
//
//	text --Read: patterns of the language--> Names --Address--> where an expression listens, or why that is not known
//
// Begin with [Read] and [Names.Address].
package address

import (
	"net/netip"
	"strconv"
	"strings"

	"github.com/grpc-cnb/health-probe/internal/hostport"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
	"github.com/grpc-cnb/health-probe/internal/plan"
)

// Address is where a server listens.
type Address = plan.Address

// Host says on which addresses of a machine a server listens.
type Host = plan.Host

// The hosts and the certainties.
const (
	UnknownHost   = plan.UnknownHost
	AllInterfaces = plan.AllInterfaces
	Loopback      = plan.Loopback
	OneInterface  = plan.OneInterface
	UnixSocket    = plan.UnixSocket

	Unknown = plan.Unknown
	Default = plan.Default
	Written = plan.Written
)

// Parse returns the address in a text: host:port, a port alone, or a Unix domain socket. The result is the zero Address
// for a text without an address.
func Parse(text string) Address {
	if strings.HasPrefix(text, "unix:") || strings.HasPrefix(text, "unix-abstract:") {
		return Address{Host: UnixSocket, Socket: text, Certainty: Written}
	}
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

// Setting returns the address in a setting on a line of a file: an address, a URL or a port. For other text, only the
// line of the result is known.
func Setting(text string, line int) Address {
	a := Parse(TrimScheme(text))
	a.Place.Line = line
	return a
}

// ByDefault returns an address that an environment variable or a setting replaces. variable is "" for a setting.
func ByDefault(a Address, variable string) Address {
	if a.Certainty > Default {
		a.Certainty = Default
	}
	a.Variable = variable
	return a
}

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

// ipOf returns the IP address in a text, or an invalid address if the text is none.
func ipOf(text string) netip.Addr {
	ip, err := netip.ParseAddr(text)
	if err != nil || ip.Zone() != "" {
		return netip.Addr{}
	}
	return ip.Unmap()
}

// HostOf returns the host of a name or an address without a port: "0.0.0.0", "*", "localhost".
func HostOf(text string) Host {
	if text = strings.Trim(text, "[]"); text == "*" || text == "+" {
		return AllInterfaces
	}
	return hostOf(text)
}

// anyHostURL matches the scheme of a URL, also of Arrow Flight, and the host names for all addresses in ASP.NET Core's
// URLs.
var anyHostURL = lazyregexp.New(`^(?i:https?|tcp|grpc(?:\+t(?:cp|ls))?)://(?:[*+]|\[::\])?`)

// TrimScheme returns the address of a URL, and other text unchanged.
func TrimScheme(url string) string {
	if !anyHostURL.MatchString(url) {
		return url
	}
	return strings.TrimRight(anyHostURL.ReplaceAllLiteralString(url, ""), "/; ")
}
