package address

import (
	"fmt"
	"net"
	"net/netip"
	"strconv"
)

// Zone returns the index of the network interface that the zone of an address names, by its name or its index (RFC 4007
// section 11.2), and 0 without a zone. It fails if the machine has no such interface; package net would leave out the
// zone.
func (e IPEndpoint) Zone() (uint32, error) {
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
