package tree

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"golang.org/x/sys/unix"
)

func everything(visit func(f *File)) Visitor {
	return Visitor{Required: func(string) bool { return true }, Visit: visit}
}

// What is found before the walk has looked at maxEntries names counts.
func TestTreeWithTooManyFilesIsReadInPart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for i := range 2000 {
		write(t, filepath.Join(dir, fmt.Sprintf("%d.html", i)), "")
	}
	for name, left := range map[string]int64{"all": 2000, "part": 1999} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var log strings.Builder
			w := newWalk(t.Context(), everything(func(*File) {}), 1,
				func(format string, args ...any) { fmt.Fprintf(&log, format, args...) })
			w.entries.Store(maxEntries - left)
			w.run(open(t, dir))
			if got := log.String(); name == "all" && got != "" {
				t.Errorf("the log is %q", got)
			}
			if got := log.String(); name == "part" && !strings.Contains(got, errTooManyFiles.Error()) {
				t.Errorf("the log is %q", got)
			}
		})
	}
}

// A large directory is read by several readers, and each file in it once.
func TestEachFileOfALargeDirectoryIsReadOnce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	const files = 3000
	for i := range files {
		write(t, filepath.Join(dir, fmt.Sprintf("x%d.go", i)), "package x\n")
	}
	var mu sync.Mutex
	visits := map[string]int{}
	w := newWalk(t.Context(), everything(func(f *File) {
		mu.Lock()
		defer mu.Unlock()
		visits[f.Path]++
	}), 4, func(format string, args ...any) { t.Errorf(format, args...) })
	w.run(open(t, dir))
	if len(visits) != files {
		t.Errorf("%d files of %d", len(visits), files)
	}
	for path, times := range visits {
		if times != 1 {
			t.Errorf("%s was read %d times", path, times)
		}
	}
}

func TestSiblingIsAFileOfTheSameDirectory(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"a", "b"} {
		write(t, filepath.Join(dir, name), "text of "+name)
	}
	budget := new(atomic.Int64)
	budget.Store(100)
	a := &File{Path: "folder/a", directory: open(t, dir), buffer: new([]byte), budget: budget}
	defer a.Close()
	b := a.Sibling("b")
	defer b.Close()
	for f, want := range map[*File]string{b: "text of b", a: "text of a"} {
		if text, err := f.Text(); err != nil || string(text) != want {
			t.Errorf("%s: %q, %v", f.Path, text, err)
		}
	}
	if _, err := a.Sibling("c").Size(); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
	if b.Path != "folder/b" {
		t.Errorf("path %q", b.Path)
	}
	if names := a.Siblings(2); !slices.Equal(names, []string{"a", "b"}) {
		t.Errorf("siblings %q", names)
	}
	if names := a.Siblings(1); names != nil {
		t.Errorf("more than one, and siblings %q", names)
	}
}

func TestFilesOfADirectoryShareWhatOneLoads(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "sub"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a", "b", "sub/c"} {
		write(t, filepath.Join(dir, name), "")
	}
	var loads atomic.Int64
	err := Walk(t.Context(), dir, everything(func(f *File) {
		loaded := f.Shared(func() any {
			loads.Add(1)
			return path.Dir(f.Path)
		})
		if loaded != path.Dir(f.Path) {
			t.Errorf("%s has what %v loaded", f.Path, loaded)
		}
	}), nil)
	if err != nil || loads.Load() != 2 {
		t.Errorf("%d loads in two directories, %v", loads.Load(), err)
	}
}

// A walk whose context is over reads no further.
func TestWalkStopsWithItsContext(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "go.mod"), "module x\n")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err := Walk(ctx, dir, everything(func(f *File) { t.Errorf("%s was read", f.Path) }), nil)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

func TestWalkOfAFolderThatIsNotThereIsAnError(t *testing.T) {
	t.Parallel()
	if err := Walk(t.Context(), filepath.Join(t.TempDir(), "none"), everything(nil), nil); err == nil {
		t.Error("no error")
	}
}

// Reading of a tree ends if its budget of bytes does.
func TestBudgetOfTheTreeBoundsWhatIsRead(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for i := range 3 {
		write(t, filepath.Join(dir, fmt.Sprint(i)), "12345678")
	}
	read := 0
	w := newWalk(t.Context(), everything(func(f *File) {
		switch _, err := f.Text(); {
		case err == nil:
			read++
		case !errors.Is(err, errBudget):
			t.Error(err)
		}
	}), 1, func(string, ...any) {})
	w.budget.Store(20)
	w.run(open(t, dir))
	if read != 2 {
		t.Errorf("%d files were read, want 2", read)
	}
}

func TestThirdPartyDirectoriesAreLeftOut(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]bool{
		"vendor": true, "web/vendor": true, "a/node_modules": true, ".git": true,
		"venv/lib/python3/site-packages": true, "cmd": false, "src/main/java/com/shop/vendor": false,
		"shop/src/main/kotlin/vendor": false, "vendors": false,
	} {
		parent, name := filepath.Split(path)
		if got := isThirdParty(strings.TrimSuffix(parent, "/"), name); got != want {
			t.Errorf("isThirdParty(%q): %v", path, got)
		}
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
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
