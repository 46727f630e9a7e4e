//go:build unix

package lean

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"syscall"
	"time"

	"github.com/grpc-cnb/health-probe/probe"
)

// dial connects to the first address that answers, and reports the failure of the first where none does. What is left
// of the time is shared out among the addresses that are left, so that one that drops packets does not use it all up.
func dial(ctx context.Context, address probe.Address, deadline time.Time) (*socket, error) {
	endpoints, err := resolve(ctx, address, deadline)
	if err != nil {
		return nil, err
	}
	var first error
	for i, e := range endpoints {
		share := time.Until(deadline) / time.Duration(len(endpoints)-i)
		sock, err := connect(e.family, e.addr, time.Now().Add(share))
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

// endpoint is an address as the kernel takes it.
type endpoint struct {
	family int
	addr   syscall.Sockaddr
}

func resolve(ctx context.Context, address probe.Address, deadline time.Time) ([]endpoint, error) {
	var endpoints []endpoint
	for _, text := range address.Dial {
		if address.Network == "unix" {
			endpoints = append(endpoints, endpoint{syscall.AF_UNIX, &syscall.SockaddrUnix{Name: text}})
			continue
		}
		if ip, err := netip.ParseAddrPort(text); err == nil {
			found, err := ipEndpoint(ip.Addr(), ip.Port())
			if err != nil {
				return nil, err
			}
			endpoints = append(endpoints, found)
			continue
		}
		found, err := lookUp(ctx, text, deadline)
		if err != nil {
			return nil, err
		}
		endpoints = append(endpoints, found...)
	}
	return endpoints, nil
}

func ipEndpoint(ip netip.Addr, port uint16) (endpoint, error) {
	if ip = ip.Unmap(); ip.Is4() {
		return endpoint{syscall.AF_INET, &syscall.SockaddrInet4{Port: int(port), Addr: ip.As4()}}, nil
	}
	zone, err := zoneID(ip.Zone())
	return endpoint{syscall.AF_INET6, &syscall.SockaddrInet6{Port: int(port), Addr: ip.As16(), ZoneId: zone}}, err
}

// zoneID returns the index of the interface that a zone names, or is (RFC 4007, section 11.2).
func zoneID(zone string) (uint32, error) {
	if zone == "" {
		return 0, nil
	}
	if id, err := strconv.ParseUint(zone, 10, 32); err == nil {
		return uint32(id), nil
	}
	nic, err := net.InterfaceByName(zone)
	if err != nil {
		return 0, fmt.Errorf("looking up zone %q: no such network interface", zone)
	}
	return uint32(nic.Index), nil
}

// lookUp asks for the addresses of a name, which is the one thing that needs package net's machinery.
func lookUp(ctx context.Context, text string, deadline time.Time) ([]endpoint, error) {
	host, port, err := net.SplitHostPort(text)
	if err != nil {
		return nil, err
	}
	number, err := net.LookupPort("tcp", port)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithDeadline(ctx, deadline)
	defer cancel()
	ips, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	if err != nil {
		return nil, err
	}
	var endpoints []endpoint
	for _, ip := range ips {
		found, err := ipEndpoint(ip, uint16(number))
		if err != nil {
			return nil, err
		}
		endpoints = append(endpoints, found)
	}
	if len(endpoints) == 0 {
		return nil, &net.DNSError{Err: "it has no address", Name: host, IsNotFound: true}
	}
	return endpoints, nil
}
