//go:build linux

package lean

import (
	"net"
	"net/netip"
	"syscall"
	"testing"
	"time"

	"github.com/grpc-cnb/health-probe/probe/check/address"
)

// An endpoint that drops packets takes its share of the time, and no more.
func TestSilentEndpointLeavesTimeForOthers(t *testing.T) {
	t.Parallel()
	good, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer good.Close()
	var endpoints []address.Endpoint
	for _, at := range []string{fullListener(t), good.Addr().String()} {
		endpoints = append(endpoints, address.IPEndpoint(netip.MustParseAddrPort(at)))
	}
	sock, err := dial(address.Address{Endpoints: endpoints}, time.Now().Add(2*time.Second))
	if err != nil {
		t.Fatal(err)
	}
	_ = sock.Close()
}

// fullListener returns the address of a listener whose queue is full, so that the kernel drops what comes (listen(2)).
func fullListener(t *testing.T) string {
	t.Helper()
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Close(fd) })
	if err := syscall.Bind(fd, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Listen(fd, 0); err != nil {
		t.Fatal(err)
	}
	name, err := syscall.Getsockname(fd)
	if err != nil {
		t.Fatal(err)
	}
	bound, _ := name.(*syscall.SockaddrInet4)
	addr := netip.AddrPortFrom(netip.AddrFrom4(bound.Addr), uint16(bound.Port)).String()
	for { // until a connection is not taken
		conn, err := net.DialTimeout("tcp", addr, 100*time.Millisecond)
		if err != nil {
			return addr
		}
		t.Cleanup(func() { _ = conn.Close() })
	}
}
