package hostport

import (
	"net"
	"strconv"
	"testing"
)

// FuzzHostPort checks that an address is split and joined as package net does it.
func FuzzHostPort(f *testing.F) {
	for _, s := range []string{
		"a:1", ":1", "a:", ":", "", "a", "[::1]:1", "[::1%l]:1", "[a]:1", "[]:1", "::1", "::1:1", "[::1]", "[::1]1",
		"[::1]:1:2", "[::1", "[", "]", "[]", "]:1", "[a[b]:1", "a]:1", "a:[1", "a:1]", "[a]]:1", "[a]:]",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		host, port, err := Split(s)
		wantHost, wantPort, wantErr := net.SplitHostPort(s)
		if host != wantHost || port != wantPort || (err == nil) != (wantErr == nil) {
			t.Fatalf("%q is %q, %q, %v; in package net it is %q, %q, %v",
				s, host, port, err, wantHost, wantPort, wantErr)
		}
		number, err := strconv.ParseUint(port, 10, 16)
		if err != nil {
			return
		}
		want := net.JoinHostPort(host, strconv.FormatUint(number, 10))
		if got := Join(host, uint16(number)); got != want {
			t.Errorf("%q is joined to %q, want %q", s, got, want)
		}
	})
}
