package harness

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"syscall"
)

// sweeper is a shell that removes files and Docker objects when its standard input ends: when it is closed, or when
// this process ends for whatever reason.
type sweeper struct {
	alive  *os.File // the other end of its standard input. What is started with it too is waited for
	shell  *exec.Cmd
	stderr bytes.Buffer
}

// newSweeper starts a sweeper with a script, its arguments and its environment (nil for this process's).
func newSweeper(env []string, script string, args ...string) (*sweeper, error) {
	stdin, alive, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer stdin.Close()
	s := &sweeper{alive: alive}
	// Its output is collected until it ends. Without a reader, the first error message would end rm or docker by
	// SIGPIPE.
	script = "cat\nsaid=$({\n" + script + "\n} 2>&1 >/dev/null)\ncode=$?\necho \"$said\" >&2\nexit $code"
	s.shell = exec.Command("sh", slices.Concat([]string{"-c", script, "sweeper"}, args)...)
	s.shell.Env, s.shell.Stdin, s.shell.Stderr = env, stdin, &s.stderr
	s.shell.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // what interrupts this process does not end it
	if err := s.shell.Start(); err != nil {
		alive.Close()
		return nil, fmt.Errorf("starting the sweeper: %w", err)
	}
	return s, nil
}

// close returns when all is removed.
func (s *sweeper) close() error {
	s.alive.Close()
	if err := s.shell.Wait(); err != nil {
		return fmt.Errorf("sweeping up: %w\n%s", err, s.stderr.String())
	}
	return nil
}
