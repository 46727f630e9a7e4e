package detect

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// walk is one reading of a tree. Folders are entered depth first, each opened relative to its parent's descriptor; where
// a reader is idle, it takes the next folder or half of a large one, so that no more descriptors are open than maxReaders
// times maxDepth. No link is followed: what a link in the tree points at inside the tree has a name of its own, and a
// folder that is swapped for a link meanwhile cannot be opened.
type walk struct {
	ctx     context.Context
	note    func(format string, args ...any)
	idle    chan *reader
	entries atomic.Int64 // names that were looked at
	unread  atomic.Int64 // bytes that may still be read
}

// reader lists folders and reads files, with buffers that it uses again for each.
type reader struct {
	*walk
	names   []byte
	content []byte
	path    []byte
	file    file
	facts   [][]fact // by language, as in languages
}

// folder is an open folder of the tree.
type folder struct {
	fd    int
	path  string // "" for the app's own
	depth int
}

// wantedFile is a file that languages want, the bits of which are set by their place in languages.
type wantedFile struct {
	path string
	by   uint64
}

// namesBytes is room for the names that the kernel gives at a time: what glibc's readdir asks for.
const namesBytes = 32 << 10

// newWalk makes the readers of a walk.
func newWalk(ctx context.Context, readers int, note func(format string, args ...any)) *walk {
	w := &walk{ctx: ctx, note: note, idle: make(chan *reader, readers)}
	w.unread.Store(maxBytes)
	for range readers {
		w.idle <- &reader{walk: w, names: make([]byte, namesBytes), facts: make([][]fact, len(languages))}
	}
	return w
}

// run reads the tree under an open folder and returns what its files say, by language.
func (w *walk) run(root int) [][]fact {
	first := <-w.idle
	first.folder(folder{fd: root})
	w.idle <- first
	facts := make([][]fact, len(languages))
	for range cap(w.idle) {
		for i, said := range (<-w.idle).facts {
			facts[i] = append(facts[i], said...)
		}
	}
	return facts
}

// folder reads the wanted files of a folder, then its folders.
func (r *reader) folder(f folder) {
	folders, err := r.list(f)
	if err != nil {
		r.note("%s: leaving out what is left of the folder: %s", printable(orDot(f.path)), printable(err.Error()))
	}
	var others sync.WaitGroup
	defer others.Wait()
	for _, name := range folders {
		if r.ctx.Err() != nil {
			return
		}
		r.orAnother(&others, func(r *reader) { r.enter(f, name) })
	}
}

// orAnother gives work to an idle reader, or does it itself where there is none.
func (r *reader) orAnother(others *sync.WaitGroup, work func(r *reader)) {
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

func (r *reader) enter(parent folder, name string) {
	path := join(parent.path, name)
	if parent.depth == maxDepth {
		r.note("%s: leaving out a folder more than %d deep", printable(path), maxDepth)
		return
	}
	fd, err := openAt(parent.fd, name, unix.O_DIRECTORY)
	if err != nil {
		r.note("%s: leaving out the folder: %s", printable(path), printable(err.Error()))
		return
	}
	defer unix.Close(fd)
	r.folder(folder{fd, path, parent.depth + 1})
}

var errTooMany = errors.New("the app has too many files")

// list reads the wanted files of a folder and returns the names of its folders.
func (r *reader) list(f folder) ([]string, error) {
	var others sync.WaitGroup
	defer others.Wait()
	var folders []string
	for r.ctx.Err() == nil {
		n, err := retry(func() (int, error) { return unix.ReadDirent(f.fd, r.names) })
		if err != nil || n <= 0 {
			return folders, err
		}
		var files []wantedFile
		count := 0
		for e := range entriesIn(r.names[:n]) {
			count++
			files, folders = r.sort(f, e, files, folders)
		}
		if r.entries.Add(int64(count)) > maxEntries {
			return folders, errTooMany
		}
		r.read(f, files, &others)
	}
	return folders, nil
}

// read reads files of a folder, half of them by another reader where they are many.
func (r *reader) read(f folder, files []wantedFile, others *sync.WaitGroup) {
	const many = 64
	if len(files) > many {
		half := files[:len(files)/2]
		files = files[len(files)/2:]
		r.orAnother(others, func(r *reader) { r.look(f, half) })
	}
	r.look(f, files)
}

// sort puts an entry of a folder where it belongs.
func (r *reader) sort(f folder, e entry, files []wantedFile, folders []string) ([]wantedFile, []string) {
	kind := e.kind
	if kind == unix.DT_UNKNOWN { // some file systems do not say
		kind = kindOf(f.fd, string(e.name))
	}
	switch kind {
	case unix.DT_REG:
		r.path = append(r.path[:0], f.path...)
		if f.path != "" {
			r.path = append(r.path, '/')
		}
		path := string(append(r.path, e.name...))
		if by := wantedBy(path); by != 0 {
			files = append(files, wantedFile{path, by})
		}
	case unix.DT_DIR:
		if name := string(e.name); !foreign(f.path, name) {
			folders = append(folders, name)
		}
	default:
		r.note("%s: leaving out what is neither a file nor a folder", printable(join(f.path, string(e.name))))
	}
	return files, folders
}

// wantedBy asks every language once.
func wantedBy(path string) uint64 {
	var by uint64
	for i := range languages {
		if languages[i].wants(path) {
			by |= 1 << i
		}
	}
	return by
}

// look opens each file once, however many languages want it.
func (r *reader) look(f folder, files []wantedFile) {
	for _, wanted := range files {
		if r.ctx.Err() != nil {
			return
		}
		r.file = file{path: wanted.path, folder: f.fd, buffer: &r.content, unread: &r.unread}
		r.lookAt(&r.file, wanted.by)
	}
}

func (r *reader) lookAt(f *file, by uint64) {
	defer f.close()
	for i, l := range languages {
		if by&(1<<i) == 0 {
			continue
		}
		said, err := l.look(f)
		if err != nil {
			r.note("%s: %s", printable(f.path), printable(err.Error()))
		}
		if said != nil {
			r.facts[i] = append(r.facts[i], fact{f.path, said})
		}
	}
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
