package bridge

import (
	"bufio"
	"encoding/binary"
	"encoding/hex"
	"io"
	"net/netip"
	"os"
	"slices"
	"strings"
)

// allowList has the callers who may ask and the trusted callers.
type allowList struct {
	// networks are those of -allow; with none, every caller may ask.
	networks []netip.Prefix
	// gateways are the addresses of the pod's default routes. With most network plugins the kubelet calls from a
	// gateway; with the rest, from the node's own address, the pod's status.hostIP.
	gateways []netip.Addr
}

// isTrusted reports whether a caller is the pod itself, a gateway or a single address of -allow. A process of the pod
// that connects to the pod's address has the same address.
func (a allowList) isTrusted(from, to netip.Addr) bool {
	return from == to || slices.Contains(a.gateways, from) ||
		slices.ContainsFunc(a.networks, func(p netip.Prefix) bool { return p.IsSingleIP() && p.Addr() == from })
}

func (a allowList) allows(from, to netip.Addr) bool {
	return len(a.networks) == 0 || a.isTrusted(from, to) ||
		slices.ContainsFunc(a.networks, func(p netip.Prefix) bool { return p.Contains(from) })
}

// findGateways returns the gateways of default routes, as the kernel lists its routes (proc(5), net/route, and
// net/ipv6_route).
func findGateways() (found []netip.Addr) {
	eachLine("/proc/net/route", func(fields []string) {
		if len(fields) < 8 || fields[1] != "00000000" || fields[7] != "00000000" {
			return
		}
		// The address is a number in the byte order of the machine.
		if b, err := hex.DecodeString(fields[2]); err == nil && len(b) == 4 {
			var four [4]byte
			binary.NativeEndian.PutUint32(four[:], binary.BigEndian.Uint32(b))
			found = append(found, netip.AddrFrom4(four))
		}
	})
	eachLine("/proc/net/ipv6_route", func(fields []string) {
		if len(fields) < 5 || strings.Trim(fields[0], "0") != "" || fields[1] != "00" {
			return
		}
		if b, err := hex.DecodeString(fields[4]); err == nil && len(b) == 16 {
			found = append(found, netip.AddrFrom16([16]byte(b)))
		}
	})
	return slices.DeleteFunc(found, func(a netip.Addr) bool { return a.IsUnspecified() })
}

// maxRoutes is how much is read of a list of routes, in bytes.
const maxRoutes = 1 << 20

// eachLine calls visit with the fields of each line of a file. A file that cannot be read has no lines.
func eachLine(path string, visit func(fields []string)) {
	file, err := os.Open(path)
	if err != nil {
		return
	}
	defer file.Close()
	for lines := bufio.NewScanner(io.LimitReader(file, maxRoutes)); lines.Scan(); {
		visit(strings.Fields(lines.Text()))
	}
}
