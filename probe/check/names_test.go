package check

import (
	"net"
	"net/netip"
	"testing"

	"github.com/grpc-cnb/health-probe/probe/check/address"
)

// A zone is the name of a network interface, or its index.
func TestZonesAreNamesOrNumbers(t *testing.T) {
	t.Parallel()
	interfaces, err := net.Interfaces()
	if err != nil || len(interfaces) == 0 {
		t.Fatalf("interfaces: %v, %v", interfaces, err)
	}
	nic := interfaces[0]
	for zone, want := range map[string]uint32{"": 0, "7": 7, nic.Name: uint32(nic.Index)} {
		if got, err := Zone(inZone(zone)); err != nil || got != want {
			t.Errorf("zone %q is %d, %v, want %d", zone, got, err, want)
		}
	}
	if got, err := Zone(inZone("none such")); err == nil {
		t.Errorf("an unknown zone is %d", got)
	}
}

func inZone(zone string) address.IPEndpoint {
	return address.IPEndpoint(netip.AddrPortFrom(netip.MustParseAddr("fe80::1").WithZone(zone), 1))
}
