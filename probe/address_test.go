package probe

import (
	"net"
	"reflect"
	"strings"
	"testing"
)

func TestParseAddress(t *testing.T) {
	t.Parallel()
	local := Address{"tcp", []string{"127.0.0.1:5", "[::1]:5"}, "localhost:5", "localhost"}
	for in, want := range map[string]Address{
		":5":                        local,
		"0.0.0.0:5":                 local,
		"[::]:5":                    local,
		"localhost:5":               local,
		"LOCALHOST:5":               local,
		"dns:///:5":                 local,
		"a.example:5":               {"tcp", []string{"a.example:5"}, "a.example:5", "a.example"},
		"my_app:5":                  {"tcp", []string{"my_app:5"}, "my_app:5", "my_app"},
		"dns:///a.example:5":        {"tcp", []string{"a.example:5"}, "a.example:5", "a.example"},
		"passthrough:///10.0.0.1:5": {"tcp", []string{"10.0.0.1:5"}, "10.0.0.1:5", "10.0.0.1"},
		"[::1]:5":                   {"tcp", []string{"[::1]:5"}, "[::1]:5", "::1"},
		"[fe80::1%eth0]:5":          {"tcp", []string{"[fe80::1%eth0]:5"}, "[fe80::1]:5", "fe80::1"},
		"unix:a/b":                  {"unix", []string{"a/b"}, "localhost", "localhost"},
		"unix:/a":                   {"unix", []string{"/a"}, "localhost", "localhost"},
		"unix:///a":                 {"unix", []string{"/a"}, "localhost", "localhost"},
		"unix:@a":                   {"unix", []string{"./@a"}, "localhost", "localhost"},
		"unix-abstract:a":           {"unix", []string{"@a"}, "localhost", "localhost"},
	} {
		got, err := ParseAddress(in)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("ParseAddress(%q) = %+v, %v, want %+v", in, got, err, want)
		}
	}
}

// FuzzParseAddress holds that what is parsed can be dialled and sent.
func FuzzParseAddress(f *testing.F) {
	for _, s := range []string{"a:1", ":1", "[::1%l]:1", "unix:///a", "unix-abstract:a", "dns:///a:1", "passthrough:///a:1"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		address, err := ParseAddress(s)
		if err != nil {
			return
		}
		if address.Authority == "" || !isHeaderText(address.Authority) || strings.ContainsAny(address.Authority, " /@%") {
			t.Errorf("authority of %q is %q", s, address.Authority)
		}
		if !isHost(address.ServerName) {
			t.Errorf("server name of %q is %q", s, address.ServerName)
		}
		for _, dial := range address.Dial {
			_, port, err := net.SplitHostPort(dial)
			if address.Network == "tcp" && (err != nil || port == "") {
				t.Errorf("address to dial of %q is %q", s, dial)
			}
		}
	})
}
