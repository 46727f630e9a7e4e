package probetest

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// reporter is a test of testscript that prints a failure once, and of a golden file that differs what differs.
type reporter struct{ *testing.T }

// Run implements testscript.T.
func (r reporter) Run(name string, script func(testscript.T)) {
	r.T.Run(name, func(t *testing.T) { script(reporter{t}) })
}

// Verbose implements testscript.T.
func (reporter) Verbose() bool { return testing.Verbose() }

// Log implements testscript.T. It gets the whole log of a script when that has ended.
func (r reporter) Log(args ...any) {
	r.Helper()
	log := fmt.Sprint(args...)
	if r.Failed() && !r.Verbose() {
		log = reported.brief(r.Name(), log)
	}
	r.T.Log(log)
}

// failures are those that have been printed, each with the first test that failed so.
type failures struct{ first sync.Map }

// reported has the failures of all programs that run the same scripts.
var reported failures

// brief returns what is to be printed about a script that failed. A script fails in the same way for each program if
// the last command and what it says are the same; what came before has ports and times in it.
func (f *failures) brief(test, log string) string {
	failed := strings.LastIndex(log, "\n> ") + 1
	last := log[failed:]
	if first, again := f.first.LoadOrStore(last, test); again {
		return fmt.Sprintf("fails as %s does", first)
	}
	if !strings.HasPrefix(last, "> cmp") {
		return log
	}
	var commands strings.Builder
	for line := range strings.Lines(log[:failed]) {
		if strings.HasPrefix(line, "# ") || strings.HasPrefix(line, "> ") {
			commands.WriteString(line)
		}
	}
	return commands.String() + last
}
