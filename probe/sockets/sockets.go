// Package sockets finds out what this container listens on: it lists the listening sockets of the network namespace,
// tells which of them are the container's own, and asks what they speak. A probe that no address was given finds its
// server so.
//
// Nothing here needs a right that a process without capabilities lacks, and nothing is trusted: a container may have
// thousands of sockets, and each may be silent, talk for ever or close at once. The number of sockets, of connections,
// of bytes and the time are bounded. Begin with [Own] and [Ask].
package sockets

import (
	"errors"
	"net/netip"
	"strconv"

	"github.com/grpc-cnb/health-probe/internal/hostport"
	"github.com/grpc-cnb/health-probe/probe/check/address"
	"github.com/grpc-cnb/health-probe/probe/check/outcome"
)

// Socket is a listening socket, or several that a client cannot tell apart (SO_REUSEPORT).
type Socket struct {
	// Addr is how -addr names it, and Address what that means.
	Addr    string
	Address address.Address
	// Owner says how the socket is known to be the container's own.
	Owner Owner
	// Speaks says what the socket has answered, as far as it was asked. It is empty for a unix socket of which it is
	// not known yet whose it is.
	Speaks outcome.Protocol
	// Pod tells that the kubelet reaches the socket, by the address of the pod: it is not on loopback, and no unix
	// socket.
	Pod bool
	// Port is the TCP port, 0 for a unix socket.
	Port uint16
}

// Owner says how a socket is known to be one of this container's own.
type Owner string

// The ways to know an owner.
const (
	// ByCgroup: the kernel made the socket in the control group of this process (INET_DIAG_CGROUP_ID, Linux 5.8).
	ByCgroup Owner = "cgroup"
	// ByProcess: a process of this container has it open (/proc/PID/fd).
	ByProcess Owner = "process"
	// ByPeer: a process of this container listens on the unix socket (SO_PEERCRED, unix(7)).
	ByPeer Owner = "peer"
	// Unknown: nothing tells whose the socket is.
	Unknown Owner = "unknown"
)

// ErrUnknownOwners is the error of a list of sockets of which none is known to be the container's own, and some may be.
var ErrUnknownOwners = errors.New("the sockets of this container cannot be told apart from those of others")

// Reach says which sockets are sent something, since some servers log each unknown client.
type Reach int

const (
	// OneServer is none if a socket that speaks first speaks HTTP/2.
	OneServer Reach = iota
	// Likely is all except those with well-known ports of other protocols.
	Likely
	// Everyone is all sockets.
	Everyone
)

// maxSockets is the greatest number of sockets that are listed, and maxAsked of those that are asked at once.
const (
	maxSockets = 4096
	maxAsked   = 512
)

// listener is a listening TCP socket as the kernel lists it.
type listener struct {
	at     netip.AddrPort
	v6only bool // the kernel says that [::] is not 0.0.0.0 as well
	inode  uint32
	cgroup uint64 // 0 for unknown
}

// socket returns the socket at which a listener is reached from this machine. A wildcard is reached by loopback, and
// the same port on both loopback addresses is one server.
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

// ip4 and ip6 are the addresses that localhost means.
var ip4, ip6 = netip.AddrFrom4([4]byte{127, 0, 0, 1}), netip.IPv6Loopback()

func endpoint(ip netip.Addr, port uint16) address.Endpoint {
	return address.IPEndpoint(netip.AddrPortFrom(ip, port))
}

// merge returns the sockets of listeners. One is left of those with the same address. What is reached at 127.0.0.1 and
// at ::1 on one port is one server, which listens on localhost.
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
