//go:build linux

package lean

import (
	"context"
	"net"
	"net/netip"
	"syscall"
	"time"

	"github.com/grpc-cnb/health-probe/probe/check"
	"github.com/grpc-cnb/health-probe/probe/check/address"
	"github.com/grpc-cnb/health-probe/probe/check/rawfile"
)

// dial connects to the first endpoint that answers. If none answers, dial returns the failure of the first endpoint.
// The remaining endpoints share the remaining time, so that an endpoint that drops packets does not use up all of the
// time.
func dial(address address.Address, deadline time.Time) (*socket, error) {
	targets, err := resolve(address.Endpoints, deadline)
	if err != nil {
		return nil, err
	}
	var first error
	for i, target := range targets {
		share := time.Until(deadline) / time.Duration(len(targets)-i)
		sock, err := connect(target.family, target.addr, time.Now().Add(share))
		if err == nil {
			sock.deadline = deadline
			return sock, nil
		}
		if first == nil {
			first = err
		}
	}
	return nil, first
}

// target is an endpoint in the form for the kernel, with the address family.
type target struct {
	family int
	addr   syscall.Sockaddr
}

// resolve returns the targets of endpoints in the same order, and looks up the names of hosts.
func resolve(endpoints []address.Endpoint, deadline time.Time) ([]target, error) {
	var targets []target
	for _, endpoint := range endpoints {
		switch endpoint := endpoint.(type) {
		case address.UnixEndpoint:
			targets = append(targets, target{syscall.AF_UNIX, &syscall.SockaddrUnix{Name: string(endpoint)}})
		case address.IPEndpoint:
			found, err := ipTarget(endpoint)
			if err != nil {
				return nil, err
			}
			targets = append(targets, found)
		case address.HostEndpoint:
			found, err := lookUp(endpoint, deadline)
			if err != nil {
				return nil, err
			}
			targets = append(targets, found...)
		}
	}
	return targets, nil
}

// ipTarget fails if this machine does not have the zone of the address.
func ipTarget(endpoint address.IPEndpoint) (target, error) {
	ipPort := netip.AddrPort(endpoint)
	ip, port := ipPort.Addr().Unmap(), int(ipPort.Port())
	if ip.Is4() {
		return target{syscall.AF_INET, &syscall.SockaddrInet4{Port: port, Addr: ip.As4()}}, nil
	}
	zone, err := check.Zone(endpoint)
	return target{syscall.AF_INET6, &syscall.SockaddrInet6{Port: port, Addr: ip.As16(), ZoneId: zone}}, err
}

// lookUp asks the name servers for the addresses of a host. Nothing else in a probe needs the machinery of package net:
// the poller takes two descriptors, and a question takes a third.
func lookUp(endpoint address.HostEndpoint, deadline time.Time) ([]target, error) {
	if err := rawfile.CheckDescriptors(3); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithDeadline(context.Background(), deadline)
	defer cancel()
	ips, err := net.DefaultResolver.LookupNetIP(ctx, "ip", endpoint.Host)
	if err != nil {
		return nil, err
	}
	var targets []target
	for _, ip := range ips {
		found, err := ipTarget(address.IPEndpoint(netip.AddrPortFrom(ip, endpoint.Port)))
		if err != nil {
			return nil, err
		}
		targets = append(targets, found)
	}
	if len(targets) == 0 {
		return nil, &net.DNSError{Err: "it has no address", Name: endpoint.Host, IsNotFound: true}
	}
	return targets, nil
}
