package check

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"

	"github.com/grpc-cnb/health-probe/probe/check/address"
	"github.com/grpc-cnb/health-probe/probe/check/rawfile"
)

// LookUpPort returns the TCP port of a service by its name. The sources are /etc/services and the few names built into
// package net: an image made from scratch has no /etc/services.
func LookUpPort(name string) (port int, err error) {
	if err := rawfile.CheckDescriptors(3); err != nil {
		return 0, err
	}
	port, err = net.LookupPort("tcp", name)
	if failed, ok := errors.AsType[*net.DNSError](err); ok {
		err = errors.New(failed.Err) // without the protocol, which package net puts before the name
	}
	return port, err
}

// Zone returns the index of the network interface for the zone of an address, given by name or by index (RFC 4007
// section 11.2), and 0 without a zone. Zone fails if the machine has no such interface; package net would leave out the
// zone.
func Zone(e address.IPEndpoint) (uint32, error) {
	zone := netip.AddrPort(e).Addr().Zone()
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
