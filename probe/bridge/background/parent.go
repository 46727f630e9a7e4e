package background

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/grpc-cnb/health-probe/probe/check/rawfile"
)

// lookPeriod is how often the bridge looks whether the app waits for it. A look costs less than 0.2 ms of CPU time.
const lookPeriod = 2 * time.Second

// A process that exec.d or a hook leaves behind is a child of the container's first process, and the kernel has no way
// around that: a child of which wait(2) takes no notice is one that its parent itself has made with another signal than
// SIGCHLD (clone(2)), and the kernel sets SIGCHLD when it gives a child to another parent (reparent_leader in
// kernel/exit.c). So an app that waits until it has no children would wait for the bridge.

// AppWaits returns true as soon as the app does nothing but wait for its children and has none except the bridge, and
// false if ctx is done before.
func AppWaits(ctx context.Context) bool {
	looks := time.NewTicker(lookPeriod)
	defer looks.Stop()
	for {
		select {
		case <-ctx.Done():
			return false
		case <-looks.C:
		}
		if waitsForThis(os.Getppid()) {
			return true
		}
	}
}

// waitsForThis reports whether a process has one thread, which sleeps in wait(2), and no child except this process.
// Without this one, the thread would not sleep there: the kernel would tell it that it has no children. That the thread
// has not run while the children were read is known from how often the kernel has switched to another one.
func waitsForThis(parent int) bool {
	before, waits := waitingThread(parent)
	if !waits {
		return false
	}
	children := read(parent, filepath.Join("task", strconv.Itoa(parent), "children"))
	if strings.TrimSpace(string(children)) != strconv.Itoa(os.Getpid()) {
		return false
	}
	after, waits := waitingThread(parent)
	return waits && after == before
}

// waitingThread reports whether a process has one thread, which sleeps in wait(2), and returns the lines of
// /proc/PID/status about its context switches. A kernel that does not tell where a thread sleeps has none that waits.
func waitingThread(pid int) (switches string, waits bool) {
	where := read(pid, "wchan")
	if !bytes.HasPrefix(where, []byte("do_wait")) {
		return "", false
	}
	status := read(pid, "status")
	for line := range strings.Lines(string(status)) {
		if threads, ok := strings.CutPrefix(line, "Threads:"); ok {
			waits = strings.TrimSpace(threads) == "1"
		}
		if strings.Contains(line, "voluntary_ctxt_switches:") {
			switches += line
		}
	}
	return switches, waits && switches != ""
}

// hasCommand reports whether the launcher was told a command. If it was told a process type, its own name is that
// type's (platform specification, launcher).
func hasCommand(launcher int) bool {
	words := read(launcher, "cmdline") // without them it counts as a process type
	name, _, _ := bytes.Cut(words, []byte{0})
	return filepath.Base(string(name)) == "launcher"
}

// isInjected reports whether a process was started in a container that was running already, as kubectl exec does: it
// has no parent here, and is not the first one.
func isInjected(pid int) bool {
	status := read(pid, "status")
	return bytes.Contains(status, []byte("\nPPid:\t0\n")) && pid != firstProcess()
}

// maxRead is how much is read of what the kernel says about a process, in bytes.
const maxRead = 1 << 20

// read returns what the kernel says about a process, nothing if the process has ended or the kernel does not tell.
func read(pid int, name string) []byte {
	text, err := rawfile.Read(procFile(pid, name), maxRead, nil)
	if err != nil {
		return nil
	}
	return text
}

// procFile returns the path of what the kernel says about a process.
func procFile(pid int, name string) string { return fmt.Sprintf("/proc/%d/%s", pid, name) }
