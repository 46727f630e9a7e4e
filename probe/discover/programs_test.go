//go:build linux

package discover_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/rpc"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/grpc-cnb/health-probe/internal/cgroup"
	"github.com/grpc-cnb/health-probe/probe/probetest"
)

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
		{true, "none", "/sys/fs/cgroup", "tmpfs", 0, ""}, // over what this machine has
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
	fmt.Fprintln(os.Stdout, server.Addr)
	return untilKilled(server)
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
	fmt.Fprintln(os.Stdout, server.Addr())
	return untilKilled([]any{server, open})
}

// listenSilently listens on as many ports as its argument says.
func listenSilently() int {
	count, err := strconv.Atoi(os.Args[1])
	listeners := make([]net.Listener, count)
	for i := range listeners {
		if err == nil {
			listeners[i], err = net.Listen("tcp4", "127.0.0.1:0")
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	fmt.Fprintln(os.Stdout, "listening")
	return untilKilled(listeners)
}

// untilKilled waits for the end of the process, and keeps what is open. It waits in the kernel: Go's runtime ends a
// program whose goroutines all wait for each other.
func untilKilled(open any) int {
	for {
		_ = syscall.Pause() // it was interrupted
		runtime.KeepAlive(open)
	}
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
