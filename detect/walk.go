package detect

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"strings"
	"syscall"
)

// walker names the regular files of a tree. It reads names only: no file is opened, no link is followed (what a link in
// the tree points at inside the tree has a name of its own), and os.Root keeps it inside should a folder be swapped for
// a link meanwhile.
type walker struct {
	ctx     context.Context
	note    func(format string, args ...any)
	visit   func(path string)
	entries int
}

// folder visits the files of one folder, then its folders. Folders stay open from
// the root down to the one being read: at most maxDepth of them.
func (w *walker) folder(root *os.Root, path string, depth int) {
	folders, err := w.list(root, path)
	if err != nil {
		w.note("%s: leaving out what is left of the folder: %s", printable(orDot(path)), printable(err.Error()))
	}
	for _, name := range folders {
		if w.ctx.Err() != nil {
			return
		}
		w.enter(root, name, join(path, name), depth+1)
	}
}

func (w *walker) enter(parent *os.Root, name, path string, depth int) {
	if depth > maxDepth {
		w.note("%s: leaving out a folder more than %d deep", printable(path), maxDepth)
		return
	}
	root, err := parent.OpenRoot(name)
	if err != nil {
		w.note("%s: leaving out the folder: %s", printable(path), printable(err.Error()))
		return
	}
	defer root.Close()
	w.folder(root, path, depth)
}

// list visits the files of a folder and returns the names of its folders. It takes them in batches: a folder may hold
// millions.
func (w *walker) list(root *os.Root, path string) ([]string, error) {
	dir, err := plainDir(root)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	var folders []string
	for w.ctx.Err() == nil {
		entries, err := dir.ReadDir(512)
		if w.entries += len(entries); w.entries > maxEntries {
			return folders, errTooMany
		}
		folders = w.sort(path, entries, folders)
		if errors.Is(err, io.EOF) {
			return folders, nil
		}
		if err != nil {
			return folders, err
		}
	}
	return folders, nil
}

// plainDir returns the folder of root as a file that does not know of root. One that does asks the kernel for the type of
// every name (lstat), though the folder has given it, which takes as long as all the rest of the walk.
func plainDir(root *os.Root) (*os.File, error) {
	dir, err := root.Open(".")
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	fd, err := syscall.Dup(int(dir.Fd()))
	if err != nil {
		return nil, os.NewSyscallError("dup", err)
	}
	return os.NewFile(uintptr(fd), "."), nil
}

var errTooMany = errors.New("the app has too many files")

func (w *walker) sort(path string, entries []fs.DirEntry, folders []string) []string {
	for _, e := range entries {
		switch {
		case e.Type().IsRegular():
			w.visit(join(path, e.Name()))
		case !e.IsDir():
			w.note("%s: leaving out what is neither a file nor a folder", printable(join(path, e.Name())))
		case !foreign(e.Name()):
			folders = append(folders, e.Name())
		}
	}
	return folders
}

// foreign reports whether a folder holds what is not the app's own, in any language: version control and tools' caches
// (hidden folders), and dependencies where package managers copy them.
func foreign(name string) bool {
	return strings.HasPrefix(name, ".") || name == "node_modules" || name == "vendor"
}

func join(folder, name string) string {
	if folder == "" {
		return name
	}
	return folder + "/" + name
}

func orDot(path string) string {
	if path == "" {
		return "."
	}
	return path
}
