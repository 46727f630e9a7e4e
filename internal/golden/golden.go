// Package golden compares results of tests with golden files: a text and the path of a file go in, a diff comes out.
// UPDATE_GOLDEN=1 writes the files. Begin with [Check].
package golden

import (
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/diff"
)

// Check fails the test if the text differs from the file, and prints the differing lines.
func Check(t testing.TB, file, got string) {
	t.Helper()
	if IsUpdate() {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v (UPDATE_GOLDEN=1 writes it)", err)
	}
	if difference := Diff(file, string(want), got); difference != "" {
		t.Errorf("UPDATE_GOLDEN=1 writes what is new:\n%s", difference)
	}
}

// IsUpdate reports whether $UPDATE_GOLDEN asks to write the golden files.
func IsUpdate() bool { return os.Getenv("UPDATE_GOLDEN") != "" }

// Diff returns the differing lines of two texts with the lines around, and "" for equal texts. The name is the name of
// the first text.
func Diff(name, want, got string) string {
	return string(diff.Diff(name, []byte(want), "got", []byte(got)))
}
