package detect_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"unicode/utf8"

	"golang.org/x/tools/txtar"

	"github.com/grpc-cnb/health-probe/detect"
	"github.com/grpc-cnb/health-probe/detect/analyzer/analyzertest"
	"github.com/grpc-cnb/health-probe/internal/plan"
)

const serverSource = "package main\n\nimport \"google.golang.org/grpc\"\n\nvar _ = grpc.NewServer()\n"

// Each function makes something hostile in a folder that also holds a server. That server must still be found, and no
// other.
var hostile = map[string]func(t *testing.T, dir string){
	"link that dangles": func(t *testing.T, dir string) { link(t, "nowhere", filepath.Join(dir, "x.go")) },
	"link to itself":    func(t *testing.T, dir string) { link(t, "x.go", filepath.Join(dir, "x.go")) },
	"folder that loops": func(t *testing.T, dir string) { link(t, "..", filepath.Join(dir, "loop")) },
	"fifo": func(t *testing.T,
		dir string,
	) {
		must(t, syscall.Mkfifo(filepath.Join(dir, "x.go"), 0o644))
	},
	"folder named as source": func(t *testing.T, dir string) { must(t, os.Mkdir(filepath.Join(dir, "x.go"), 0o755)) },
	"unreadable folder":      func(t *testing.T, dir string) { must(t, os.Mkdir(filepath.Join(dir, "closed"), 0)) },
	"empty program":          func(t *testing.T, dir string) { write(t, filepath.Join(dir, "app"), "") },
	"file out of the tree": func(t *testing.T, dir string) {
		outside := filepath.Join(t.TempDir(), "x.go")
		write(t, outside, serverSource)
		link(t, outside, filepath.Join(dir, "x.go"))
	},
	"folder out of the tree": func(t *testing.T, dir string) {
		outside := t.TempDir()
		write(t, filepath.Join(outside, "x.go"), serverSource)
		link(t, outside, filepath.Join(dir, "a"))
	},
	"five gigabytes of each extension": func(t *testing.T, dir string) {
		for name := range largeNames(t) {
			sparse(t, filepath.Join(dir, "large", name), "package x\n")
		}
	},
	"five gigabytes of program": func(t *testing.T, dir string) {
		sparse(t, filepath.Join(dir, "app"), "\x7fELF\x02\x01\x01"+strings.Repeat("\xff", 64))
	},
	"folders too deep": func(t *testing.T, dir string) {
		write(t, filepath.Join(dir, strings.Repeat("d/", 100), "main.go"), serverSource)
	},
	"folders as deep as they may be": func(t *testing.T, dir string) {
		for i := range 64 {
			write(t, filepath.Join(dir, fmt.Sprint(i), strings.Repeat("d/", 62), "x.html"), "")
		}
	},
	"name that is not utf-8": func(t *testing.T,
		dir string,
	) {
		write(t, filepath.Join(dir, "\xff\xfe", "\xff.go"), "package x\n")
	},
	"device": func(t *testing.T, dir string) {
		if err := syscall.Mknod(filepath.Join(dir, "x.go"), syscall.S_IFCHR|0o644, 1<<8|5); err != nil { // /dev/zero
			if os.Getenv("CI") == "true" {
				t.Fatal("making a device: ", err)
			}
			t.Skip("making a device takes a privilege: ", err)
		}
	},
	"source nested too deep": func(t *testing.T, dir string) {
		write(t, filepath.Join(dir, "x.go"), "package grpc\nvar x = "+strings.Repeat("(", 500_000))
	},
	"unix socket": func(t *testing.T, dir string) {
		fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
		must(t, err)
		t.Cleanup(func() { syscall.Close(fd) })
		must(t, syscall.Bind(fd, &syscall.SockaddrUnix{Name: filepath.Join(dir, "x.go")}))
	},
}

// largeNames returns a file name for every extension and manifest that some language reads: those of the files in the
// apps that the languages are tested with, and those of files that these apps do not have, such as built programs.
func largeNames(t *testing.T) map[string]bool {
	t.Helper()
	names := map[string]bool{}
	for name := range strings.FieldsSeq(`x.jar x.war x.class x.deps.json x.dll x.so x.exe x.cxx x.hpp x.conf .rr.yaml
		application.yml application.properties appsettings.json requirements.txt pyproject.toml web.xml x.sln`) {
		names[name] = true
	}
	archives, err := filepath.Glob("language/*/testdata/apps/*.txtar")
	must(t, err)
	for _, path := range archives {
		archive, err := txtar.ParseFile(path)
		must(t, err)
		for _, f := range archive.Files {
			names[filepath.Base(f.Name)] = true
		}
	}
	return names
}

func TestHostileTreesAreReadToTheirEnd(t *testing.T) {
	t.Parallel()
	for name, harm := range hostile {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			write(t, filepath.Join(dir, "main.go"), serverSource)
			harm(t, dir)
			want := "Go, grpc-go (main.go:5); health service not registered; port not known; plaintext\n"
			if got := analyzertest.Describe(findServers(t, dir)); got != want {
				t.Errorf("found:\n%swant:\n%s", got, want)
			}
		})
	}
}

// A name in an app must not control the terminal of whoever reads the log.
func TestNamesThatCannotBePrintedAreQuoted(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"\x1b[31m.go": `"\x1b[31m.go":5`,
		"\xff.go":     `"\xff.go":5`,
		"a\nb.go":     `"a\nb.go":5`,
		"\u202eog.go": `"\u202eog.go":5`,
		"é.go":        "é.go:5",
	} {
		t.Run(want, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			write(t, filepath.Join(dir, name), serverSource)
			servers, err := detect.FindServers(t.Context(), dir, func(format string, args ...any) {
				if line := fmt.Sprintf(format, args...); strings.ContainsAny(line, "\x1b\n\u202e") ||
					!utf8.ValidString(line) {
					t.Errorf("the log has the name as it is: %q", line)
				}
			})
			if err != nil || len(servers) != 1 {
				t.Fatalf("found %v, %v", servers, err)
			}
			if got := plan.List(servers).Metadata()["evidence"]; got != want {
				t.Errorf("evidence %s, want %s", got, want)
			}
		})
	}
}

// Another process that writes to the tree must not be able to lead the walk out of it.
func TestFolderThatBecomesALinkIsNotFollowed(t *testing.T) {
	t.Parallel()
	outside, dir := t.TempDir(), t.TempDir()
	write(t, filepath.Join(outside, "x.go"), serverSource)
	write(t, filepath.Join(dir, "a/b.html"), "")
	swapped, beside := filepath.Join(dir, "a"), filepath.Join(dir, "beside")
	stop := make(chan struct{})
	var swaps sync.WaitGroup
	swaps.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				_ = os.Rename(swapped, beside)
				_ = os.Symlink(outside, swapped)
				_ = os.Remove(swapped)
				_ = os.Rename(beside, swapped)
			}
		}
	})
	for range 2000 {
		if found, err := detect.FindServers(t.Context(), dir, nil); err != nil || len(found) != 0 {
			t.Errorf("found %v, %v", found, err)
			break
		}
	}
	close(stop)
	swaps.Wait()
}

func sparse(t *testing.T, path, begin string) {
	t.Helper()
	write(t, path, begin)
	must(t, os.Truncate(path, 5<<30))
}

func link(t *testing.T, to, path string) {
	t.Helper()
	must(t, os.Symlink(to, path))
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func findServers(t testing.TB, dir string) []plan.Server {
	t.Helper()
	servers, err := detect.FindServers(t.Context(), dir, t.Logf)
	if err != nil {
		t.Fatal(err)
	}
	return servers
}

func write(t testing.TB, path, text string) {
	t.Helper()
	must(t, os.MkdirAll(filepath.Dir(path), 0o755))
	must(t, os.WriteFile(path, []byte(text), 0o644))
}
