package probetest

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// recorder is a test of testscript that keeps what is logged.
type recorder struct {
	testscript.T

	log string
}

func (*recorder) Parallel()         {}
func (*recorder) Verbose() bool     { return false }
func (*recorder) FailNow()          { runtime.Goexit() }
func (r *recorder) Log(args ...any) { r.log += fmt.Sprint(args...) }

func (r *recorder) Run(_ string, script func(testscript.T)) {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		script(r)
	}()
	<-ended
}

// logOf runs a script, and returns its log.
func logOf(t *testing.T, script string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.txt"), []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	r := &recorder{}
	testscript.RunT(r, testscript.Params{Dir: dir, RequireExplicitExec: true})
	return strings.ReplaceAll(r.log, dir, "testdata")
}

// Of a long text that differs from its golden file in one line, that line is printed, and for one program.
func TestFailureIsBrief(t *testing.T) {
	t.Parallel()
	long := ""
	for i := range 100 {
		long += fmt.Sprintf("line %d\n", i)
	}
	script := "# A text.\nexec cat text\ncmp stdout golden\n-- text --\n" + long +
		"-- golden --\n" + strings.Replace(long, "line 50\n", "another line\n", 1)
	var f failures
	got := f.brief("Test/one/a", logOf(t, script))
	if !strings.Contains(got, "# A text. ") || !strings.Contains(got, "\n> exec cat text\n> cmp stdout golden\n") ||
		!strings.Contains(got, "\n-line 50\n+another line\n") || strings.Count(got, "\n") > 18 {
		t.Errorf("of a golden file that differs, this is printed:\n%s", got)
	}
	if got := f.brief("Test/other/a", logOf(t, script)); got != "fails as Test/one/a does" {
		t.Errorf("for the next program, this is printed:\n%s", got)
	}
	got = f.brief("Test/other/a", logOf(t, strings.Replace(script, "another line", "a third line", 1)))
	if !strings.Contains(got, "\n-line 50\n+a third line\n") {
		t.Errorf("of another difference, this is printed:\n%s", got)
	}

	whole := logOf(t, "exec cat text\nstdout none\n-- text --\n"+long)
	if got := f.brief("Test/one/b", whole); got != whole || !strings.Contains(got, "line 99\n") {
		t.Errorf("of a text without what it must have, this is printed:\n%s", got)
	}
}
