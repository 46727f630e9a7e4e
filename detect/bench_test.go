package detect_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/grpc-cnb/health-probe/detect"
)

// BenchmarkFindServers reads trees of 100,000 files in 20,000 folders, beside what `find . -type f` takes on the same
// tree: one of many languages, where half of the files are sources, and one of Go sources alone.
func BenchmarkFindServers(b *testing.B) {
	for name, endings := range map[string][]string{
		"mixed": {
			"go", "html", "js", "css", "java", "svg", "py", "png", "ts", "md", "cs", "txt", "rb", "json", "php",
			"yaml",
			"kt", "scss", "rs", "xml", "cc", "map", "h", "woff2", "ex", "csv", "scala", "lock",
			"dart", "po", "swift", "snap",
		},
		"go": {"go"},
	} {
		dir := b.TempDir()
		grow(b, dir, endings)
		b.Run(name+"/find", func(b *testing.B) {
			for b.Loop() {
				find := exec.Command("find", ".", "-type", "f")
				find.Dir = dir
				if err := find.Run(); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(name+"/detect", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				servers, err := detect.FindServers(context.Background(), dir, nil)
				if err != nil || len(servers) != 1 {
					b.Fatalf("found %v, %v", servers, err)
				}
			}
		})
	}
}

func grow(b *testing.B, dir string, endings []string) {
	b.Helper()
	write(b, filepath.Join(dir, "main.go"), serverSource)
	for i := range 20_000 {
		folder := filepath.Join(dir, fmt.Sprintf("part%d/%d/%d", i/1000, i%1000/32, i))
		if err := os.MkdirAll(folder, 0o755); err != nil {
			b.Fatal(err)
		}
		for n := i * 5; n < i*5+5; n++ {
			// 0.2 to 4 KB
			body := "package part\n" + strings.Repeat("\nfunc part(of string) string { return of }\n", 5+n*7919%90)
			if err := os.WriteFile(filepath.Join(folder, fmt.Sprintf("file%d.%s", n, endings[n%len(endings)])),
				[]byte(body), 0o644); err != nil {
				b.Fatal(err)
			}
		}
	}
}
