package documents_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// TestEachScriptHasAReason wants each script in the table of CONTRIBUTING.md, and nothing else there.
func TestEachScriptHasAReason(t *testing.T) {
	t.Parallel()
	var named, there []string
	for _, row := range rows(t, "CONTRIBUTING.md", "scripts") {
		for _, match := range mapped.FindAllStringSubmatch(row.Cells[0], -1) {
			named = append(named, match[1])
		}
	}
	for _, path := range must(filepath.Glob(filepath.Join(repository, "scripts/*.sh")))(t) {
		there = append(there, strings.TrimSuffix(filepath.Base(path), ".sh"))
	}
	slices.Sort(named)
	if !slices.Equal(named, there) {
		t.Errorf("CONTRIBUTING.md: the table of scripts has %q, and the folder %q", named, there)
	}
}

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
