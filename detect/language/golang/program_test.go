package golang

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/grpc-cnb/health-probe/detect/analyzer/analyzertest"
	"github.com/grpc-cnb/health-probe/detect/finding"
)

// The functions are those that the linker was seen to keep in programs that were built with each module.
func TestMatchFunctions(t *testing.T) {
	t.Parallel()
	const h2c = "golang.org/x/net/http2/h2c.NewHandler"
	for name, c := range map[string]struct {
		functions []string
		want      string // the framework
		health    bool
	}{
		"client":              {},
		"grpc-go":             {functions: []string{newServerFunc}, want: "grpc-go"},
		"grpc-go with health": {functions: []string{newServerFunc, registerHealthFunc}, want: "grpc-go", health: true},
		"plugin":              {functions: []string{newServerFunc, registerHealthFunc, servePluginFunc}},
		"connect over HTTP/1": {functions: []string{connectHandlerFunc}},
		"connect over h2c": {
			functions: []string{connectHandlerFunc, h2c, connectHealthFunc}, want: "connect-go",
			health: true,
		},
		"connect over TLS": {
			functions: []string{connectHandlerFunc, "net/http.(*Server).ServeTLS"},
			want:      "connect-go",
		},
		"connect in protocols": {
			functions: []string{connectHandlerFunc, "net/http.(*Protocols).SetUnencryptedHTTP2"},
			want:      "connect-go",
		},
		"h2c of its own": {functions: []string{h2c}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			findings := matchFunctions(func(name string) bool { return slices.Contains(c.functions, name) })
			framework, health := "", finding.Has[finding.Health](findings)
			for _, f := range findings {
				framework += finding.FrameworkOf(f)
			}
			if framework != c.want || health != c.health {
				t.Errorf("%q, health %v; want %q, %v", framework, health, c.want, c.health)
			}
		})
	}
}

var programs = []string{"client", "server", "unhealthy"}

// The programs are truly built, in the ways that people build them: the names of functions must survive each.
func TestBuiltPrograms(t *testing.T) {
	t.Parallel()
	built := t.TempDir()
	const unknown = "; port not known; TLS or plaintext not known\n"
	want := map[string]string{
		"server":    "Go, grpc-go (app); health service registered (app)" + unknown,
		"unhealthy": "Go, grpc-go (app); health service not registered" + unknown,
		"client":    "",
	}
	for way, flags := range map[string][]string{
		"plain":    nil,
		"stripped": {"-ldflags=-s -w"},
		"pie":      {"-trimpath", "-buildmode=pie", "-ldflags=-s -w"},
	} {
		if way == "pie" && testing.Short() {
			continue // for it all packages are compiled once more
		}
		compile(t, filepath.Join(built, way), flags...)
		for _, program := range programs {
			t.Run("give their services/"+way+"/"+program, func(t *testing.T) {
				dir := t.TempDir()
				link(t, filepath.Join(built, way, program), filepath.Join(dir, "app"))
				checkServices(t, dir, want[program])
			})
		}
	}
	server := filepath.Join(built, "plain", "server")
	t.Run("join their source", func(t *testing.T) { testJoinsSource(t, server) })
	t.Run("come after sources", func(t *testing.T) { testComesAfterSource(t, server) })
	t.Run("are left out if truncated", func(t *testing.T) { testTruncated(t, server) })
}

const serverSource = "package main\n\nimport \"google.golang.org/grpc\"\n\nvar _ = grpc.NewServer()\n"

// The source of the program says nothing of health, because a helper outside of the app registers it.
func testJoinsSource(t *testing.T, server string) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "go.mod"), "module github.com/grpc-cnb/health-probe/detect/language/golang\n")
	write(t, filepath.Join(dir, "main.go"), serverSource)
	link(t, server, filepath.Join(dir, "bin/app"))
	checkServices(t, dir, "Go, grpc-go (main.go:5); health service registered (bin/app); port not known; plaintext\n")
}

// The service of a source comes before that of another app's program, whatever their paths are.
func testComesAfterSource(t *testing.T, server string) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "z/main.go"), serverSource)
	link(t, server, filepath.Join(dir, "a/app"))
	checkServices(t, dir, "Go, grpc-go (z/main.go:5); health service not registered; port not known; plaintext\n"+
		"Go, grpc-go (a/app); health service registered (a/app); port not known; TLS or plaintext not known\n")
}

// A program that is cut anywhere is left out, and the rest of the tree is still read.
func testTruncated(t *testing.T, server string) {
	dir := t.TempDir()
	for name, size := range map[string]int64{"magic": 4, "header": 64, "sections": 4096, "most": 1 << 20} {
		copyBeginning(t, filepath.Join(dir, name), server, size)
	}
	checkServices(t, dir, "")
}

func checkServices(t *testing.T, dir, want string) {
	t.Helper()
	if got := analyzertest.Describe(analyzertest.Scan(t, Analyzer, dir)); got != want {
		t.Errorf("found:\n%swant:\n%s", got, want)
	}
}

// compile builds the programs of testdata/program into a directory.
func compile(t *testing.T, out string, flags ...string) {
	t.Helper()
	must(t, os.MkdirAll(out, 0o755))
	args := append([]string{"build", "-o", out}, flags...)
	for _, program := range programs {
		args = append(args, "./testdata/program/"+program)
	}
	build := exec.CommandContext(t.Context(), "go", args...)
	if output, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", strings.Join(build.Args, " "), err, output)
	}
}

func link(t *testing.T, from, to string) {
	t.Helper()
	must(t, os.MkdirAll(filepath.Dir(to), 0o755))
	must(t, os.Link(from, to))
}

func write(t *testing.T, path, text string) {
	t.Helper()
	must(t, os.MkdirAll(filepath.Dir(path), 0o755))
	must(t, os.WriteFile(path, []byte(text), 0o644))
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func copyBeginning(t *testing.T, to, from string, size int64) {
	t.Helper()
	in, err := os.Open(from)
	must(t, err)
	defer in.Close()
	out, err := os.Create(to)
	must(t, err)
	defer out.Close()
	_, err = io.CopyN(out, in, size)
	must(t, err)
}
