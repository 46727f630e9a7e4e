// Package sockets finds the listening sockets of a container: the package lists the listening sockets of the network
// namespace, selects the container's own, and asks for their protocols. So a probe without an address finds the server.
//
// Nothing here needs a capability, and nothing is trusted: a container may have thousands of sockets, and each may be
// silent, talk for ever or close at once. The numbers of sockets, connections and bytes are bounded, and the time too.
// Begin with [Own] and [Ask].
package sockets

import (
	"errors"
	"net/netip"
	"strconv"

	"github.com/grpc-cnb/health-probe/internal/hostport"
	"github.com/grpc-cnb/health-probe/probe/check/address"
	"github.com/grpc-cnb/health-probe/probe/check/outcome"
)

// Socket is a listening socket, or several sockets that look the same to a client (SO_REUSEPORT).
type Socket struct {
	// Addr is the socket in the syntax of -addr, and Address the parsed form.
	Addr    string
	Address address.Address
	// Owner says how the socket is known to be the container's own.
	Owner Owner
	// Speaks is the protocol of the socket, as far as asked. It is "" for a unix socket of still unknown owner.
	Speaks outcome.Protocol
	// Pod says that the kubelet reaches the socket at the pod's address: neither a loopback nor a unix socket.
	Pod bool
	// Port is the TCP port, 0 for a unix socket.
	Port uint16
}

// Owner says how a socket is known to be the container's own.
type Owner string

// The ways to know an owner.
const (
	// ByCgroup: the kernel made the socket in the control group of this process (INET_DIAG_CGROUP_ID, Linux 5.8).
	ByCgroup Owner = "cgroup"
	// ByProcess: a process of this container has the socket open (/proc/PID/fd).
	ByProcess Owner = "process"
	// ByPeer: a process of this container listens on the unix socket (SO_PEERCRED, unix(7)).
	ByPeer Owner = "peer"
	// Unknown: the owner of the socket is unknown.
	Unknown Owner = "unknown"
)

// ErrUnknownOwners is the error of a list without a socket known to be the container's own, although some may be.
var ErrUnknownOwners = errors.New("the sockets of this container cannot be told apart from those of others")

// Reach says which sockets [Ask] sends to: some servers log each unknown client.
type Reach int

const (
	// OneServer is no socket if a server with HTTP/2 speaks first, and otherwise the same as Likely.
	OneServer Reach = iota
	// Likely is all sockets except the well-known ports of protocols without gRPC.
	Likely
	// Everyone is all sockets.
	Everyone
)

// maxSockets bounds the listed sockets, and maxAsked the sockets asked at once.
const (
	maxSockets = 4096
	maxAsked   = 512
)

// listener is a listening TCP socket in the kernel's list.
type listener struct {
	at     netip.AddrPort
	v6only bool // [::] is not 0.0.0.0 as well
	inode  uint32
	cgroup uint64 // 0 for unknown
}

// socket returns the socket to reach a listener from this machine. A wildcard is reached by loopback, and the same port
// on both loopback addresses is a single server.
func (l listener) socket(owner Owner) Socket {
	ip, port := l.at.Addr().Unmap(), l.at.Port()
	s := Socket{Owner: owner, Speaks: outcome.NotAsked, Port: port, Pod: !ip.IsLoopback()}
	endpoints := []netip.Addr{ip}
	switch {
	case ip == netip.IPv4Unspecified():
		endpoints = []netip.Addr{ip4}
	case ip == netip.IPv6Unspecified() && l.v6only:
		endpoints = []netip.Addr{ip6}
	case ip == netip.IPv6Unspecified():
		endpoints = []netip.Addr{ip4, ip6}
	}
	name := endpoints[0].WithZone("").String()
	s.Addr = netip.AddrPortFrom(endpoints[0], port).String()
	if len(endpoints) == 2 {
		s.Addr = "localhost:" + strconv.Itoa(int(port))
	}
	if ip.IsUnspecified() {
		name = "localhost"
	}
	s.Address = address.Address{Authority: hostport.Join(name, port), ServerName: name}
	for _, e := range endpoints {
		s.Address.Endpoints = append(s.Address.Endpoints, endpoint(e, port))
	}
	return s
}

// ip4 and ip6 are the addresses of localhost.
var ip4, ip6 = netip.AddrFrom4([4]byte{127, 0, 0, 1}), netip.IPv6Loopback()

func endpoint(ip netip.Addr, port uint16) address.Endpoint {
	return address.IPEndpoint(netip.AddrPortFrom(ip, port))
}

// merge returns the sockets of listeners, a single socket for each address. Listeners at 127.0.0.1 and at ::1 on the
// same port are a single server on localhost.
func merge(all []listener, owner Owner) (merged []Socket) {
	index := map[string]int{}
	for _, l := range all {
		s := l.socket(owner)
		key := s.Addr
		if s.Address.Endpoints[0] == endpoint(ip4, s.Port) || s.Address.Endpoints[0] == endpoint(ip6, s.Port) {
			key = strconv.Itoa(int(s.Port))
		}
		i, known := index[key]
		if !known {
			index[key] = len(merged)
			merged = append(merged, s)
			continue
		}
		isOnPod := merged[i].Pod || s.Pod
		if s.Addr != merged[i].Addr {
			merged[i] = listener{at: netip.AddrPortFrom(netip.IPv6Unspecified(), s.Port)}.socket(owner)
		}
		merged[i].Pod = isOnPod
	}
	return merged
}
