// Package background has the bridge run beside the app, in the app's own container. A starter starts it as a process of
// its own, returns when it listens, and leaves it to the first process of the container, with which it ends:
//
//	launcher --exec.d--> starter ----+
//	                                 +--> bridge: a session of its own, and nothing open but the container's log
//	kubelet --postStart--> starter --+
//
// In go the words of the bridge's command line. Whatever goes wrong, the app is to start, and soon: what comes out is a
// line in the container's log, and never an error. Begin with [Start] and [StartForLauncher], which are the starter's;
// [Inherited] and [AppWaits] are the bridge's.
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
	// Prefix begins each line that a bridge in the background logs, since the app logs to the same place.
	Prefix = bridgeflags.Program + ": "
	// reportEnv is the variable that tells a bridge that it is in the background. Its value is the descriptor on which
	// the bridge reports to its starter.
	reportEnv = "GRPC_HEALTH_BRIDGE_REPORT"
	// reportFile is that descriptor: the first one after the standard streams.
	reportFile = 3
	// patience is how long the app waits for the bridge, which listens within milliseconds even if it has little of a
	// processor. A bridge that needs longer, as for a name in -listen that no DNS server answers, goes on without the
	// starter.
	patience = 2 * time.Second
	// logPatience is how long the app waits until the container's log has taken the starter's lines.
	logPatience = 100 * time.Millisecond
)

// IsLauncher reports whether the lifecycle's launcher called this program, by the name of the link that the build has
// put into a folder exec.d (buildpack specification, exec.d).
func IsLauncher(program string) bool { return filepath.Base(program) == bridgeflags.Starter }

// StartForLauncher is [Start] for the launcher, unless the container wants no bridge, or the launcher was told a
// command and not a process type of the image. Such commands are jobs and shells, which may wait until they have no
// children.
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

// Start starts this program again with the words of its command line, in the background, and returns when it listens,
// when it has failed to, or when that takes too long. If the container's log cannot be found, it is own, which may be
// nil for none.
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

// printLines prints the starter's lines, for which the app does not wait long.
func printLines(to *os.File, lines ...string) {
	log := linelog.New(to, Prefix)
	log.Print(lines...)
	log.Flush(logPatience)
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
	keepToItself()
	bridge, err := os.StartProcess(path, append([]string{path}, words...), &os.ProcAttr{
		Env:   append(os.Environ(), reportEnv+"="+strconv.Itoa(reportFile)),
		Files: []*os.File{null, null, cmp.Or(log, null), write},
		// A session of its own: no terminal, and no signal that is meant for the app's group.
		Sys: &syscall.SysProcAttr{Setsid: true},
	})
	write.Close()
	if err != nil {
		return err
	}
	return await(bridge, report, log == nil)
}

// await returns when the bridge has reported. If nothing else shows them, it prints the lines of a failure.
func await(bridge *os.Process, report *os.File, isSilent bool) error {
	if err := report.SetReadDeadline(time.Now().Add(patience)); err != nil {
		return err
	}
	text, err := io.ReadAll(report)
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return fmt.Errorf("it does not listen after %v", patience)
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

// keepToItself keeps from the bridge what this process was given beside the standard streams. The launcher reads
// descriptor 3 until nobody has it open.
func keepToItself() {
	syscall.CloseOnExec(3)
	files, _ := os.ReadDir("/proc/self/fd") // without it there is still the launcher's
	for _, file := range files {
		if fd, err := strconv.Atoi(file.Name()); err == nil && fd > 2 {
			syscall.CloseOnExec(fd)
		}
	}
}
