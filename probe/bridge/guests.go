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

// guests are the callers who may ask.
type guests struct {
	// allowed are the networks of -allow; with none, everybody may ask.
	allowed []netip.Prefix
	// gateways are the addresses of the pod's default routes. With most network plugins one of them is the address that
	// the kubelet calls from; with others it is the node's own, which is the pod's status.hostIP.
	gateways []netip.Addr
}

// isKnown reports whether a caller is the pod itself, or the node, as far as that is known. A caller of the pod that
// connects to an address of the pod has the same one.
func (g guests) isKnown(from, to netip.Addr) bool {
	return from == to || slices.Contains(g.gateways, from) ||
		slices.ContainsFunc(g.allowed, func(p netip.Prefix) bool { return p.IsSingleIP() && p.Addr() == from })
}

// mayAsk reports whether a caller is let in.
func (g guests) mayAsk(from, to netip.Addr) bool {
	return len(g.allowed) == 0 || g.isKnown(from, to) ||
		slices.ContainsFunc(g.allowed, func(p netip.Prefix) bool { return p.Contains(from) })
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

// eachLine calls visit with the fields of each line of a file, if it can be read.
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
