package harness

import (
	"context"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
)

// Another test may start a process at any time, also while a program is copied.
func TestCopiedProgramIsNotBusy(t *testing.T) {
	t.Parallel()
	program, err := exec.LookPath("true")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	for range 4 {
		go func() {
			for ctx.Err() == nil {
				_ = exec.Command(program).Run()
			}
		}()
	}
	folder := t.TempDir()
	for i := range 100 {
		copied := filepath.Join(folder, strconv.Itoa(i))
		if err := copyFile(copied, program); err != nil {
			t.Fatal(err)
		}
		if err := exec.Command(copied).Run(); err != nil {
			t.Fatalf("program %d: %v", i, err)
		}
	}
}
