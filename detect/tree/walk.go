package tree

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"github.com/grpc-cnb/health-probe/internal/plan"
)

// walk is one reading of a tree. Directories are entered depth first, each opened relative to its parent's descriptor.
// An idle reader takes the next directory or half of a large one, so at most maxReaders times maxDepth descriptors are
// open. No link is followed: the target of a link within the tree has a name of its own, and opening fails for a
// directory that a link replaced meanwhile.
type walk struct {
	Visitor
	ctx     context.Context
	logf    Logf
	idle    chan *reader
	entries atomic.Int64 // names seen
	budget  atomic.Int64 // bytes left to read
}

// reader lists directories and reads files, with buffers for reuse.
type reader struct {
	*walk
	names   []byte
	content []byte
	path    []byte
	file    File
}

// directory is an open directory of the tree.
type directory struct {
	fd     int
	path   string // "" for the app's own folder
	depth  int
	shared *shared
}

// direntBuffer is the size of the kernel's buffer for names: the size in glibc's readdir.
const direntBuffer = 32 << 10

func newWalk(ctx context.Context, visitor Visitor, readers int, logf Logf) *walk {
	w := &walk{Visitor: visitor, ctx: ctx, logf: logf, idle: make(chan *reader, readers)}
	w.budget.Store(maxBytes)
	for range readers {
		w.idle <- &reader{walk: w, names: make([]byte, direntBuffer)}
	}
	return w
}

func (w *walk) run(root int) {
	first := <-w.idle
	first.directory(directory{fd: root, shared: &shared{}})
	w.idle <- first
}

// directory reads the required files of a directory, then its subdirectories.
func (r *reader) directory(d directory) {
	names, err := r.list(d)
	if err != nil {
		r.logf("%s: leaving out what is left of the folder: %s", plan.Printable(orDot(d.path)),
			plan.Printable(err.Error()))
	}
	var others sync.WaitGroup
	defer others.Wait()
	for _, name := range names {
		if r.ctx.Err() != nil {
			return
		}
		r.delegate(&others, func(r *reader) { r.enter(d, name) })
	}
}

// delegate gives work to an idle reader. If none is idle, r does the work.
func (r *reader) delegate(others *sync.WaitGroup, work func(r *reader)) {
	select {
	case other := <-r.idle:
		others.Go(func() {
			work(other)
			r.idle <- other
		})
	default:
		work(r)
	}
}

func (r *reader) enter(parent directory, name string) {
	path := join(parent.path, name)
	if parent.depth == maxDepth {
		r.logf("%s: leaving out a folder more than %d deep", plan.Printable(path), maxDepth)
		return
	}
	fd, err := openAt(parent.fd, name, unix.O_DIRECTORY)
	if err != nil {
		r.logf("%s: leaving out the folder: %s", plan.Printable(path), plan.Printable(err.Error()))
		return
	}
	defer unix.Close(fd)
	r.directory(directory{fd, path, parent.depth + 1, &shared{}})
}

var errTooManyFiles = errors.New("the app has too many files")

// list reads the required files of a directory and returns the names of its subdirectories.
func (r *reader) list(d directory) ([]string, error) {
	var others sync.WaitGroup
	defer others.Wait()
	var subdirectories []string
	for r.ctx.Err() == nil {
		n, err := ignoreEINTR(func() (int, error) { return unix.ReadDirent(d.fd, r.names) })
		if err != nil || n <= 0 {
			return subdirectories, err
		}
		var files []string
		count := 0
		for e := range parseDirents(r.names[:n]) {
			count++
			files, subdirectories = r.classify(d, e, files, subdirectories)
		}
		if r.entries.Add(int64(count)) > maxEntries {
			return subdirectories, errTooManyFiles
		}
		r.read(d, files, &others)
	}
	return subdirectories, nil
}

// classify adds an entry of a directory to the paths of required files or to the names of subdirectories.
func (r *reader) classify(d directory, e dirent, files, subdirectories []string) ([]string, []string) {
	kind := e.kind
	if kind == unix.DT_UNKNOWN { // some file systems do not say
		kind = statKind(d.fd, string(e.name))
	}
	switch kind {
	case unix.DT_REG:
		r.path = append(r.path[:0], d.path...)
		if d.path != "" {
			r.path = append(r.path, '/')
		}
		if path := string(append(r.path, e.name...)); r.Required(path) {
			files = append(files, path)
		}
	case unix.DT_DIR:
		if name := string(e.name); !isThirdParty(d.path, name) {
			subdirectories = append(subdirectories, name)
		}
	default:
		r.logf("%s: leaving out what is neither a file nor a folder", plan.Printable(join(d.path, string(e.name))))
	}
	return files, subdirectories
}

// read visits files of a directory. Another reader takes half of many files.
func (r *reader) read(d directory, files []string, others *sync.WaitGroup) {
	const many = 64
	if len(files) > many {
		half := files[:len(files)/2]
		files = files[len(files)/2:]
		r.delegate(others, func(r *reader) { r.visit(d, half) })
	}
	r.visit(d, files)
}

func (r *reader) visit(d directory, files []string) {
	for _, path := range files {
		if r.ctx.Err() != nil {
			return
		}
		r.file = File{Path: path, directory: d.fd, buffer: &r.content, budget: &r.budget, shared: d.shared}
		r.Visit(&r.file)
		r.file.Close()
	}
}

func join(directory, name string) string {
	if directory == "" {
		return name
	}
	return directory + "/" + name
}

func orDot(path string) string {
	if path == "" {
		return "."
	}
	return path
}
