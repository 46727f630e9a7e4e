package sockets

import (
	"context"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/grpc-cnb/health-probe/probe/check/address"
)

// listenOn listens until the test ends, with an option of the socket besides.
func listenOn(t *testing.T, network, at string, option ...int) netip.AddrPort {
	t.Helper()
	config := net.ListenConfig{Control: func(_, _ string, c syscall.RawConn) (err error) {
		_ = c.Control(func(fd uintptr) {
			for _, o := range option {
				err = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, o, 1)
			}
		})
		return err
	}}
	l, err := config.Listen(context.Background(), network, at)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	at2, _ := netip.ParseAddrPort(l.Addr().String())
	return at2
}

// own returns the container's own sockets by what -addr calls them.
func own(t *testing.T) map[string]Socket {
	t.Helper()
	found, err := Own()
	if err != nil {
		t.Fatal(err)
	}
	byName := map[string]Socket{}
	for _, s := range found {
		byName[s.Addr] = s
	}
	return byName
}

// A listener becomes the address by which this machine reaches it.
func TestAddressesOfListeners(t *testing.T) {
	const v4, v6, firstPort = "127.0.0.1", "::1", 5001 // no two share a port
	for i, test := range []struct {
		network, at string
		reached     []string
		isOnPod     bool
	}{
		{"tcp4", "127.0.0.1", []string{v4}, false},
		{"tcp4", "127.0.0.2", []string{"127.0.0.2"}, false},
		{"tcp4", "0.0.0.0", []string{v4}, true},
		{"tcp6", "[::1]", []string{v6}, false},
		{"tcp6", "[::]", []string{v6}, true}, // V6ONLY
		{"tcp", "[::]", []string{v4, v6}, true},
		{"tcp", "[::ffff:127.0.0.3]", []string{"127.0.0.3"}, false},
		{"tcp4", addOnInterface(t) + "", []string{"192.0.2.7"}, true},
	} {
		port := listenOn(t, test.network, test.at+":"+strconv.Itoa(firstPort+i)).Port()
		var endpoints []address.Endpoint
		for _, ip := range test.reached {
			endpoints = append(endpoints, address.IPEndpoint(netip.AddrPortFrom(netip.MustParseAddr(ip), port)))
		}
		name := net.JoinHostPort(test.reached[0], strconv.Itoa(int(port)))
		if len(endpoints) == 2 {
			name = "localhost:" + strconv.Itoa(int(port))
		}
		s, ok := own(t)[name]
		if !ok || !slices.Equal(s.Address.Endpoints, endpoints) || s.Pod != test.isOnPod || s.Port != port {
			t.Errorf("%s %s is %+v, %t; want it at %v, on the pod's address: %t", test.network, test.at, s, ok,
				endpoints, test.isOnPod)
		}
		for _, e := range endpoints {
			conn, err := net.Dial("tcp", netip.AddrPort(e.(address.IPEndpoint)).String())
			if err != nil {
				t.Errorf("%s %s: %v", test.network, test.at, err)
				continue
			}
			conn.Close()
		}
	}
}

// addOnInterface gives loopback an address beyond 127.0.0.0/8, as that of a pod is (netdevice(7)).
func addOnInterface(t *testing.T) string {
	t.Helper()
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	request, err := unix.NewIfreq("lo:1")
	if err == nil {
		err = request.SetInet4Addr([]byte{192, 0, 2, 7})
	}
	if err == nil {
		err = unix.IoctlIfreq(fd, unix.SIOCSIFADDR, request)
	}
	if err != nil {
		t.Fatal(err)
	}
	return "192.0.2.7"
}

// What a client cannot tell apart is one socket.
func TestListenersThatAreOneServer(t *testing.T) {
	const reusePort = unix.SO_REUSEPORT
	for name, networks := range map[string][]string{
		"both loopback addresses":      {"tcp4 127.0.0.1", "tcp6 [::1]"},
		"both wildcards":               {"tcp4 0.0.0.0", "tcp6 [::]"},
		"a wildcard and loopback":      {"tcp4 0.0.0.0", "tcp6 [::1]"},
		"SO_REUSEPORT":                 {"tcp4 127.0.0.1", "tcp4 127.0.0.1", "tcp4 127.0.0.1"},
		"SO_REUSEPORT on the wildcard": {"tcp [::]", "tcp [::]"},
	} {
		port := "0"
		for _, network := range networks {
			kind, host, _ := strings.Cut(network, " ")
			port = strconv.Itoa(int(listenOn(t, kind, host+":"+port, reusePort).Port()))
		}
		var names []string
		for name := range own(t) {
			if strings.HasSuffix(name, ":"+port) {
				names = append(names, name)
			}
		}
		if len(names) != 1 {
			t.Errorf("%s: they are %q, want one", name, names)
		}
	}
}

// Addresses of loopback other than those of localhost are servers of their own, which may share a port.
func TestListenersThatAreSeveralServers(t *testing.T) {
	const port = ":5100"
	for _, ip := range []string{"127.0.0.1", "127.0.0.2", "127.0.0.3"} {
		listenOn(t, "tcp4", ip+port)
	}
	listenOn(t, "tcp6", "[::1]"+port)
	found := own(t)
	for _, want := range []string{"localhost" + port, "127.0.0.2" + port, "127.0.0.3" + port} {
		if _, ok := found[want]; !ok {
			t.Errorf("%s is missing", want)
		}
	}
	if len(found) != 3 {
		t.Errorf("%d sockets are found, want 3: %v", len(found), found)
	}
}

// Of unix sockets those count that have a name to connect to.
func TestNamesOfUnixSockets(t *testing.T) {
	t.Chdir(t.TempDir())
	folder, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	path, gone := filepath.Join(folder, "path.sock"), filepath.Join(folder, "unlinked.sock")
	listenOn(t, "unix", path)
	listenOn(t, "unix", gone)
	listenOn(t, "unix", "relative.sock")
	listenOn(t, "unix", "@list-test")
	listenOn(t, "unixpacket", filepath.Join(folder, "packets.sock"))
	if err := os.Remove(gone); err != nil {
		t.Fatal(err)
	}
	for list, read := range map[string]func() ([]string, error){"sock_diag": dumpUnix, "/proc": readUnix} {
		names, err := read()
		slices.Sort(names)
		if want := []string{path, gone, "@list-test"}; err != nil || !slices.Equal(names, want) {
			t.Errorf("%s lists %q, %v; want %q", list, names, err, want)
		}
	}
	found, err := Own()
	if err == nil {
		found, err = Ask(found, Everyone, time.Now()) // they say nothing
	}
	var asked []string
	for _, s := range found {
		if s.Owner == ByPeer {
			asked = append(asked, s.Addr)
		}
	}
	if want := []string{"unix:" + path, "unix-abstract:list-test"}; err != nil || !slices.Equal(asked, want) {
		t.Errorf("it asks %q, %v; want %q", asked, err, want)
	}
}

// Both ways to list sockets say the same, except that /proc knows no control group.
func TestProcSaysWhatTheKernelSays(t *testing.T) {
	for _, network := range []string{"tcp4 127.0.0.1:0", "tcp4 0.0.0.0:0", "tcp6 [::1]:0", "tcp [::]:0"} {
		kind, at, _ := strings.Cut(network, " ")
		port := listenOn(t, kind, at).Port()
		if kind == "tcp4" { // then [::] with the same port is V6ONLY
			listenOn(t, "tcp6", "[::]:"+strconv.Itoa(int(port)))
		}
	}
	dumped, err := dumpTCP()
	read, readErr := readTCP()
	if err != nil || readErr != nil {
		t.Fatal(err, readErr)
	}
	byPlace := func(a, b listener) int { return strings.Compare(a.at.String(), b.at.String()) }
	for i := range dumped {
		dumped[i].cgroup = 0
		if ip := dumped[i].at.Addr(); !ip.IsUnspecified() { // where it does not matter
			dumped[i].v6only = false
		}
	}
	slices.SortFunc(dumped, byPlace)
	slices.SortFunc(read, byPlace)
	if len(read) != 6 || !slices.Equal(dumped, read) {
		t.Errorf("/proc says\n%+v, want\n%+v", read, dumped)
	}
}

// Probes that run at the same time list no probe.
func TestProbesDoNotSeeEachOther(t *testing.T) {
	mark, _ := listenAsMark()
	if mark < 0 {
		t.Fatal("it cannot listen")
	}
	defer syscall.Close(mark)
	for name, list := range map[string]func() ([]Socket, error){"its own": Own, "all": All} {
		if found, err := list(); err != nil || len(found) != 0 {
			t.Errorf("it lists as %s %+v, %v", name, found, err)
		}
	}
}
