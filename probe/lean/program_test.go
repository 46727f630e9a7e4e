package lean_test

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
	"unicode"
)

// maxPeak is the greatest resident memory of the probe, in KiB, whatever the server does.
const maxPeak = 16 << 10

// hangs is the time after which a run is given up. It does not measure speed: all deadlines of the tests are far
// shorter.
const hangs = time.Minute

// programDir is the folder of the programs, once a test has asked for it.
var programDir string

// TestMain lets more tests run at once than there are processors, since many of them wait for a deadline.
func TestMain(m *testing.M) {
	if err := flag.Set("test.parallel", "12"); err != nil {
		panic(err)
	}
	code := m.Run()
	if programDir != "" {
		_ = os.RemoveAll(programDir)
	}
	os.Exit(code)
}

// program returns the path of a program as it is released, the lean probe or the bridge. Fuzzing needs none.
func program(name string) (path string, err error) {
	_, err = programs()
	return filepath.Join(programDir, name), err
}

// programs builds the programs, once.
var programs = sync.OnceValues(func() (dir string, err error) {
	if programDir, err = os.MkdirTemp("", "lean"); err != nil {
		return "", err
	}
	build := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", programDir,
		"../../cmd/grpc_health_probe", "../../cmd/grpc_health_bridge")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building the programs: %w\n%s", err, out)
	}
	return programDir, nil
})

// exitState is how a run of the program has ended.
type exitState struct {
	exit int // its exit code, or -1 for a signal
	// output is all that it wrote, to standard output and to standard error.
	output string
	// peak is the most memory it had resident, in KiB, and limit the most that it may have.
	peak, limit int
}

// run runs the program to its end and fails the test if it hangs.
func run(t *testing.T, args ...string) exitState {
	t.Helper()
	path, err := program("grpc_health_probe")
	if err != nil {
		t.Fatal(err)
	}
	output, err := os.Create(filepath.Join(t.TempDir(), "output"))
	if err != nil {
		t.Fatal(err)
	}
	defer output.Close()
	end, err := trace(path, args, output, func() { t.Errorf("still running after %v", hangs) })
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(output.Name())
	if err != nil {
		t.Fatal(err)
	}
	end.output, end.limit = string(text), maxPeak
	return end
}

// trace runs a program, and reads its peak memory at the last moment before it exits. The kernel's figure for the
// parent, ru_maxrss, cannot be used: before its exec, a child of a Go program has the memory of its parent, and that
// peak stays.
func trace(path string, args []string, output *os.File, hung func()) (end exitState, err error) {
	runtime.LockOSThread() // A traced process answers only to the thread that started it (ptrace(2)).
	defer runtime.UnlockOSThread()
	null, err := os.Open(os.DevNull)
	if err != nil {
		return end, err
	}
	defer null.Close()
	process, err := os.StartProcess(path, append([]string{path}, args...), &os.ProcAttr{
		Env:   []string{},
		Files: []*os.File{null, output, output},
		Sys:   &syscall.SysProcAttr{Ptrace: true, Setpgid: true},
	})
	if err != nil {
		return end, err
	}
	defer process.Release()
	limit := time.AfterFunc(hangs, func() {
		hung()
		_ = process.Kill()
	})
	defer limit.Stop()
	return follow(process.Pid)
}

// follow lets a process that is stopped at its exec run to its end. It traces all threads: the one that ends the
// process is the only one that stops before its exit, and it need not be the first.
func follow(pid int) (end exitState, err error) {
	var status syscall.WaitStatus
	if _, err = wait(pid, &status, 0); err != nil {
		return end, err
	}
	err = syscall.PtraceSetOptions(pid, syscall.PTRACE_O_TRACEEXIT|syscall.PTRACE_O_TRACECLONE)
	if err != nil {
		return end, fmt.Errorf("tracing the probe: %w", err)
	}
	for thread, signal := pid, 0; ; {
		if err = syscall.PtraceCont(thread, signal); err != nil && !errors.Is(err, syscall.ESRCH) {
			return end, fmt.Errorf("tracing the probe: %w", err)
		}
		status = 0
		for !status.Stopped() { // threads that have ended are passed over
			if thread, err = wait(-pid, &status, syscall.WALL); err != nil {
				return end, err
			}
			if thread == pid && !status.Stopped() {
				end.exit = status.ExitStatus()
				return end, nil
			}
		}
		if status.TrapCause() == syscall.PTRACE_EVENT_EXIT {
			if end.peak, err = peak(thread); err != nil {
				return end, err
			}
		}
		signal = int(status.StopSignal())
		if status.TrapCause() > 0 || status.StopSignal() == syscall.SIGSTOP { // a new thread begins with SIGSTOP
			signal = 0
		}
	}
}

// wait waits for a change of a process, or of any thread of a process group, which is given by its negative number, and
// returns which one it was.
func wait(pid int, status *syscall.WaitStatus, options int) (int, error) {
	for {
		changed, err := syscall.Wait4(pid, status, options, nil)
		if !errors.Is(err, syscall.EINTR) {
			return changed, os.NewSyscallError("wait4", err)
		}
	}
}

// peak returns the greatest resident memory of the process of a thread that has not released it yet.
func peak(pid int) (kib int, err error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	_, after, _ := bytes.Cut(status, []byte("VmHWM:"))
	_, err = fmt.Sscanf(string(after), "%d kB", &kib)
	return kib, err
}

// expect fails the test unless the run has ended with the exit code, its output has the text says, all lines are lines
// of the probe, and its memory was within the limit.
func (e exitState) expect(t *testing.T, exit int, says string) {
	t.Helper()
	if e.exit != exit || !strings.Contains(e.output, says) {
		t.Errorf("exit code %d, want %d; output, which should have %q in it:\n%s", e.exit, exit, says, e.output)
	}
	for line := range strings.Lines(e.output) {
		label, text, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
		if label != "error" && label != "hint" && label != "status" {
			t.Errorf("output has the line %q, which is none of the probe's", line)
		}
		if i := strings.IndexFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }); i >= 0 {
			t.Errorf("line %q has bytes for a terminal in it", line)
		}
	}
	if e.peak == 0 || e.peak > e.limit {
		t.Errorf("peak of resident memory is %d KiB, want it below %d", e.peak, e.limit)
	}
}
