// Package background runs the bridge beside the app, in the app's own container. A starter starts the bridge as a
// separate process and returns when the bridge listens. The container's first process becomes the bridge's parent, and
// the bridge ends with the container:
//
//	launcher --exec.d--> starter ----+
//	                                 +--> bridge: a session of its own, and nothing open but the container's log
//	kubelet --postStart--> starter --+
//
// In go the words of the bridge's command line. The app starts soon in any case: a failure is a line in the container's
// log, never an error. Begin with [Start] and [StartForLauncher], which are the starter's; [Inherited] and [AppWaits]
// are the bridge's.
package background

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"github.com/grpc-cnb/health-probe/probe/bridge/bridgeflags"
	"github.com/grpc-cnb/health-probe/probe/bridge/linelog"
	"github.com/grpc-cnb/health-probe/probe/check/outcome"
)

const (
	// Prefix begins each line of a bridge in the background, which shares the app's log.
	Prefix = bridgeflags.Program + ": "
	// reportEnv is the variable of a bridge in the background, with the descriptor for reports to the starter.
	reportEnv = "GRPC_HEALTH_BRIDGE_REPORT"
	// reportFile is this descriptor, the first after the standard streams.
	reportFile = 3
	// startTimeout is how long the app waits for the bridge, which listens within milliseconds even with little CPU
	// time. A bridge that needs longer, as for a name in -listen and a silent DNS server, goes on without the starter.
	startTimeout = 2 * time.Second
	// logTimeout is how long the app waits for the container's log to take the starter's lines.
	logTimeout = 100 * time.Millisecond
)

// IsLauncher reports whether the lifecycle's launcher called this program, by the name of the build's link in a folder
// exec.d (buildpack specification, exec.d).
func IsLauncher(program string) bool { return filepath.Base(program) == bridgeflags.Starter }

// StartForLauncher is [Start] for the launcher, unless the container wants no bridge, or the launcher runs a command
// and not a process type of the image. Commands are jobs and shells, and may wait for all their children.
func StartForLauncher() {
	wanted, isSet := bridgeflags.WantedByLauncher()
	launcher := os.Getppid()
	switch {
	case wanted, !isSet && !hasCommand(launcher):
		Start(nil, os.Stderr)
	case !isSet && !isInjected(launcher):
		printLines(os.Stderr, fmt.Sprintf("no bridge is started for a command of your own: if it serves gRPC, "+
			"set %s=true", bridgeflags.BackgroundEnv))
	}
}

// Start starts this program in the background with the words of its command line, and returns when the bridge listens
// or has failed, or after a timeout. The bridge's log is the container's or, if not found, own; nil is none.
func Start(words []string, own *os.File) {
	log := containerLog(own)
	if err := start(words, log); err != nil {
		failed := &outcome.Failure{
			Code: outcome.ExitUsage, Err: fmt.Errorf("starting the bridge in the background: %w", err),
			Hint: "the app starts anyway",
		}
		printLines(cmp.Or(log, os.Stderr), outcome.FailuresOf(failed).Lines()...)
	}
}

// printLines prints the starter's lines, and does not wait long.
func printLines(to *os.File, lines ...string) {
	log := linelog.New(to, Prefix)
	log.Print(lines...)
	log.Flush(logTimeout)
}

func start(words []string, log *os.File) error {
	path, err := os.Executable()
	if err != nil {
		return err
	}
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	report, write, err := os.Pipe()
	if err != nil {
		return err
	}
	hideDescriptors()
	bridge, err := os.StartProcess(path, append([]string{path}, words...), &os.ProcAttr{
		Env:   append(os.Environ(), reportEnv+"="+strconv.Itoa(reportFile)),
		Files: []*os.File{null, null, cmp.Or(log, null), write},
		// A separate session has no terminal, and gets no signal for the app's group.
		Sys: &syscall.SysProcAttr{Setsid: true},
	})
	write.Close()
	if err != nil {
		return err
	}
	return await(bridge, report, log == nil)
}

// await returns when the bridge has reported, and prints the lines of a failure if the bridge itself has no log.
func await(bridge *os.Process, report *os.File, isSilent bool) error {
	if err := report.SetReadDeadline(time.Now().Add(startTimeout)); err != nil {
		return err
	}
	text, err := io.ReadAll(report)
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return fmt.Errorf("it does not listen after %v", startTimeout)
	case err != nil:
		return err
	case len(text) == 0:
		ended, err := bridge.Wait()
		return cmp.Or(err, fmt.Errorf("it ended before it listened: %v", ended))
	}
	if lines := splitLines(text); isSilent && len(lines) > 0 {
		printLines(os.Stderr, lines...)
	}
	return nil
}

// hideDescriptors keeps the bridge from inheriting descriptors other than the standard streams. The launcher reads
// descriptor 3 until no process has it open.
func hideDescriptors() {
	syscall.CloseOnExec(3)
	files, _ := os.ReadDir("/proc/self/fd") // descriptor 3 is set above
	for _, file := range files {
		if fd, err := strconv.Atoi(file.Name()); err == nil && fd > 2 {
			syscall.CloseOnExec(fd)
		}
	}
}
