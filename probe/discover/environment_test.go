//go:build linux

package discover_test

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// probeIn is a probe without an address. A busy machine is not to make it fail.
func probeIn(user int, args ...string) Process {
	patient := []string{"-o=json", "-connect-timeout=1m", "-rpc-timeout=1m"}
	return Process{Program: "probe", User: user, Args: append(patient, args...)}
}

func serving(user int, args ...string) Process {
	return Process{Program: "serve", User: user, Args: args}
}

// want fails unless a process ends with a code and says something.
func (r Result) want(t *testing.T, code int, says string) {
	t.Helper()
	if r.Code != code || !strings.Contains(r.Output, says) {
		t.Errorf("it ends with %d, want %d with %q:\n%s", r.Code, code, says, r.Output)
	}
}

// listeningOn returns the options of a server for a network, with a path if it has none.
func listeningOn(t *testing.T, network string) []string {
	t.Helper()
	switch network {
	case "tcp":
		return nil
	case "unix:":
		network += filepath.Join(t.TempDir(), "app.sock")
	}
	return []string{"net=" + network}
}

const (
	byCgroup  = `"own":"cgroup"`
	byProcess = `"own":"process"`
	byPeer    = `"own":"peer"`
	nothing   = "this container listens on nothing"
	unknown   = "cannot be told apart"
)

// knowledge is each way to know the sockets of a container by, with what it is like.
func knowledge(t *testing.T) map[string]traits {
	return map[string]traits{
		byCgroup:  {group: newGroup(t), unified: true},
		byProcess: {},
	}
}

// What a runtime takes away from a container, and what a user may ask it to, keeps no probe from its server.
func TestRestrictions(t *testing.T) {
	t.Parallel()
	for own, is := range knowledge(t) {
		for name, change := range map[string]func(*traits, *Process){
			"as it is":          func(*traits, *Process) {},
			"read-only root":    func(is *traits, _ *Process) { is.readOnly = true },
			"no new privileges": func(_ *traits, p *Process) { p.NoNewPrivs = true },
			"no netlink":        func(_ *traits, p *Process) { p.NoNetlink = true },
			"hidden processes":  func(is *traits, _ *Process) { is.hidepid = "hidepid=2" },
			"all of these at once": func(is *traits, p *Process) {
				is.readOnly, is.hidepid = true, "hidepid=2"
				p.NoNewPrivs, p.NoNetlink = true, true
			},
		} {
			t.Run(own+", "+name, func(t *testing.T) {
				t.Parallel()
				is, probe, own := is, probeIn(appUser), own
				change(&is, &probe)
				if probe.NoNetlink {
					own = byProcess
				}
				c := newPod(t).start(is)
				app := c.launch(serving(appUser))
				c.run(probe).want(t, 0, own)
				app.signal(syscall.SIGKILL)
				c.run(probe).want(t, 2, nothing)
			})
		}
	}
}

// Control groups tell whose a socket is, whoever asks. Descriptors do not, and then no guess is made.
func TestUsersThatMayNotSeeTheApp(t *testing.T) {
	t.Parallel()
	privileged := withCapability(t)
	for own, is := range knowledge(t) {
		for name, test := range map[string]struct {
			hidepid string
			app     Process
			user    int
		}{
			"another user":              {"", serving(appUser), otherUser},
			"another user, hidden":      {"hidepid=2", serving(appUser), otherUser},
			"another user, half hidden": {"hidepid=1", serving(appUser), otherUser},
			"an app that was root":      {"", serving(0, "setuid=1000"), appUser},
			"an app with a capability":  {"", Process{Program: "serve", User: appUser, Path: privileged}, appUser},
		} {
			t.Run(own+", "+name, func(t *testing.T) {
				t.Parallel()
				is := is
				is.hidepid = test.hidepid
				c := newPod(t).start(is)
				c.launch(test.app)
				code, says := 0, own
				if own == byProcess {
					code, says = 2, unknown
				}
				c.run(probeIn(test.user)).want(t, code, says)
			})
		}
	}
}

// withCapability returns a copy of this program that has a file capability (capabilities(7)), so that its processes
// cannot be looked into. It is executed by its user's right to all of /tmp.
func withCapability(t *testing.T) string {
	t.Helper()
	needRoot(t)
	program, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "serve")
	syscall.ForkLock.RLock() // what another test is starting has the open file until its program runs (ETXTBSY)
	err = os.WriteFile(path, program, 0o755)
	syscall.ForkLock.RUnlock()
	if err != nil {
		t.Fatal(err)
	}
	for folder := filepath.Dir(path); folder != os.TempDir() && folder != "/"; folder = filepath.Dir(folder) {
		if err := os.Chmod(folder, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	const revision2, effective = 0x02000000, 1 // struct vfs_cap_data
	data := make([]byte, 20)
	binary.LittleEndian.PutUint32(data, revision2|effective)
	binary.LittleEndian.PutUint32(data[4:], 1<<unix.CAP_NET_BIND_SERVICE)
	if err := unix.Setxattr(path, "security.capability", data, 0); err != nil {
		t.Fatal(err)
	}
	return path
}

// Two containers of one pod share its network. One is SERVING, and the app of the other is down: its probe fails.
func TestServerOfASidecar(t *testing.T) {
	t.Parallel()
	kinds := map[string]func(*testing.T) traits{
		"control groups":           func(t *testing.T) traits { return traits{group: newGroup(t), unified: true} },
		"control groups, not seen": func(t *testing.T) traits { return traits{group: newGroup(t)} },
	}
	for name, kind := range kinds {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sidecars(t, func(t *testing.T) (app, sidecar traits) { return kind(t), kind(t) })
		})
	}
	// What starts containers on a machine with both versions may leave all of them in its own group of version 2.
	t.Run("control groups of version 1", func(t *testing.T) {
		t.Parallel()
		sidecars(t, func(t *testing.T) (app, sidecar traits) {
			group := newGroup(t)
			return traits{group: group, older: newOlderGroup(t)}, traits{group: group, older: newOlderGroup(t)}
		})
	})
}

// sidecars tries two containers, in one network and perhaps among the processes of a third.
func sidecars(t *testing.T, pair func(t *testing.T) (app, sidecar traits)) {
	t.Helper()
	for _, sharing := range []string{"", ", shared processes"} {
		for _, network := range []string{"tcp", "unix-abstract:sidecar", "unix:"} {
			t.Run(network+sharing, func(t *testing.T) {
				t.Parallel()
				p := newPod(t)
				appIs, sidecarIs := pair(t)
				if sharing != "" {
					pause := p.start(traits{})
					appIs.processes, sidecarIs.processes = pause, pause
				}
				app, sidecar := p.start(appIs), p.start(sidecarIs)
				server := sidecar.launch(serving(0, listeningOn(t, network)...))
				sidecar.run(probeIn(0)).want(t, 0, server.said)
				app.run(probeIn(0, "-addr="+server.said)).want(t, 0, "pass") // it can be reached
				app.run(probeIn(0)).want(t, 2, nothing)
				app.run(probeIn(otherUser)).want(t, 2, "looking for the server")
				own := app.launch(serving(0, "status=:NOT_SERVING"))
				app.run(probeIn(0)).want(t, 4, own.said)
				sidecar.run(probeIn(0)).want(t, 0, server.said)
			})
		}
	}
}

// A container may share the processes of another one, whose first process is the other's (docker run --pid).
func TestServerAmongTheProcessesOfAnotherContainer(t *testing.T) {
	t.Parallel()
	for _, network := range []string{"tcp", "unix-abstract:other", "unix:"} {
		t.Run(network, func(t *testing.T) {
			t.Parallel()
			p := newPod(t)
			app := p.start(traits{})
			other := p.start(traits{processes: app})
			server := other.launch(serving(0, listeningOn(t, network)...))
			other.run(probeIn(0)).want(t, 0, server.said)
			app.run(probeIn(0)).want(t, 2, nothing)
		})
	}
}

// A process that has put itself into a group below the container's is known by its descriptors.
func TestGroupBelowTheContainers(t *testing.T) {
	t.Parallel()
	group := newGroup(t)
	if err := os.Mkdir(filepath.Join(group, "below"), 0o755); err != nil {
		t.Fatal(err)
	}
	c := newPod(t).start(traits{group: group, unified: true})
	c.launch(serving(0, "group=/sys/fs/cgroup/below"))
	c.run(probeIn(0)).want(t, 0, byProcess)
}

// A frozen server passes in no way, and neither does one that is about to end.
func TestFrozenServer(t *testing.T) {
	t.Parallel()
	for own, is := range knowledge(t) {
		t.Run(own, func(t *testing.T) {
			t.Parallel()
			c := newPod(t).start(is)
			for _, network := range []string{"tcp", "unix-abstract:frozen"} {
				frozen := c.launch(serving(appUser, listeningOn(t, network)...))
				frozen.signal(syscall.SIGSTOP)
				for _, mode := range []string{"ready", "live", "connect"} {
					r := c.run(probeIn(appUser, "-mode="+mode, "-connect-timeout=100ms", "-rpc-timeout=100ms"))
					if r.Code == 0 {
						t.Errorf("on %s, -mode=%s passes: %s", network, mode, r.Output)
					}
				}
				frozen.signal(syscall.SIGKILL)
			}
		})
	}
}

// The kernel names listening sockets at once, and /proc among all connections.
func TestManyConnections(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("20,000 connections take seconds")
	}
	c := newPod(t).start(traits{group: newGroup(t), unified: true})
	for range 8 {
		c.launch(Process{Program: "hold", Args: []string{"2500"}})
	}
	c.launch(serving(0))
	probe := probeIn(0)
	c.run(probe).want(t, 0, byCgroup)
	probe.NoNetlink = true
	c.run(probe).want(t, 0, byProcess)
}

// Docker has no IPv6 unless it is told to, and some pods have nothing else.
func TestProtocolsOfTheNetwork(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		withoutIPv6 bool
		at          string
	}{
		"all addresses":                  {false, "tcp,:0"},
		"all addresses, without IPv6":    {true, "tcp,:0"},
		"all addresses of IPv4":          {false, "tcp4,:0"},
		"all addresses of IPv6 alone":    {false, "tcp6,[::]:0"},
		"loopback of IPv6":               {false, "tcp6,[::1]:0"},
		"[::], which is not reached so":  {true, "tcp,[::]:0"},
		"another address of loopback":    {false, "tcp4,127.0.0.9:0"},
		"loopback of IPv4, without IPv6": {true, "tcp4,127.0.0.1:0"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPod(t)
			if test.withoutIPv6 {
				p.do(func() error {
					return os.WriteFile("/proc/sys/net/ipv6/conf/lo/disable_ipv6", []byte("1"), 0)
				})
			}
			c := p.start(traits{})
			c.launch(serving(0, "at="+test.at))
			c.run(probeIn(0)).want(t, 0, byProcess)
			probe := probeIn(0)
			probe.NoNetlink = true
			c.run(probe).want(t, 0, byProcess)
		})
	}
}
