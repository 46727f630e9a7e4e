package golden

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// recorder is a test whose errors are kept.
type recorder struct {
	testing.TB

	errors []string
}

func (*recorder) Helper() {}

func (r *recorder) Errorf(format string, args ...any) {
	r.errors = append(r.errors, fmt.Sprintf(format, args...))
}

// Of a long file that differs in one line, that line is printed, and not the file.
func TestCheck(t *testing.T) {
	t.Setenv("UPDATE_GOLDEN", "")
	var lines []string
	for i := range 100 {
		lines = append(lines, fmt.Sprintf("line %d\n", i))
	}
	file := filepath.Join(t.TempDir(), "golden.txt")
	if err := os.WriteFile(file, []byte(strings.Join(lines, "")), 0o600); err != nil {
		t.Fatal(err)
	}
	r := recorder{TB: t}
	Check(&r, file, strings.Join(lines, ""))
	if len(r.errors) > 0 {
		t.Errorf("equal texts differ: %q", r.errors)
	}

	lines[50] = "another line\n"
	Check(&r, file, strings.Join(lines, ""))
	if len(r.errors) != 1 || !strings.Contains(r.errors[0], "\n-line 50\n+another line\n") ||
		strings.Count(r.errors[0], "\n") > 15 {
		t.Errorf("the errors are %q", r.errors)
	}

	t.Setenv("UPDATE_GOLDEN", "1")
	Check(&r, file, "new\n")
	if got, err := os.ReadFile(file); string(got) != "new\n" || err != nil {
		t.Errorf("the file is now %q, %v", got, err)
	}
}
