package harness

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"syscall"
)

// sweeper is a shell that removes files and Docker objects at the end of its standard input: after close, or after any
// end of this process.
type sweeper struct {
	alive  *os.File // the writing end of standard input; the sweeper also waits for programs that inherit alive
	shell  *exec.Cmd
	stderr bytes.Buffer
}

// newSweeper starts a sweeper with a script, arguments and environment (nil for this process's).
func newSweeper(env []string, script string, args ...string) (*sweeper, error) {
	stdin, alive, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer stdin.Close()
	s := &sweeper{alive: alive}
	// The output is collected until the script ends. Without a reader, the first error message would end rm or docker
	// by SIGPIPE.
	script = "cat\nsaid=$({\n" + script + "\n} 2>&1 >/dev/null)\ncode=$?\necho \"$said\" >&2\nexit $code"
	s.shell = exec.Command("sh", slices.Concat([]string{"-c", script, "sweeper"}, args)...)
	s.shell.Env, s.shell.Stdin, s.shell.Stderr = env, stdin, &s.stderr
	s.shell.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // interrupts of this process do not end the shell
	if err := s.shell.Start(); err != nil {
		alive.Close()
		return nil, fmt.Errorf("starting the sweeper: %w", err)
	}
	return s, nil
}

// close returns after the removal.
func (s *sweeper) close() error {
	s.alive.Close()
	if err := s.shell.Wait(); err != nil {
		return fmt.Errorf("sweeping up: %w\n%s", err, s.stderr.String())
	}
	return nil
}
