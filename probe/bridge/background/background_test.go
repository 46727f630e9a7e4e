package background

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/grpc-cnb/health-probe/probe/bridge/bridgeflags"
)

// compiled returns the program of the bridge, which all tests share.
var compiled = sync.OnceValues(func() (string, error) {
	folder, err := os.MkdirTemp("", "bridge")
	if err != nil {
		return "", err
	}
	path := filepath.Join(folder, bridgeflags.Program)
	build := exec.Command("go", "build", "-o", path, "../../../cmd/grpc_health_bridge")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("compiling the bridge: %w\n%s", err, out)
	}
	return path, nil
})

// program returns the bridge, and a link as the build makes it for the launcher.
func program(t *testing.T) (path, starter string) {
	t.Helper()
	compiled, err := compiled()
	if err != nil {
		t.Fatal(err)
	}
	path = filepath.Join(t.TempDir(), bridgeflags.Program) // one for each container, as each has a file system
	if err := os.Link(compiled, path); err != nil {
		t.Fatal(err)
	}
	starter = filepath.Join(t.TempDir(), bridgeflags.Starter)
	if err := os.Symlink(path, starter); err != nil {
		t.Fatal(err)
	}
	return path, starter
}

// anyPort has the bridge ask a server that is not there, and listen if there is room.
var anyPort = []string{"GRPC_HEALTH_PROBE_ADDR=127.0.0.1:1", "GRPC_HEALTH_BRIDGE_LISTEN=127.0.0.1:0"}

var listening = regexp.MustCompile(`^grpc_health_bridge: listening on (\S+), asking "127.0.0.1:1"\n`)

// wantListening waits for the line that the bridge logs, and calls it.
func (c *container) wantListening() (address string) {
	c.t.Helper()
	waitFor(c.t, "the bridge to log where it listens", func() bool { return listening.MatchString(c.logged()) })
	address = listening.FindStringSubmatch(c.logged())[1]
	conn, err := net.Dial("tcp", address)
	if err != nil {
		c.t.Fatal(err)
	}
	conn.Close()
	return address
}

// wantDetached wants one bridge, in a session of its own, whose only open pipe is the container's log.
func (c *container) wantDetached() {
	c.t.Helper()
	bridges := c.bridges()
	if len(bridges) != 1 {
		c.t.Fatalf("there are the bridges %q, want one", bridges)
	}
	stat, err := os.ReadFile(bridges[0] + "/stat")
	if err != nil {
		c.t.Fatal(err)
	}
	fields := strings.Fields(string(stat[strings.LastIndex(string(stat), ")")+1:])) // from the third (proc(5))
	if pid := filepath.Base(bridges[0]); fields[1] != fmt.Sprint(c.pid) || fields[3] != pid {
		c.t.Errorf("the parent of %s is %s, and its session %s: want %d, and one of its own", pid, fields[1], fields[3],
			c.pid)
	}
	log, err := os.Readlink(fmt.Sprintf("/proc/%d/fd/2", c.pid))
	if err != nil {
		c.t.Fatal(err)
	}
	files, err := filepath.Glob(bridges[0] + "/fd/*")
	if err != nil {
		c.t.Fatal(err)
	}
	for _, file := range files {
		to, _ := os.Readlink(file)
		if number := filepath.Base(file); strings.HasPrefix(to, "pipe:") && (number != "2" || to != log) ||
			number < "2" && to != os.DevNull {
			c.t.Errorf("file %s of the bridge is %s, and the container's log is %s", number, to, log)
		}
	}
}

// The launcher waits for nothing but the bridge to listen, and gets no variables.
func TestLauncherStartsTheBridge(t *testing.T) {
	t.Parallel()
	_, starter := program(t)
	c := startContainer(t)
	if got := c.run(order{Words: []string{starter}, Env: anyPort}); got != (result{}) {
		t.Errorf("the launcher got %+v", got)
	}
	c.wantListening()
	c.wantDetached()
}

// The kubelet reads what a hook prints until nobody has it open. The bridge logs to the container's log.
func TestHookStartsTheBridge(t *testing.T) {
	t.Parallel()
	path, _ := program(t)
	c := startContainer(t)
	words := []string{path, "-background", "-addr=127.0.0.1:1", "-listen=127.0.0.1:0"}
	if got := c.run(order{Exec: true, Words: words}); got != (result{}) {
		t.Errorf("the kubelet got %+v", got)
	}
	c.wantListening()
	c.wantDetached()
}

// A second launcher, as of kubectl exec, finds the bridge of the first and says nothing.
func TestSecondLauncherSaysNothing(t *testing.T) {
	t.Parallel()
	_, starter := program(t)
	c := startContainer(t)
	c.run(order{Words: []string{starter}, Env: anyPort})
	at := "GRPC_HEALTH_BRIDGE_LISTEN=" + c.wantListening()
	before := c.logged()
	for _, o := range []order{{Words: []string{starter}, Env: []string{at}}, {Words: []string{starter}, Exec: true}} {
		if got := c.run(o); got != (result{}) {
			t.Errorf("the launcher got %+v", got)
		}
	}
	waitFor(t, "the other bridges to end", func() bool { return len(c.bridges()) == 1 })
	c.wantDetached()
	if after := c.logged(); after != before {
		t.Errorf("the log has more:\n%s", strings.TrimPrefix(after, before))
	}
}

// A log that takes nothing, or that nobody reads, keeps no app from starting, whether the bridge starts or not.
func TestLogThatIsNotReadKeepsNoAppWaiting(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { taken.Close() })
	for _, variable := range []string{anyPort[1], "GRPC_HEALTH_BRIDGE_LISTEN=" + taken.Addr().String()} {
		for _, o := range []order{{FullLog: true}, {ClosedLog: true}} {
			_, starter := program(t)
			c := startContainer(t)
			for _, script := range []string{"", "mount -t tmpfs none /dev; "} { // the starter itself fails without /dev
				o.Words = []string{"sh", "-c", script + `exec "$0"`, starter}
				o.Env = []string{anyPort[0], variable}
				if got := c.run(o); got != (result{}) {
					t.Errorf("with %+v the launcher got %+v", o, got)
				}
			}
		}
	}
}

// A bridge whose address takes long to find keeps the app waiting for two seconds.
func TestBridgeThatIsSlowToListen(t *testing.T) {
	t.Parallel()
	names, err := net.ListenPacket("udp", "127.0.0.53:53") // it answers no question
	if err != nil {
		t.Skipf("needs the port of DNS: %v", err)
	}
	t.Cleanup(func() { names.Close() })
	_, starter := program(t)
	c := startContainer(t)
	resolver := filepath.Join(t.TempDir(), "resolv.conf")
	if err := os.WriteFile(resolver, []byte("nameserver 127.0.0.53\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	got := c.run(order{
		Words: []string{"sh", "-c", `mount --bind "$1" /etc/resolv.conf; exec "$0"`, starter, resolver},
		Env:   []string{anyPort[0], "GRPC_HEALTH_BRIDGE_LISTEN=bridge.example:8086"},
	})
	if got != (result{}) {
		t.Errorf("the launcher got %+v", got)
	}
	want := Prefix + "error: starting the bridge in the background: it does not listen after 2s\n" +
		Prefix + "hint: the app starts anyway\n"
	waitFor(t, "the container's log", func() bool { return strings.Contains(c.logged(), want) })
}

// A bridge that cannot start never keeps the app from starting, and the container's log says why.
func TestBridgeThatCannotStart(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { taken.Close() })
	for name, c := range map[string]struct{ variable, before, says string }{
		"device": {
			before: "mount -t tmpfs none /dev; ",
			says: `error: starting the bridge in the background: open /dev/null: no such file or directory
hint: the app starts anyway
`,
		},
		"port": {
			variable: "GRPC_HEALTH_BRIDGE_LISTEN=" + taken.Addr().String(),
			says: fmt.Sprintf(`error: listening on %q: address already in use
hint: set -listen to a free port, such as :8087: pods with hostNetwork share those of the node
`, taken.Addr()),
		},
		"flag": {
			variable: "GRPC_HEALTH_PROBE_MODE=sideways",
			says: `error: checking flags: -mode is ready, live or connect, not "sideways"
hint: leave it out for ready
`,
		},
		"variable": {
			variable: "GRPC_HEALTH_BRIDGE_BACKGROUND=no",
			says: `error: reading environment variable GRPC_HEALTH_BRIDGE_BACKGROUND: "no" is neither true nor false
hint: set it to false in a container that needs no bridge
`,
		},
		"server": {
			variable: "GRPC_HEALTH_PROBE_ADDR=localhost:8086",
			says: `error: checking flags: the bridge cannot listen on ":8086": its server does, at "localhost:8086"
hint: set -listen to a port that the app does not use
`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path, starter := program(t)
			script := []string{"sh", "-c", c.before + `exec "$0" "$@"`}
			for _, o := range []order{
				{Words: append(slices.Clone(script), starter)},
				{Words: append(slices.Clone(script), path, "-background"), Exec: true},
			} {
				in := startContainer(t)
				o.Env = []string{anyPort[0], c.variable}
				if got := in.run(o); got != (result{}) {
					t.Errorf("the starter's end is %+v", got)
				}
				want := strings.ReplaceAll(Prefix+strings.TrimSuffix(c.says, "\n"), "\n", "\n"+Prefix) + "\n"
				waitFor(t, "the container's log", func() bool { return strings.Count(in.logged(), "\n") >= 2 })
				if got := in.logged(); got != want {
					t.Errorf("the log is\n%s\nwant\n%s", got, want)
				}
				waitFor(t, "the bridge to end", func() bool { return len(in.bridges()) == 0 })
			}
		})
	}
}

// A bridge that is killed is left to the first process of the container: nobody starts it again, and an app in Go or
// Java does not collect what it has not started, while a shell does.
func TestBridgeThatIsKilled(t *testing.T) {
	t.Parallel()
	t.Run("Go", func(t *testing.T) {
		t.Parallel()
		_, starter := program(t)
		c := startContainer(t)
		c.run(order{Words: []string{starter}, Env: anyPort})
		process := c.killBridge()
		wantZombie(t, process)
		c.run(order{Words: []string{"true"}}) // it is collected
		wantZombie(t, process)
	})
	t.Run("Java", func(t *testing.T) {
		t.Parallel()
		if _, err := exec.LookPath("javac"); err != nil { // java runs a source if it can compile it
			if os.Getenv("CI") == "true" {
				t.Fatal(err)
			}
			t.Skip(err)
		}
		c := startBefore(t, "exec java -XX:TieredStopAtLevel=1 testdata/App.java 'head -n 1' cat")
		waitFor(t, "the shell to become the app", func() bool { // which collects what ends before
			name, err := os.ReadFile("/proc/" + strconv.Itoa(c.pid) + "/comm")
			return err == nil && string(name) == "java\n"
		})
		process := c.killBridge()
		wantZombie(t, process)
		for want := range 2 { // once from the one program, which is collected, and once from the other
			var got int
			if err := errors.Join(c.in.Encode(want), c.out.Decode(&got)); err != nil || got != want {
				t.Fatalf("the app printed %d (%v), want %d; the log: %s", got, err, want, c.logged())
			}
		}
		wantZombie(t, process)
	})
	t.Run("shell", func(t *testing.T) {
		t.Parallel()
		process := startBefore(t, "cat; exit").killBridge()
		waitFor(t, "the bridge to be collected", func() bool {
			_, err := os.Stat(process)
			return errors.Is(err, os.ErrNotExist)
		})
	})
}

// startBefore starts a container whose first process is a shell, which starts the bridge, and then does what the script
// says, as the launcher does.
func startBefore(t *testing.T, script string) *container {
	t.Helper()
	_, starter := program(t)
	return startContainer(t, "/bin/sh", "-c", "export "+strings.Join(anyPort, " ")+`; "$0"; `+script, starter)
}

// wantZombie waits until a process has ended, and wants that nobody has collected it.
func wantZombie(t *testing.T, process string) {
	t.Helper()
	waitFor(t, "the bridge to be a zombie", func() bool {
		stat, err := os.ReadFile(process + "/stat")
		return err == nil && strings.Contains(string(stat), ") Z ")
	})
}

// killBridge kills the bridge of the container, and returns its folder in /proc.
func (c *container) killBridge() (process string) {
	c.t.Helper()
	c.wantListening()
	waitFor(c.t, "what started the bridge to end", func() bool { return len(c.bridges()) == 1 })
	process = c.bridges()[0]
	pid, err := strconv.Atoi(filepath.Base(process))
	if err == nil {
		err = syscall.Kill(pid, syscall.SIGKILL)
	}
	if err != nil {
		c.t.Fatal(err)
	}
	return process
}

// A container that needs no bridge has none.
func TestContainerWithoutBridge(t *testing.T) {
	t.Parallel()
	_, starter := program(t)
	c := startContainer(t)
	got := c.run(order{Words: []string{starter}, Env: append(anyPort, "GRPC_HEALTH_BRIDGE_BACKGROUND=false")})
	if left := c.bridges(); got != (result{}) || len(left) > 0 || c.logged() != "" {
		t.Errorf("the launcher got %+v, there are the bridges %q, and the log has %q", got, left, c.logged())
	}
}

// The container's log says why there is no bridge, and the launcher gets no error: the app starts anyway.
func TestStarterLogsAFailure(t *testing.T) {
	t.Parallel()
	c := startContainer(t)
	if got := c.run(order{Words: []string{"/proc/self/exe", failingRole}}); got != (result{}) {
		t.Errorf("the launcher got %+v", got)
	}
	want := regexp.MustCompile(`^grpc_health_bridge: .*starting the bridge in the background: ` +
		`it ended before it listened: exit status 0\n(?:grpc_health_bridge: .*\n)*` +
		`grpc_health_bridge: .*the app starts anyway\n$`)
	waitFor(t, "the line about the failure", func() bool { return want.MatchString(c.logged()) })
}

// A bridge that is killed before it listens is an error, which says how it ended.
func TestBridgeThatEndsAtOnce(t *testing.T) {
	t.Parallel()
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	ends, err := os.StartProcess("/proc/self/exe", []string{"test", execRole, "/nothing"}, &os.ProcAttr{})
	if err != nil {
		t.Fatal(err)
	}
	write.Close()
	err = await(ends, read, false)
	if want := "it ended before it listened: exit status "; err == nil ||
		!strings.HasPrefix(err.Error(), want) {
		t.Errorf("the error is %v, want %q", err, want)
	}
}
