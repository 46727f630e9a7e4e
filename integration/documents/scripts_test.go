package documents_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"
)

// TestScriptLines makes sure that the lines of scripts are no longer than those of Go code, which a linter checks.
func TestScriptLines(t *testing.T) {
	t.Parallel()
	const width = 120
	scripts := append(must(filepath.Glob(filepath.Join(repository, "scripts/*.sh")))(t),
		filepath.Join(repository, ".ci/run"))
	for _, path := range scripts {
		for i, line := range strings.Split(string(must(os.ReadFile(path))(t)), "\n") {
			if utf8.RuneCountInString(line) > width {
				t.Errorf("%s:%d: the line has more than %d characters", path, i+1, width)
			}
		}
	}
}
