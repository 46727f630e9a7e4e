// Package address says where a server listens, if its source states that plainly: by a literal, a constant, or the
// default of a flag, an option or an environment variable, in the same file. Whatever else gives an address is not
// known here: the probe finds its server when it runs.
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

// Host says on which of its addresses a machine listens.
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

// Parse returns the address that a text is: host:port, a port alone, or a Unix domain socket. The result is the zero
// Address if the text is none.
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

// Setting returns the address that a setting on a line of a file gives: an address, a URL or a port. Nothing of the
// result but its line is known if the setting is none of these.
func Setting(text string, line int) Address {
	a := Parse(TrimScheme(text))
	a.Place.Line = line
	return a
}

// ByDefault returns an address that an environment variable replaces, or a setting that has no variable, "".
func ByDefault(a Address, variable string) Address {
	if a.Certainty > Default {
		a.Certainty = Default
	}
	a.Variable = variable
	return a
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

// ipOf returns the IP address that a text is, and one that is not valid if the text is none.
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

// anyHostURL is the scheme of a URL, also of Arrow Flight, with the host names that stand for all addresses in
// ASP.NET Core's URLs.
var anyHostURL = lazyregexp.New(`^(?i:https?|tcp|grpc(?:\+t(?:cp|ls))?)://(?:[*+]|\[::\])?`)

// TrimScheme returns the address of a URL; any other text comes back unchanged.
func TrimScheme(url string) string {
	if !anyHostURL.MatchString(url) {
		return url
	}
	return strings.TrimRight(anyHostURL.ReplaceAllLiteralString(url, ""), "/; ")
}
