package probe

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"
)

// Address is a server's address in the parts that a transport needs.
type Address struct {
	// Network is "tcp" or "unix", as package net names them.
	Network string
	// Dial holds the addresses to try in turn, as package net writes them: IPs
	// or a name to look up, with a port, or a socket's path. A path that begins
	// with @ is a name in the abstract namespace.
	Dial []string
	// Authority is the :authority of requests (RFC 9113 section 8.3.1).
	Authority string
	// ServerName is the host that the server's certificate must carry.
	ServerName string
}

// maxSocketPath is what fits in sun_path of sockaddr_un on Linux with its zero
// byte, in bytes.
const maxSocketPath = 107

// ParseAddress parses what -addr takes: host:port, :port, [IPv6]:port,
// unix:path, unix:///path, unix-abstract:name, dns:///host:port and
// passthrough:///host:port (grpc/doc/naming.md). An empty or wildcard host
// means this machine. The error is a *[Failure] with a hint.
func ParseAddress(s string) (Address, error) {
	address, err := parseAddress(s)
	if err != nil {
		return Address{}, misuse(fmt.Errorf("parsing address %q: %w", s, err),
			"write it as host:port, [::1]:port, unix:path or unix-abstract:name")
	}
	return address, nil
}

func parseAddress(s string) (Address, error) {
	if name, ok := strings.CutPrefix(s, "unix-abstract:"); ok {
		return socketAddress("@", name)
	}
	if path, ok := strings.CutPrefix(s, "unix:"); ok {
		return pathAddress(path)
	}
	for _, scheme := range []string{"dns:///", "passthrough:///"} {
		if endpoint, ok := strings.CutPrefix(s, scheme); ok {
			return tcpAddress(endpoint)
		}
	}
	if strings.Contains(s, "://") {
		return Address{}, errors.New("a scheme is not dns:///, passthrough:/// or unix:///")
	}
	return tcpAddress(s)
}

// pathAddress takes what follows "unix:".
func pathAddress(path string) (Address, error) {
	if rest, ok := strings.CutPrefix(path, "//"); ok {
		if !strings.HasPrefix(rest, "/") {
			return Address{}, errors.New("unix:// takes an absolute path")
		}
		path = rest
	}
	if strings.HasPrefix(path, "@") {
		path = "./" + path // a file of that name, not the abstract namespace
	}
	return socketAddress("", path)
}

func socketAddress(prefix, name string) (Address, error) {
	switch {
	case name == "":
		return Address{}, errors.New("the socket has no name")
	case len(name) > maxSocketPath:
		return Address{}, fmt.Errorf("the socket's name has %d bytes, more than %d", len(name), maxSocketPath)
	case strings.ContainsRune(name, 0):
		return Address{}, errors.New("the socket's name has a zero byte")
	}
	return Address{Network: "unix", Dial: []string{prefix + name}, Authority: "localhost", ServerName: "localhost"}, nil
}

func tcpAddress(endpoint string) (Address, error) {
	host, port, err := net.SplitHostPort(endpoint)
	if err != nil {
		if failed, ok := errors.AsType[*net.AddrError](err); ok {
			err = errors.New(failed.Err)
		}
		return Address{}, err
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
		return Address{}, fmt.Errorf("port %q is not a number from 1 to 65535", port)
	}
	ip, err := netip.ParseAddr(host)
	switch {
	case err == nil && !ip.IsUnspecified():
		return ipAddress(ip, port), nil
	case err == nil, host == "", strings.EqualFold(host, "localhost"):
		return loopback(port), nil
	case !isHost(host):
		return Address{}, fmt.Errorf("%q is not a host", host)
	}
	endpoint = net.JoinHostPort(host, port)
	return Address{Network: "tcp", Dial: []string{endpoint}, Authority: endpoint, ServerName: host}, nil
}

// ipAddress leaves the zone to the dialling: it means something on this machine
// only (RFC 6874 section 4).
func ipAddress(ip netip.Addr, port string) Address {
	name := ip.WithZone("").String()
	return Address{Network: "tcp", Dial: []string{net.JoinHostPort(ip.String(), port)},
		Authority: net.JoinHostPort(name, port), ServerName: name}
}

// loopback needs no name lookup: an image made from scratch has no /etc/hosts
// of its own, and what DNS says about localhost is not to be relied on
// (RFC 6761 section 6.3).
func loopback(port string) Address {
	return Address{Network: "tcp", Dial: []string{net.JoinHostPort("127.0.0.1", port), net.JoinHostPort("::1", port)},
		Authority: net.JoinHostPort("localhost", port), ServerName: "localhost"}
}

// isHost reports whether name can be a host in an address, a certificate and a
// header. Underscores are not for hosts (RFC 952), but Compose services have them.
func isHost(name string) bool {
	if _, err := netip.ParseAddr(name); err == nil {
		return !strings.Contains(name, "%")
	}
	return name != "" && len(name) <= 253 && !strings.ContainsFunc(name, func(r rune) bool {
		letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
		return !letter && !strings.ContainsRune("-_.", r)
	})
}
