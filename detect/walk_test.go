package detect

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"

	"golang.org/x/sys/unix"
	"golang.org/x/tools/txtar"
)

// What is found before the walk has looked at maxEntries names counts.
func TestTreeOfTooManyFilesIsReadInPart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for i := range 2000 {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%d.html", i)), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for name, left := range map[string]int64{"all": 2000, "part": 1999} {
		t.Run(name, func(t *testing.T) {
			var notes strings.Builder
			w := newWalk(t.Context(), 1, func(format string, args ...any) { fmt.Fprintf(&notes, format, args...) })
			w.entries.Store(maxEntries - left)
			w.run(open(t, dir))
			if got, want := notes.String(), ""; name == "all" && got != want {
				t.Errorf("notes %q", got)
			}
			if got := notes.String(); name == "part" && !strings.Contains(got, errTooMany.Error()) {
				t.Errorf("notes %q", got)
			}
		})
	}
}

// A large folder is read by several readers, and each file in it once.
func TestLargeFolderIsReadOnce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	const files = 3000
	for i := range files {
		source := "package x\n\nimport \"google.golang.org/grpc\"\n\nvar _ = grpc.NewServer()\n"
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("x%d.go", i)), []byte(source), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	w := newWalk(t.Context(), 4, func(format string, args ...any) { t.Errorf(format, args...) })
	seen := map[string]int{}
	for i, facts := range w.run(open(t, dir)) {
		if languages[i].name != "go" {
			continue
		}
		for _, f := range facts {
			seen[f.path]++
		}
	}
	if len(seen) != files {
		t.Errorf("%d files of %d", len(seen), files)
	}
	for path, times := range seen {
		if times != 1 {
			t.Errorf("%s was read %d times", path, times)
		}
	}
}

// A file beside another is one of the same folder, read for itself.
func TestFileBeside(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"a", "b"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("text of "+name), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	unread := new(atomic.Int64)
	unread.Store(100)
	a := &file{path: "folder/a", folder: open(t, dir), buffer: new([]byte), unread: unread}
	defer a.close()
	b := a.beside("b")
	defer b.close()
	for f, want := range map[*file]string{b: "text of b", a: "text of a"} {
		if text, err := f.text(); err != nil || string(text) != want {
			t.Errorf("%s: %q, %v", f.path, text, err)
		}
	}
	if err := a.beside("c").open(); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
	if b.path != "folder/b" {
		t.Errorf("path %q", b.path)
	}
}

// A walk that is told to stop reads no further.
func TestWalkStopsWithItsContext(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module x\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if found, err := Tree(ctx, dir, nil); err == nil || len(found) != 0 {
		t.Errorf("found %v, %v", found, err)
	}
}

// The bytes of a file are written over by the next file's: what a language keeps must be its own.
func TestNoLanguageKeepsAFilesText(t *testing.T) {
	t.Parallel()
	archives, _ := filepath.Glob("testdata/apps/*/*.txtar")
	for _, path := range archives {
		archive, err := txtar.ParseFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, member := range archive.Files {
			for _, l := range languages {
				if !l.wants(member.Name) {
					continue
				}
				lent := bytes.Clone(member.Data)
				got, _ := l.look(&file{path: member.Name, source: lent})
				clear(lent)
				if want, _ := l.look(&file{path: member.Name, source: member.Data}); !reflect.DeepEqual(got, want) {
					t.Errorf("%s: %s: %s keeps bytes of the text, or says something else each time", path, member.Name, l.name)
				}
			}
		}
	}
}

func TestForeignFolders(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]bool{
		"vendor": true, "web/vendor": true, "a/node_modules": true, ".git": true, "venv/lib/python3/site-packages": true,
		"cmd": false, "src/main/java/com/shop/vendor": false, "shop/src/main/kotlin/vendor": false, "vendors": false,
	} {
		parent, name := filepath.Split(path)
		if got := foreign(strings.TrimSuffix(parent, "/"), name); got != want {
			t.Errorf("foreign(%q): %v", path, got)
		}
	}
}

func open(t *testing.T, dir string) int {
	t.Helper()
	fd, err := unix.Open(dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Close(fd) })
	return fd
}

// What is concluded takes time in proportion to what was found: with its square this would take hours.
func TestTreeOfServersIsConcluded(t *testing.T) {
	t.Parallel()
	const many = 50_000
	var facts []fact
	for i := range many {
		folder := fmt.Sprintf("%06d", i)
		facts = append(facts, fact{folder + "/go.mod", &sheet{root: i%2 == 0, own: goModule{path: "example.com/" + folder}}},
			fact{folder + "/main.go", &sheet{signs: []sign{{kind: constructs, line: 1}}}},
			fact{folder + "/sub/main.go", &sheet{signs: []sign{{kind: registers, line: 1}}}})
	}
	if found := goConclude(facts, func(string, ...any) {}); len(found) != many {
		t.Errorf("%d services of %d", len(found), many)
	}
}
