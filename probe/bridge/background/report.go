package background

import (
	"io"
	"os"
	"strconv"
	"strings"
)

// Report is how a bridge in the background tells its starter what became of it. Its methods do nothing if it is nil,
// which it is for a bridge that is not in the background.
type Report struct{ file *os.File }

// Inherited returns the report that the starter of this process waits for, nil if nothing has started it in the
// background.
func Inherited() *Report {
	fd, err := strconv.Atoi(os.Getenv(reportEnv))
	if err != nil {
		return nil
	}
	return &Report{os.NewFile(uintptr(fd), "report")}
}

// Done tells the starter that the bridge listens, or why it does not. The lines are those that the bridge has logged.
func (r *Report) Done(lines ...string) {
	if r == nil {
		return
	}
	for i, line := range lines {
		lines[i] = Prefix + line + "\n"
	}
	_, _ = io.WriteString(r.file, "\n"+strings.Join(lines, "")) // it is never empty, and a starter may have ended
	r.file.Close()
}

// Log returns a log whose lines begin with the name of the bridge, if it is in the background.
func (r *Report) Log(log io.Writer) io.Writer {
	if r == nil {
		return log
	}
	return prefixed{log}
}

// prefixed writes lines, one at a time, with [Prefix] before them.
type prefixed struct{ to io.Writer }

func (p prefixed) Write(line []byte) (int, error) {
	if _, err := p.to.Write(append([]byte(Prefix), line...)); err != nil {
		return 0, err
	}
	return len(line), nil
}
