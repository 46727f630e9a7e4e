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

// pollInterval is how often the bridge checks whether the app waits for its end. A check costs less than 0.2 ms of CPU
// time.
const pollInterval = 2 * time.Second

// A process that exec.d or a hook leaves behind is a child of the container's first process. There is no way around:
// wait(2) ignores a child only if the parent made the child with a signal other than SIGCHLD (clone(2)), and the kernel
// sets SIGCHLD when a child gets a new parent (reparent_leader in kernel/exit.c). So an app that waits for all its
// children would wait for the bridge.

// AppWaits returns true as soon as the app only waits for its children and has none except the bridge, and false if ctx
// is done before.
func AppWaits(ctx context.Context) bool {
	looks := time.NewTicker(pollInterval)
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

// waitsForThis reports whether a process has a single thread, asleep in wait(2), and no child except this process.
// Without this child wait(2) would return an error at once. The thread's context switches show whether the thread ran
// while the children were read.
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

// waitingThread reports whether a process has a single thread, asleep in wait(2), and returns the lines of
// /proc/PID/status about the context switches. No thread waits if the kernel does not say where threads sleep.
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

// hasCommand reports whether the launcher runs a command. For a process type, the launcher has the name of the type
// (platform specification, launcher).
func hasCommand(launcher int) bool {
	words := read(launcher, "cmdline") // without words, a process type
	name, _, _ := bytes.Cut(words, []byte{0})
	return filepath.Base(string(name)) == "launcher"
}

// isInjected reports whether a process was started in a running container, as by kubectl exec: the process has no
// parent here, and is not the first one.
func isInjected(pid int) bool {
	status := read(pid, "status")
	return bytes.Contains(status, []byte("\nPPid:\t0\n")) && pid != firstProcess()
}

// maxRead bounds the size of a file of /proc, in bytes.
const maxRead = 1 << 20

// read returns the content of a file of /proc/PID, nil if there is none.
func read(pid int, name string) []byte {
	text, err := rawfile.Read(procFile(pid, name), maxRead, nil)
	if err != nil {
		return nil
	}
	return text
}

func procFile(pid int, name string) string { return fmt.Sprintf("/proc/%d/%s", pid, name) }
