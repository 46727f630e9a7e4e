package address

import (
	"net/netip"
	"reflect"
	"strings"
	"testing"

	"github.com/grpc-cnb/health-probe/probe/check/metadata"
)

// The greatest name of a host in bytes, and of a socket: sun_path has 108, of which one is a zero byte or stands for @.
var longHost, longSocket = strings.Repeat("a", 253), strings.Repeat("a", 107)

func TestParseAddress(t *testing.T) {
	t.Parallel()
	ip := func(s string) Endpoint { return IPEndpoint(netip.MustParseAddrPort(s)) }
	local := Address{[]Endpoint{ip("127.0.0.1:5"), ip("[::1]:5")}, "localhost:5", "localhost"}
	host := func(name string) Address { return Address{[]Endpoint{HostEndpoint{name, 5}}, name + ":5", name} }
	socket := func(name string) Address { return Address{[]Endpoint{UnixEndpoint(name)}, "localhost", "localhost"} }
	for in, want := range map[string]Address{
		":5":                        local,
		"0.0.0.0:5":                 {local.Endpoints, local.Authority, "0.0.0.0"},
		"[::]:5":                    {local.Endpoints, local.Authority, "::"},
		"localhost:5":               local,
		"LOCALHOST:5":               local,
		"dns:///:5":                 local,
		"a.example:5":               host("a.example"),
		"my_app:5":                  host("my_app"),
		"dns:///a.example:5":        host("a.example"),
		"passthrough:///10.0.0.1:5": {[]Endpoint{ip("10.0.0.1:5")}, "10.0.0.1:5", "10.0.0.1"},
		"[::1]:5":                   {[]Endpoint{ip("[::1]:5")}, "[::1]:5", "::1"},
		"[fe80::1%eth0]:5":          {[]Endpoint{ip("[fe80::1%eth0]:5")}, "[fe80::1]:5", "fe80::1"},
		"unix:a/b":                  socket("a/b"),
		"unix:/a":                   socket("/a"),
		"unix:///a":                 socket("/a"),
		"unix:@a":                   socket("@a"),
		"unix:./@a":                 socket("./@a"),
		"unix:///@a":                socket("/@a"),
		"unix-abstract:///a":        socket("@/a"),
		"UNIX:a":                    socket("a"),
		"dns::5":                    local,
		"dns:localhost:5":           local,
		"dns:/localhost:5":          local,
		"DNS:a.example:5":           host("a.example"),
		"dns:[::1]:5":               {[]Endpoint{ip("[::1]:5")}, "[::1]:5", "::1"},
		"passthrough:a.example:5":   host("a.example"),
		"passthrough://x/a:5":       host("a"),
		"passthrough:///unix:/a":    socket("/a"),
		"passthrough:///unix:@a":    socket("@a"),
		"dns:5":                     host("dns"),
		"a.example:cinco":           host("a.example"),
		"unix-abstract:a":           socket("@a"),
		"[fe80::1%25eth0]:5":        {[]Endpoint{ip("[fe80::1%eth0]:5")}, "[fe80::1]:5", "fe80::1"},
		"[fe80::1%25]:5":            {[]Endpoint{ip("[fe80::1%25]:5")}, "[fe80::1]:5", "fe80::1"},
		longHost + ":5":             host(longHost),
		"unix:" + longSocket:        socket(longSocket),
		"unix:@" + longSocket:       socket("@" + longSocket),
	} {
		got, err := Parse(in, func(string) (int, error) { return 5, nil })
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("Parse(%q) = %+v, %v, want %+v", in, got, err, want)
		}
	}
}

func TestParseRefusesWhatCannotBeAnAddress(t *testing.T) {
	t.Parallel()
	for _, in := range []string{
		longHost + "a:5", "unix:" + longSocket + "a", "unix:@" + longSocket + "a",
		"unix:", "unix:@", "unix-abstract:", "unix:a\x00b", "unix://a", "unix://a/b", "dns://a/b:5",
	} {
		if got, err := Parse(in, AnyPort); err == nil {
			t.Errorf("Parse(%q) = %+v, want an error", in, got)
		}
	}
}

// FuzzParseAddress checks that every address that is accepted can be connected to and sent as a header.
func FuzzParseAddress(f *testing.F) {
	for _, s := range []string{
		"a:1", ":1", "[::1%l]:1", "unix:///a", "unix-abstract:a", "dns:///a:1",
		"passthrough:///a:1", "dns:a:http", "unix:@a", "passthrough:unix:a",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		address, err := Parse(s, func(string) (int, error) { return 80, nil })
		if err != nil {
			return
		}
		if address.Authority == "" || !metadata.IsText(address.Authority) ||
			strings.ContainsAny(address.Authority, " /@%") {
			t.Errorf("authority of %q is %q", s, address.Authority)
		}
		if !IsHost(address.ServerName) {
			t.Errorf("server name of %q is %q", s, address.ServerName)
		}
		if len(address.Endpoints) == 0 {
			t.Errorf("%q has no endpoint", s)
		}
		for _, endpoint := range address.Endpoints {
			if !connectable(endpoint) {
				t.Errorf("endpoint of %q is %#v", s, endpoint)
			}
		}
	})
}

func connectable(endpoint Endpoint) bool {
	switch endpoint := endpoint.(type) {
	case IPEndpoint:
		ip := netip.AddrPort(endpoint)
		return ip.Addr().IsValid() && !ip.Addr().IsUnspecified() && ip.Port() != 0
	case HostEndpoint:
		return IsHost(endpoint.Host) && endpoint.Port != 0
	case UnixEndpoint:
		return strings.TrimPrefix(string(endpoint), "@") != ""
	}
	return false
}
