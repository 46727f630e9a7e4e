package detect_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/grpc-cnb/health-probe/detect"
)

// BenchmarkTree reads a tree of 100,000 files in 20,000 folders, beside what `find . -type f` takes on the same tree: a
// tenth is Go source, the rest is what other languages, sites and dependencies are made of.
func BenchmarkTree(b *testing.B) {
	dir := b.TempDir()
	grow(b, dir)
	b.Run("find", func(b *testing.B) {
		for b.Loop() {
			find := exec.Command("find", ".", "-type", "f")
			find.Dir = dir
			if err := find.Run(); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("detect", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			services, err := detect.Tree(context.Background(), dir, nil)
			if err != nil || len(services) != 1 {
				b.Fatalf("found %v, %v", services, err)
			}
		}
	})
}

func grow(b *testing.B, dir string) {
	b.Helper()
	write(b, filepath.Join(dir, "main.go"), serverSource)
	endings := []string{"go", "js", "java", "py", "html", "css", "ts", "json", "svg", "txt"}
	n := 0
	for i := range 20 {
		for j := range 1000 {
			folder := filepath.Join(dir, fmt.Sprintf("part%d/%d/%d", i, j/32, j))
			if err := os.MkdirAll(folder, 0o755); err != nil {
				b.Fatal(err)
			}
			for range 5 {
				write(b, filepath.Join(folder, fmt.Sprintf("file%d.%s", n, endings[n%len(endings)])), "package part\n\nfunc part() {}\n")
				n++
			}
		}
	}
}
