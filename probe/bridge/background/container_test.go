package background

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// The roles of this test's program that is started again, in its first argument.
const (
	containerRole = "container" // the first process of a container: it starts what it is told to
	execRole      = "exec"      // a process that a container runtime starts in a container
	failingRole   = "failing"   // a starter of something that ends without a report
	lookingRole   = "looking"   // a bridge that says whether its parent waits for it, once that sleeps where it is told
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case containerRole:
			os.Exit(first(os.Args[2:]))
		case execRole:
			os.Exit(runAndRead(os.Args[2:]))
		case lookingRole:
			for parent := os.Getppid(); ; time.Sleep(time.Millisecond) {
				if where, _ := os.ReadFile(procFile(parent, "wchan")); strings.Contains(string(where), os.Args[2]) {
					_, _ = fmt.Fprintln(os.Stdout, waitsForThis(parent))
					os.Exit(0)
				}
			}
		case failingRole:
			Start([]string{execRole, "/nothing"}, nil)
			os.Exit(0)
		}
	}
	os.Exit(m.Run())
}

// order is what the first process of a container is told to start, in JSON, one per line.
type order struct {
	Exec  bool     // by a process of its own, as a runtime does, and not by the first one
	Words []string // the program and its arguments
	Env   []string
	// FullLog has the launcher's standard error take nothing, and ClosedLog has nobody read it.
	FullLog, ClosedLog bool
}

// result is what came of it.
type result struct {
	Exit int
	// Output is what it printed, and Variables what it wrote to descriptor 3, both read until nobody has them open.
	Output, Variables string
}

// first is the first process of a container, which may become another program. It collects no process that it has not
// started, as most apps do not.
func first(words []string) int {
	err := syscall.Mount("proc", "/proc", "proc", 0, "")
	if err == nil && len(words) > 0 {
		err = syscall.Exec(words[0], words, os.Environ())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "starting a container:", err)
		return 1
	}
	for in := json.NewDecoder(os.Stdin); ; {
		var o order
		if in.Decode(&o) != nil {
			return 0
		}
		for _, variable := range o.Env {
			name, value, _ := strings.Cut(variable, "=")
			os.Setenv(name, value)
		}
		if o.Exec {
			cmd := exec.Command("/proc/self/exe", append([]string{execRole}, o.Words...)...)
			cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
			_ = cmd.Run() // it prints the result
		} else {
			launch(o)
		}
	}
}

// launch runs a program of exec.d as the launcher does: with the launcher's own streams, and with a pipe as descriptor
// 3 that is read to its end.
func launch(o order) {
	read, write, err := os.Pipe()
	if err != nil {
		panic(err)
	}
	cmd := exec.Command(o.Words[0], o.Words[1:]...)
	cmd.Stderr, cmd.ExtraFiles = os.Stderr, []*os.File{write}
	if o.FullLog || o.ClosedLog {
		unread, log, err := os.Pipe()
		if err != nil {
			panic(err)
		}
		if cmd.Stderr = log; o.ClosedLog {
			unread.Close()
		}
		for fd, err := int(log.Fd()), syscall.SetNonblock(int(log.Fd()), true); o.FullLog && err == nil; {
			_, err = syscall.Write(fd, make([]byte, 1<<16))
		}
		_ = syscall.SetNonblock(int(log.Fd()), false) // as a container's log is
	}
	_ = cmd.Run() // the result has its exit code
	write.Close()
	variables, _ := io.ReadAll(read)
	report(result{cmd.ProcessState.ExitCode(), "", string(variables)})
}

// runAndRead runs a program as the kubelet runs a hook: what it prints is read until nobody has it open.
func runAndRead(words []string) int {
	read, write, err := os.Pipe()
	if err != nil {
		panic(err)
	}
	cmd := exec.Command(words[0], words[1:]...)
	cmd.Stdout, cmd.Stderr = write, write
	_ = cmd.Run() // the result has its exit code
	write.Close()
	output, _ := io.ReadAll(read)
	report(result{cmd.ProcessState.ExitCode(), string(output), ""})
	return 0
}

func report(r result) {
	if err := json.NewEncoder(os.Stdout).Encode(r); err != nil {
		panic(err)
	}
}

// container is a process with namespaces of its own for processes and mounts, in the network of this test.
type container struct {
	t     *testing.T
	pid   int
	in    *json.Encoder
	out   *json.Decoder
	ended chan struct{}

	mutex sync.Mutex
	log   bytes.Buffer // its standard error
}

// Write writes to the container's log.
func (c *container) Write(b []byte) (int, error) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return c.log.Write(b)
}

// logged returns the container's log.
func (c *container) logged() string {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return c.log.String()
}

// startContainer starts a container that ends with the test, with a program of its own as its first process or with
// this one. It needs root, or a kernel that lets users make user namespaces.
func startContainer(t *testing.T, words ...string) *container {
	t.Helper()
	cmd := exec.Command("/proc/self/exe", append([]string{containerRole}, words...)...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWPID | syscall.CLONE_NEWNS}
	if os.Geteuid() != 0 {
		cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}}
	}
	// Its mounts are not to be those of this test.
	cmd.SysProcAttr.Unshareflags = syscall.CLONE_NEWNS
	c := &container{t: t, ended: make(chan struct{})}
	cmd.Stderr = c
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatalf("starting a container: %v", err)
	}
	c.pid, c.in, c.out = cmd.Process.Pid, json.NewEncoder(in), json.NewDecoder(out)
	go func() {
		defer close(c.ended)
		_ = cmd.Wait() // it is killed
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		<-c.ended // with the log, which the bridge has open
	})
	return c
}

// run has the container start a program.
func (c *container) run(o order) (r result) {
	c.t.Helper()
	if err := c.in.Encode(o); err != nil {
		c.t.Fatal(err)
	}
	if err := c.out.Decode(&r); err != nil {
		c.t.Fatalf("running %q: %v; the log: %s", o.Words, err, c.logged())
	}
	return r
}

// bridges returns the processes of the container that are the bridge.
func (c *container) bridges() (pids []string) {
	c.t.Helper()
	own, err := os.Readlink(fmt.Sprintf("/proc/%d/ns/pid", c.pid))
	if err != nil {
		c.t.Fatal(err)
	}
	all, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		c.t.Fatal(err)
	}
	for _, process := range all {
		space, _ := os.Readlink(process + "/ns/pid")
		program, _ := os.Readlink(process + "/exe")
		if space == own && filepath.Base(program) == "grpc_health_bridge" {
			pids = append(pids, process)
		}
	}
	return pids
}

// waitFor waits until something is true, for a minute.
func waitFor(t *testing.T, what string, isTrue func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !isTrue(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("waiting for %s", what)
		}
	}
}
