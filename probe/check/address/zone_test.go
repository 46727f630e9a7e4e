package address

import (
	"net"
	"net/netip"
	"testing"
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
		if got, err := inZone(zone).Zone(); err != nil || got != want {
			t.Errorf("zone %q is %d, %v, want %d", zone, got, err, want)
		}
	}
	if got, err := inZone("none such").Zone(); err == nil {
		t.Errorf("an unknown zone is %d", got)
	}
}

func inZone(zone string) IPEndpoint {
	return IPEndpoint(netip.AddrPortFrom(netip.MustParseAddr("fe80::1").WithZone(zone), 1))
}
