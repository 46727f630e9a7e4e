package background

import (
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/grpc-cnb/health-probe/probe/bridge/linelog"
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
	_, _ = io.WriteString(r.file, "\n"+strings.Join(lines, "\n")) // it is never empty, and a starter may have ended
	r.file.Close()
}

// splitLines returns the lines of what [Report.Done] has written.
func splitLines(text []byte) []string {
	return strings.FieldsFunc(string(text), func(r rune) bool { return r == '\n' })
}

// Log returns a log whose lines begin with the name of the bridge, if it is in the background.
func (r *Report) Log(to io.Writer) *linelog.Log {
	if r == nil {
		return linelog.New(to, "")
	}
	return linelog.New(to, Prefix)
}
