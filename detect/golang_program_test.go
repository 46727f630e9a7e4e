package detect_test

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The programs are built for real, in the ways that people build them: what decides must survive each.
func TestBuiltGoProgramsGiveTheirServices(t *testing.T) {
	t.Parallel()
	ways := map[string][]string{
		"plain":    nil,
		"stripped": {"-trimpath", "-ldflags=-s -w"},
		"pie":      {"-buildmode=pie", "-ldflags=-s -w"},
	}
	want := map[string]string{
		"server":    "Go, grpc-go (app); health service registered (app)\n",
		"unhealthy": "Go, grpc-go (app); health service not registered\n",
		"client":    "",
	}
	for way, flags := range ways {
		for program, want := range want {
			t.Run(way+"/"+program, func(t *testing.T) {
				t.Parallel()
				dir := t.TempDir()
				compile(t, filepath.Join(dir, "app"), program, flags...)
				if got := describe(tree(t, dir)); got != want {
					t.Errorf("found:\n%swant:\n%s", got, want)
				}
			})
		}
	}
}

// The program is built from source that says nothing of health, because a helper outside registers it.
func TestBuiltGoProgramJoinsItsSource(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "go.mod"), "module github.com/grpc-cnb/health-probe/detect\n")
	write(t, filepath.Join(dir, "main.go"), serverSource)
	compile(t, filepath.Join(dir, "bin/app"), "server")
	want := "Go, grpc-go (main.go:5); health service registered (bin/app)\n"
	if got := describe(tree(t, dir)); got != want {
		t.Errorf("found:\n%swant:\n%s", got, want)
	}
}

// A source leads before a program of another app, whatever their paths.
func TestSourceLeadsBeforeProgram(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "z/main.go"), serverSource)
	compile(t, filepath.Join(dir, "a/app"), "server")
	want := "Go, grpc-go (z/main.go:5); health service not registered\nGo, grpc-go (a/app); health service registered (a/app)\n"
	if got := describe(tree(t, dir)); got != want {
		t.Errorf("found:\n%swant:\n%s", got, want)
	}
}

// Cut anywhere, a program gives a note or nothing, and the tree is still read.
func TestTruncatedProgramsAreLeftOut(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	whole := filepath.Join(t.TempDir(), "app")
	compile(t, whole, "server")
	for name, size := range map[string]int64{"magic": 4, "header": 64, "sections": 4096, "most": 1 << 20} {
		head(t, filepath.Join(dir, name), whole, size)
	}
	if got := tree(t, dir); len(got) != 0 {
		t.Errorf("found %v in truncated programs", got)
	}
}

// compile builds the program of that name in testdata/program.
func compile(t *testing.T, out, program string, flags ...string) {
	t.Helper()
	args := append([]string{"build", "-o", out}, flags...)
	build := exec.CommandContext(t.Context(), "go", append(args, "./testdata/program/"+program)...)
	if said, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", strings.Join(build.Args, " "), err, said)
	}
}

func head(t *testing.T, to, from string, size int64) {
	t.Helper()
	in, err := os.Open(from)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := os.Create(to)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	if _, err := io.CopyN(out, in, size); err != nil {
		t.Fatal(err)
	}
}
