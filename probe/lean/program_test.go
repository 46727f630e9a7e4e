package lean_test

import (
	"bytes"
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

// maxPeak is the resident memory, in KiB, that no server may drive the probe over.
const maxPeak = 16 << 10

// hangs is when a run is given up. It is no measure of speed: every deadline the tests set is far below it.
const hangs = time.Minute

// programDir holds the program under test once one test has asked for it.
var programDir string

func TestMain(m *testing.M) {
	code := m.Run()
	if programDir != "" {
		_ = os.RemoveAll(programDir)
	}
	os.Exit(code)
}

// program builds the lean probe as it is released and returns its path. Fuzzing, which needs no program, does not ask.
var program = sync.OnceValues(func() (path string, err error) {
	if programDir, err = os.MkdirTemp("", "lean"); err != nil {
		return "", err
	}
	path = filepath.Join(programDir, "grpc_health_probe")
	build := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", path, "../../cmd/grpc_health_probe")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building the probe: %w\n%s", err, out)
	}
	return path, nil
})

// ending is how a run of the program ended.
type ending struct {
	status syscall.WaitStatus
	// output is all that it wrote, to standard output and to standard error.
	output string
	// peak is the most memory it had resident, in KiB.
	peak int
}

// run runs the program to its end and fails the test if it hangs.
func run(t *testing.T, args ...string) ending {
	t.Helper()
	path, err := program()
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
	end.output = string(text)
	return end
}

// trace runs a program and reads its peak memory at the last moment it has any. The kernel's own account for a parent,
// ru_maxrss, is of no use: until its exec a child of Go's has the memory of its parent, and that peak stays.
func trace(path string, args []string, output *os.File, hung func()) (end ending, err error) {
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
		Sys:   &syscall.SysProcAttr{Ptrace: true},
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

// follow lets a process that is stopped at its exec run to its end.
func follow(pid int) (end ending, err error) {
	if err = wait(pid, &end.status); err != nil {
		return end, err
	}
	if err = syscall.PtraceSetOptions(pid, syscall.PTRACE_O_TRACEEXIT); err != nil {
		return end, fmt.Errorf("tracing the probe: %w", err)
	}
	for signal := 0; ; {
		if err = syscall.PtraceCont(pid, signal); err != nil && err != syscall.ESRCH {
			return end, fmt.Errorf("tracing the probe: %w", err)
		}
		if err = wait(pid, &end.status); err != nil || !end.status.Stopped() {
			return end, err
		}
		if signal = int(end.status.StopSignal()); end.status.TrapCause() != syscall.PTRACE_EVENT_EXIT {
			continue
		}
		if end.peak, err = peak(pid); err != nil {
			return end, err
		}
		signal = 0
	}
}

func wait(pid int, status *syscall.WaitStatus) error {
	for {
		if _, err := syscall.Wait4(pid, status, 0, nil); err != syscall.EINTR {
			return os.NewSyscallError("wait4", err)
		}
	}
}

// peak reads the high-water mark of a process that still has its memory.
func peak(pid int) (kib int, err error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	_, after, _ := bytes.Cut(status, []byte("VmHWM:"))
	_, err = fmt.Sscanf(string(after), "%d kB", &kib)
	return kib, err
}

// wants fails the test unless the run ended with the exit code and a text with says in it, of the probe's own lines and
// nothing else, within the bounds of memory.
func (e ending) wants(t *testing.T, exit int, says string) {
	t.Helper()
	if e.status.ExitStatus() != exit || !strings.Contains(e.output, says) {
		t.Errorf("exit code %d (%#x), want %d; output, which should have %q in it:\n%s", e.status.ExitStatus(), uint32(e.status), exit, says, e.output)
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
	if e.peak == 0 || e.peak > maxPeak {
		t.Errorf("peak of resident memory is %d KiB, want it below %d", e.peak, maxPeak)
	}
}
