package background

import (
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/grpc-cnb/health-probe/probe/bridge/linelog"
)

// Report is how a bridge in the background reports to its starter. Without a starter the report is nil, and reports
// nothing.
type Report struct{ file *os.File }

// Inherited returns the report to this process's starter, nil without a starter.
func Inherited() *Report {
	fd, err := strconv.Atoi(os.Getenv(reportEnv))
	if err != nil {
		return nil
	}
	return &Report{os.NewFile(uintptr(fd), "report")}
}

// Done tells the starter that the bridge listens, or has failed with the lines of its log.
func (r *Report) Done(lines ...string) {
	if r == nil {
		return
	}
	_, _ = io.WriteString(r.file, "\n"+strings.Join(lines, "\n")) // never empty; the starter may have ended
	r.file.Close()
}

// splitLines returns the lines of a report.
func splitLines(text []byte) []string {
	return strings.FieldsFunc(string(text), func(r rune) bool { return r == '\n' })
}

// Log returns a log, whose lines begin with [Prefix] if the bridge is in the background.
func (r *Report) Log(to io.Writer) *linelog.Log {
	if r == nil {
		return linelog.New(to, "")
	}
	return linelog.New(to, Prefix)
}
