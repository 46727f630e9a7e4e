//go:build linux

package discover_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/rpc"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	program "github.com/grpc-cnb/health-probe/probe"
	"github.com/grpc-cnb/health-probe/probe/bench/cgroup"
	"github.com/grpc-cnb/health-probe/probe/lean"
	"github.com/grpc-cnb/health-probe/probe/probetest"
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
	if os.Getuid() != 0 {
		if os.Getenv("CI") == "true" {
			t.Fatal("making containers needs root")
		}
		t.Skip("making containers needs root")
	}
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
// test, and sees the hierarchies of version 1 at /sys/fs/cgroup, if this machine has them.
type traits struct {
	group     string     // of version 2
	older     string     // a group of version 1
	unified   bool       // it sees version 2 at /sys/fs/cgroup
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
	if os.Getuid() != 0 {
		t.Skip("making control groups needs root")
	}
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

// first is the first process of a container.
func first() int {
	signal.Ignore(syscall.SIGPIPE)
	var config struct {
		Unified, ReadOnly bool
		Hidepid, Older    string
	}
	err := json.Unmarshal([]byte(os.Args[1]), &config)
	if err == nil && config.Older != "" {
		err = cgroup.Enter(config.Older, 0)
	}
	for _, step := range []struct {
		wanted                 bool
		source, target, fstype string
		flags                  uintptr
		data                   string
	}{
		{true, "none", "/", "", unix.MS_REC | unix.MS_PRIVATE, ""},
		{true, "proc", "/proc", "proc", 0, config.Hidepid},
		{config.Unified, "none", "/sys/fs/cgroup", "cgroup2", 0, ""},
		{config.ReadOnly, "none", "/", "", unix.MS_REMOUNT | unix.MS_BIND | unix.MS_RDONLY, ""},
	} {
		if err == nil && step.wanted {
			if err = unix.Mount(step.source, step.target, step.fstype, step.flags, step.data); err != nil {
				err = fmt.Errorf("mounting %s: %w", step.target, err)
			}
		}
	}
	if err == nil {
		err = rpc.Register(&First{running: map[int]*exec.Cmd{}})
	}
	if err == nil {
		_, err = os.Stdout.Write([]byte{1})
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	rpc.ServeConn(duplex{os.Stdin, os.Stdout})
	return 0
}

// First is what the first process of a container can do.
type First struct {
	mu      sync.Mutex
	running map[int]*exec.Cmd
}

// Started is a process that was started, with the first line that it has printed.
type Started struct {
	PID  int
	Line string
}

// Run runs a process to its end.
func (f *First) Run(p Process, r *Result) error {
	var output bytes.Buffer
	cmd := p.command()
	cmd.Stdout, cmd.Stderr = &output, &output
	if err := p.start(cmd); err != nil {
		return err
	}
	err := cmd.Wait()
	if _, failed := errors.AsType[*exec.ExitError](err); !failed && err != nil {
		return err
	}
	r.Code, r.Output = cmd.ProcessState.ExitCode(), output.String()
	return nil
}

// Start starts a process and waits for its first line.
func (f *First) Start(p Process, started *Started) error {
	cmd := p.command()
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := p.start(cmd); err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.running[cmd.Process.Pid] = cmd
	started.PID = cmd.Process.Pid
	started.Line, err = bufio.NewReader(out).ReadString('\n')
	started.Line = strings.TrimSuffix(started.Line, "\n")
	return err
}

// Signal sends a signal to a process that was started.
func (f *First) Signal(to [2]int, _ *struct{}) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	cmd := f.running[to[0]]
	if err := cmd.Process.Signal(syscall.Signal(to[1])); err != nil {
		return err
	}
	if syscall.Signal(to[1]) == syscall.SIGKILL {
		_ = cmd.Wait() // it was killed
	}
	return nil
}

func (p Process) command() *exec.Cmd {
	cmd := &exec.Cmd{Path: p.Path, Args: append([]string{p.Program}, p.Args...)}
	if p.Path == "" {
		cmd.Path = "/proc/self/exe"
	}
	if p.User != 0 {
		user := uint32(p.User)
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: user, Gid: user}}
	}
	return cmd
}

// start starts a command in a thread of its own, since the process inherits its attributes.
func (p Process) start(cmd *exec.Cmd) error {
	started := make(chan error)
	go func() {
		runtime.LockOSThread() // and never unlock: nothing else is to run with these attributes
		started <- p.startHere(cmd)
	}()
	return <-started
}

func (p Process) startHere(cmd *exec.Cmd) error {
	if p.NoNewPrivs {
		if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
			return err
		}
	}
	if p.NoNetlink {
		if err := refuseNetlink(); err != nil {
			return err
		}
	}
	return cmd.Start()
}

// refuseNetlink has the kernel refuse netlink sockets to what this thread starts, by a filter of seccomp(2).
func refuseNetlink() error {
	const (
		number, firstArgument = 0, 16 // in struct seccomp_data, the lower half of the argument being first
		load                  = unix.BPF_LD | unix.BPF_W | unix.BPF_ABS
		equal                 = unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K
		end                   = unix.BPF_RET | unix.BPF_K
	)
	filter := []unix.SockFilter{
		{Code: load, K: number},
		{Code: equal, K: unix.SYS_SOCKET, Jf: 3},
		{Code: load, K: firstArgument},
		{Code: equal, K: unix.AF_NETLINK, Jf: 1},
		{Code: end, K: unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)},
		{Code: end, K: unix.SECCOMP_RET_ALLOW},
	}
	program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	return unix.Prctl(unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, uintptr(unsafe.Pointer(&program)), 0, 0)
}

// serveUntilKilled serves with the options of probetest.StartWith in its arguments, and prints the address. The option
// group moves it into a control group before, and setuid makes it another user's process after that; at is where it
// listens, as NETWORK,ADDRESS of package net.
func serveUntilKilled() int {
	var server *probetest.Server
	var err error
	group, words := takeOption(os.Args[1:], "group=")
	user, words := takeOption(words, "setuid=")
	if group != "" {
		err = cgroup.Enter(group, 0)
	}
	at, words := takeOption(words, "at=")
	network, address, isAt := strings.Cut(at, ",")
	switch {
	case err != nil:
	case isAt:
		server, err = probetest.Start(probetest.Config{Network: network, Address: address})
	default:
		server, err = probetest.StartWith("server", os.TempDir(), words...)
	}
	if err == nil && user != "" {
		var id int
		if id, err = strconv.Atoi(user); err == nil {
			err = syscall.Setuid(id)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	_, _ = fmt.Fprintln(os.Stdout, server.Addr)
	select {}
}

// takeOption returns the value of an option, empty for none, and the other words.
func takeOption(words []string, name string) (value string, rest []string) {
	for _, word := range words {
		if v, ok := strings.CutPrefix(word, name); ok {
			value = v
		} else {
			rest = append(rest, word)
		}
	}
	return value, rest
}

// holdConnections keeps as many connections with itself as its argument says.
func holdConnections() int {
	most, err := strconv.Atoi(os.Args[1])
	var server net.Listener
	if err == nil {
		server, err = net.Listen("tcp4", "127.0.0.1:0")
	}
	var open []net.Conn
	for len(open) < 2*most && err == nil {
		var one, other net.Conn
		if one, err = net.Dial("tcp4", server.Addr().String()); err == nil {
			other, err = server.Accept()
		}
		open = append(open, one, other)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	_, _ = fmt.Fprintln(os.Stdout, server.Addr())
	select {}
}

// listenSilently listens on as many ports as its argument says.
func listenSilently() int {
	count, err := strconv.Atoi(os.Args[1])
	for range count {
		if err == nil {
			_, err = net.Listen("tcp4", "127.0.0.1:0")
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	_, _ = fmt.Fprintln(os.Stdout, "listening")
	select {}
}

// limited becomes another program that may open as many files as the first argument says.
func limited() int {
	most, err := strconv.ParseUint(os.Args[1], 10, 64)
	if err == nil {
		err = syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Cur: most, Max: most})
	}
	if err == nil {
		err = syscall.Exec("/proc/self/exe", os.Args[2:], os.Environ())
	}
	fmt.Fprintln(os.Stderr, err)
	return 1
}
