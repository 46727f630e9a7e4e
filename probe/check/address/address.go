// Package address is the grammar of -addr. In goes the text of a user, out comes an [Address]: the endpoints to connect
// to, the authority of requests, and the name that the server's certificate must carry. Begin with [Parse].
package address

import (
	"errors"
	"fmt"
	"net/netip"
	"strconv"
	"strings"

	"github.com/grpc-cnb/health-probe/internal/hostport"
	"github.com/grpc-cnb/health-probe/probe/check/outcome"
	"github.com/grpc-cnb/health-probe/probe/check/rawfile"
)

// Address is a server's address, parsed into what a transport needs.
type Address struct {
	// Endpoints are tried one after the other until one accepts a connection. There is at least one.
	Endpoints []Endpoint
	// Authority is the :authority of requests (RFC 9113 section 8.3.1).
	Authority string
	// ServerName is the host that the server's certificate must carry.
	ServerName string
}

// Endpoint is a place to connect to: an [IPEndpoint], a [HostEndpoint] or a [UnixEndpoint].
type Endpoint interface{ isEndpoint() }

// IPEndpoint is an IP address, with any zone, and a TCP port.
type IPEndpoint netip.AddrPort

// HostEndpoint is the name of a host, for a name lookup, and a TCP port.
type HostEndpoint struct {
	Host string
	Port uint16
}

// UnixEndpoint is a unix socket as packages net and syscall name it: a path, or @ and a name in the abstract namespace.
// A path never begins with @.
type UnixEndpoint string

func (IPEndpoint) isEndpoint()   {}
func (HostEndpoint) isEndpoint() {}
func (UnixEndpoint) isEndpoint() {}

// maxSocketName is the number of bytes that fit into sun_path of sockaddr_un on Linux, without the zero byte at its
// end.
const maxSocketName = 107

// PortLookup returns the TCP port of a service by its name, such as http-alt. The error is the reason alone.
type PortLookup func(name string) (port int, err error)

// unknownPortError is the error of looking up the port of a service with a name.
type unknownPortError struct {
	name string
	err  error
}

// Error returns the name and the reason.
func (e *unknownPortError) Error() string {
	return fmt.Sprintf("looking up port %q: %v", e.name, e.err)
}

// Unwrap returns the reason.
func (e *unknownPortError) Unwrap() error { return e.err }

// AnyPort is a PortLookup that returns 0, for a port looked up later, in another image.
func AnyPort(string) (int, error) { return 0, nil }

// Parse parses the value of -addr: host:port, :port, [IPv6]:port, unix:path, unix:///path, unix-abstract:name,
// unix:@name, and host:port after dns:, dns:///, passthrough: or passthrough:/// (grpc/doc/naming.md). An empty or a
// wildcard host means this machine, and a port can be the name of a service. The error is a *[outcome.Failure] with a
// hint.
func Parse(s string, lookUp PortLookup) (Address, error) {
	address, err := parseTarget(s, lookUp)
	if unknown, ok := errors.AsType[*unknownPortError](err); ok {
		cause := fmt.Errorf("connecting to %q: %w", s, unknown)
		f := outcome.NoConnection(outcome.ClassLookup, cause,
			"write the port as a number: this image's /etc/services does not have its name")
		if rawfile.IsOutOfDescriptors(err) {
			f.Hint = outcome.OutOfDescriptors
		}
		return Address{}, f
	}
	if err != nil {
		return Address{}, outcome.Misuse(fmt.Errorf("parsing address %q: %w", s, err),
			"write it as host:port, [::1]:port, unix:path or unix-abstract:name")
	}
	return address, nil
}

// parseTarget parses an address as grpc-go does. A name before a colon that is no scheme of grpc-go is a host.
func parseTarget(s string, lookUp PortLookup) (Address, error) {
	name, rest, _ := strings.Cut(s, ":")
	scheme := strings.ToLower(name)
	authority, endpoint := splitTarget(rest)
	switch scheme {
	case "unix", "unix-abstract":
		if authority != "" {
			return Address{}, fmt.Errorf("%s:// takes an absolute path", scheme)
		}
		if scheme == "unix-abstract" {
			return socketAddress("@", endpoint)
		}
		if abstract, ok := strings.CutPrefix(endpoint, "@"); ok {
			return socketAddress("@", abstract)
		}
		return socketAddress("", endpoint)
	case "dns", "passthrough":
		hostPort := strings.TrimPrefix(endpoint, "/")
		switch {
		case scheme == "dns" && authority != "":
			return Address{}, errors.New("dns:// takes no name server of its own")
		case scheme == "passthrough" && strings.HasPrefix(hostPort, "unix:"):
			return parseTarget(hostPort, lookUp)
		case hostPort != rest || strings.Contains(hostPort, ":"):
			return tcpAddress(hostPort, lookUp)
		}
		// The address is host:port, with the name of a scheme as host.
	}
	if strings.Contains(s, "://") {
		return Address{}, errors.New("a scheme is not dns:///, passthrough:/// or unix:///")
	}
	return tcpAddress(s, lookUp)
}

// splitTarget splits the text after a scheme and its colon (RFC 3986 section 3). An endpoint behind // begins with a
// slash.
func splitTarget(rest string) (authority, endpoint string) {
	behind, ok := strings.CutPrefix(rest, "//")
	if !ok {
		return "", rest
	}
	if slash := strings.IndexByte(behind, '/'); slash >= 0 {
		return behind[:slash], behind[slash:]
	}
	return behind, ""
}

// socketAddress returns the address of a unix socket. The prefix of the name is "" for a path or "@" for the abstract
// namespace.
func socketAddress(prefix, name string) (Address, error) {
	switch {
	case name == "":
		return Address{}, errors.New("the socket has no name")
	case len(name) > maxSocketName:
		return Address{}, fmt.Errorf("the socket's name has %d bytes, more than %d", len(name), maxSocketName)
	case strings.ContainsRune(name, 0):
		return Address{}, errors.New("the socket's name has a zero byte")
	}
	socket := UnixEndpoint(prefix + name)
	return Address{Endpoints: []Endpoint{socket}, Authority: "localhost", ServerName: "localhost"}, nil
}

// tcpAddress parses host:port.
func tcpAddress(hostPort string, lookUp PortLookup) (Address, error) {
	host, portText, err := hostport.Split(hostPort)
	if err != nil {
		return Address{}, err
	}
	port, err := parsePort(portText, lookUp)
	if err != nil {
		return Address{}, err
	}
	ip, err := netip.ParseAddr(unescapeZone(host))
	switch {
	case err == nil && !ip.IsUnspecified():
		return ipAddress(netip.AddrPortFrom(ip, port)), nil
	case err == nil:
		loopback := loopbackAddress(port)
		loopback.ServerName = ip.String() // as in grpc-go
		return loopback, nil
	case host == "", strings.EqualFold(host, "localhost"):
		return loopbackAddress(port), nil
	case !IsHost(host):
		return Address{}, fmt.Errorf("%q is not a host", host)
	}
	endpoints := []Endpoint{HostEndpoint{host, port}}
	return Address{Endpoints: endpoints, Authority: hostport.Join(host, port), ServerName: host}, nil
}

// unescapeZone returns a host in the form of package netip. grpc-go takes an address for a URI, with the zone behind
// %25 (RFC 6874 section 2). %25 alone is the zone 25.
func unescapeZone(host string) string {
	ip, zone, ok := strings.Cut(host, "%25")
	if !ok || zone == "" {
		return host
	}
	return ip + "%" + zone
}

// parsePort returns the port for a number or the name of a service.
func parsePort(text string, lookUp PortLookup) (uint16, error) {
	number, err := strconv.ParseUint(text, 10, 16)
	if err != nil && isServiceName(text) {
		port, err := lookUp(text)
		if err != nil {
			return 0, &unknownPortError{text, err}
		}
		return uint16(port), nil
	}
	if err != nil || number == 0 {
		return 0, fmt.Errorf("port %q is not a number from 1 to 65535", text)
	}
	return uint16(number), nil
}

// isServiceName reports whether text can be a name in /etc/services. RFC 6335 section 5.1 allows letters, at least one,
// digits and hyphens; Debian's file also has names with the other signs.
func isServiceName(text string) bool {
	letters := "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	return strings.ContainsAny(text, letters) && strings.Trim(text, letters+"0123456789-_.+") == ""
}

// ipAddress keeps the zone for connecting only, since a zone means nothing outside this machine (RFC 6874 section 4).
func ipAddress(ip netip.AddrPort) Address {
	name := ip.Addr().WithZone("").String()
	return Address{Endpoints: []Endpoint{IPEndpoint(ip)}, Authority: hostport.Join(name, ip.Port()), ServerName: name}
}

// loopbackAddress needs no name lookup: an image made from scratch has no /etc/hosts of its own, and DNS answers for
// localhost are unreliable (RFC 6761 section 6.3).
func loopbackAddress(port uint16) Address {
	ip4, ip6 := netip.AddrFrom4([4]byte{127, 0, 0, 1}), netip.IPv6Loopback()
	return Address{
		Endpoints:  []Endpoint{IPEndpoint(netip.AddrPortFrom(ip4, port)), IPEndpoint(netip.AddrPortFrom(ip6, port))},
		Authority:  hostport.Join("localhost", port),
		ServerName: "localhost",
	}
}

// HostOf returns the host in an authority (RFC 3986 section 3.2), or "" without a host. The authority can have a port,
// and can be an IPv6 address without brackets.
func HostOf(authority string) string {
	host, port, err := hostport.Split(authority)
	if err != nil {
		host, port = authority, ""
		if inner, ok := strings.CutPrefix(host, "["); ok && strings.HasSuffix(inner, "]") {
			host = strings.TrimSuffix(inner, "]")
			if _, err := netip.ParseAddr(host); err != nil {
				return ""
			}
		}
	}
	if !IsHost(host) || port != "" && !IsHost(port) { // a port has no other signs than a host
		return ""
	}
	return host
}

// IsHost reports whether name can be the host in an address, in a certificate and in a header. RFC 952 allows no
// underscore in the name of a host, but Compose services have such names.
func IsHost(name string) bool {
	if _, err := netip.ParseAddr(name); err == nil {
		return !strings.Contains(name, "%")
	}
	return name != "" && len(name) <= 253 && !strings.ContainsFunc(name, func(r rune) bool {
		letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
		return !letter && !strings.ContainsRune("-_.", r)
	})
}
