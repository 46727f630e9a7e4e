//go:build linux

package discover_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/rpc"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/grpc-cnb/health-probe/internal/cgroup"
	program "github.com/grpc-cnb/health-probe/probe"
	"github.com/grpc-cnb/health-probe/probe/lean"
	"github.com/grpc-cnb/health-probe/probe/probetest/nettest"
)

// The tests make containers as a runtime does: a pod is a network namespace, in which each container has a mount
// namespace, most of them a process namespace, and a control group. The first process of a container starts all others
// when the test calls it. Programs are this one, by another name.

// appUser is the user of most apps, and otherUser one that none has.
const (
	appUser   = 1000
	otherUser = 2000
)

// programs are what a container can execute.
var programs = map[string]func() int{
	"first":   first,
	"probe":   func() int { return program.Main(lean.Transport{}) },
	"serve":   serveUntilKilled,
	"hold":    holdConnections,
	"listen":  listenSilently,
	"limited": limited,
}

// runProgram ends the process if it is one of a container.
func runProgram() {
	if run := programs[os.Args[0]]; run != nil {
		os.Exit(run())
	}
}

// pod is a network namespace. All that is started in it is by a thread of its own.
type pod struct {
	t    *testing.T
	work chan func()
}

func newPod(t *testing.T) *pod {
	t.Helper()
	needRoot(t)
	p := &pod{t: t, work: make(chan func())}
	go func() {
		runtime.LockOSThread() // and never unlock, so that the thread ends with the goroutine
		for do := range p.work {
			do()
		}
	}()
	t.Cleanup(func() { close(p.work) })
	p.do(func() error { return unix.Unshare(unix.CLONE_NEWNET) })
	p.do(nettest.BringUpLoopback)
	return p
}

// needRoot leaves a test out that needs root, except in CI, which has it.
func needRoot(t *testing.T) {
	t.Helper()
	if os.Getuid() == 0 {
		return
	}
	if os.Getenv("CI") == "true" {
		t.Fatal("making containers needs root")
	}
	t.Skip("making containers needs root")
}

// do calls a function in the pod's thread.
func (p *pod) do(f func() error) {
	p.t.Helper()
	done := make(chan error)
	p.work <- func() { done <- f() }
	if err := <-done; err != nil {
		p.t.Fatal(err)
	}
}

// traits are what a container is like. The zero value has a process namespace of its own and the control group of the
// test, and sees no group of version 2 at /sys/fs/cgroup, as with version 1.
type traits struct {
	group     string     // of version 2
	older     string     // a group of version 1
	unified   bool       // it sees its group, as all that there is, at /sys/fs/cgroup
	processes *container // whose processes it shares
	hidepid   string     // the option of proc(5)
	readOnly  bool       // the root is
}

// container is a running container.
type container struct {
	pod   *pod
	pid   int
	first *rpc.Client
}

// start starts a container, which ends with the test.
func (p *pod) start(is traits) *container {
	p.t.Helper()
	config, err := json.Marshal(map[string]any{
		"unified": is.unified, "hidepid": is.hidepid, "readOnly": is.readOnly, "older": is.older,
	})
	if err != nil {
		p.t.Fatal(err)
	}
	// Otherwise the race detector would make each process wait for a second before it ends.
	env := append(os.Environ(), "GORACE=atexit_sleep_ms=10")
	cmd := &exec.Cmd{Path: "/proc/self/exe", Args: []string{"first", string(config)}, Env: env}
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS, Setpgid: true}
	if is.processes == nil {
		cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWPID
	}
	if is.group != "" {
		folder, err := os.Open(is.group)
		if err != nil {
			p.t.Fatal(err)
		}
		defer folder.Close()
		cmd.SysProcAttr.UseCgroupFD, cmd.SysProcAttr.CgroupFD = true, int(folder.Fd())
	}
	if is.unified {
		cmd.SysProcAttr.Unshareflags = syscall.CLONE_NEWCGROUP
	}
	cmd.Stderr = os.Stderr
	in, out, err := pipes(cmd)
	if err != nil {
		p.t.Fatal(err)
	}
	p.do(func() error { return startAmong(cmd, is.processes) })
	p.t.Cleanup(func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // with all that it has started
		_ = cmd.Wait()                                      // it was killed
	})
	// The first byte says that it is ready.
	if _, err := io.ReadFull(out, make([]byte, 1)); err != nil {
		_ = cmd.Wait()
		p.t.Fatalf("starting a container: %v", err)
	}
	return &container{pod: p, pid: cmd.Process.Pid, first: rpc.NewClient(duplex{out, in})}
}

func pipes(cmd *exec.Cmd) (in io.WriteCloser, out io.ReadCloser, err error) {
	if in, err = cmd.StdinPipe(); err == nil {
		out, err = cmd.StdoutPipe()
	}
	return in, out, err
}

// startAmong starts a command in the process namespace of a container, or in one of its own.
func startAmong(cmd *exec.Cmd, processes *container) error {
	if processes == nil {
		return cmd.Start()
	}
	own, err := os.Open("/proc/self/ns/pid")
	if err != nil {
		return err
	}
	defer own.Close()
	theirs, err := os.Open(fmt.Sprintf("/proc/%d/ns/pid", processes.pid))
	if err != nil {
		return err
	}
	defer theirs.Close()
	if err := unix.Setns(int(theirs.Fd()), unix.CLONE_NEWPID); err != nil {
		return err
	}
	return errors.Join(cmd.Start(), unix.Setns(int(own.Fd()), unix.CLONE_NEWPID))
}

// duplex is a connection over two pipes.
type duplex struct {
	io.ReadCloser
	io.WriteCloser
}

// Close implements io.Closer.
func (d duplex) Close() error { return errors.Join(d.ReadCloser.Close(), d.WriteCloser.Close()) }

// groups counts the control groups of this process, for their names.
var groups atomic.Int64

// newGroup makes a control group of version 2.
func newGroup(t *testing.T) string {
	t.Helper()
	return groupBelow(t, filepath.Join(tree(t), ownGroup(t)))
}

// newOlderGroup makes one of version 1.
func newOlderGroup(t *testing.T) string {
	t.Helper()
	mounted, err := cgroup.Mounted()
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range mounted {
		if h.Version == 1 {
			return groupBelow(t, h.Folder)
		}
	}
	t.Skip("this machine has no control groups of version 1")
	return ""
}

func groupBelow(t *testing.T, folder string) string {
	t.Helper()
	needRoot(t)
	group := filepath.Join(folder, fmt.Sprintf("discover-test-%d-%d", os.Getpid(), groups.Add(1)))
	if err := cgroup.Make(group); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := cgroup.Remove(group); err != nil {
			t.Error(err)
		}
	})
	return group
}

// tree returns where the hierarchy of version 2 is mounted. It mounts it if it is not.
func tree(t *testing.T) string {
	t.Helper()
	mounted, err := cgroup.Mounted()
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range mounted {
		if h.Version == 2 {
			return h.Folder
		}
	}
	folder := t.TempDir()
	if err := unix.Mount("none", folder, "cgroup2", 0, ""); err != nil {
		t.Skipf("the kernel has no control groups of version 2: %v", err)
	}
	t.Cleanup(func() { _ = unix.Unmount(folder, unix.MNT_DETACH) })
	return folder
}

// ownGroup returns the path of this process' group of version 2.
func ownGroup(t *testing.T) string {
	t.Helper()
	lines, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(lines)) {
		if path, ok := strings.CutPrefix(line, "0::"); ok {
			return strings.TrimSuffix(path, "\n")
		}
	}
	t.Fatal("this process is in no group of version 2")
	return ""
}

// Process is what the first process of a container is to start.
type Process struct {
	Program string // a name of programs
	Args    []string
	User    int
	Path    string // the executable; empty for this one
	// NoNewPrivs sets that attribute; NoNetlink has a seccomp filter refuse netlink sockets.
	NoNewPrivs, NoNetlink bool
}

// Result is how a process has ended.
type Result struct {
	Code   int
	Output string
}

// run runs a process to its end.
func (c *container) run(p Process) Result {
	c.pod.t.Helper()
	var r Result
	if err := c.first.Call("First.Run", p, &r); err != nil {
		c.pod.t.Fatalf("running %+v: %v", p, err)
	}
	return r
}

// running is a process that goes on.
type running struct {
	container *container
	pid       int
	// said is its first line.
	said string
}

// launch starts a process, and waits for its first line.
func (c *container) launch(p Process) running {
	c.pod.t.Helper()
	var started Started
	if err := c.first.Call("First.Start", p, &started); err != nil {
		c.pod.t.Fatalf("starting %+v: %v", p, err)
	}
	return running{c, started.PID, started.Line}
}

// signal sends a signal to a process. After SIGKILL it waits for its end.
func (r running) signal(s syscall.Signal) {
	r.container.pod.t.Helper()
	if err := r.container.first.Call("First.Signal", [2]int{r.pid, int(s)}, &struct{}{}); err != nil {
		r.container.pod.t.Fatal(err)
	}
}
