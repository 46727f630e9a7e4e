package tree

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"slices"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

var (
	errBudget     = errors.New("leaving out the file: enough of the app was read")
	errNotRegular = errors.New("leaving out what is not a regular file")
)

// File is a file of the tree. The first read opens the file. All reads count against the budget of the whole tree.
type File struct {
	// Path is relative to the tree, with slashes.
	Path string

	directory int // the open directory around the file
	buffer    *[]byte
	budget    *atomic.Int64
	shared    *shared

	opened bool
	fd     int
	size   int64 // known once the file is open
	text   []byte
	memory bool // the file is text alone, and not on disk
}

// NewText returns a file that is not on disk, with a path and a text. Tests use NewText.
func NewText(path string, text []byte) *File {
	if text == nil {
		text = []byte{}
	}
	return &File{Path: path, text: text, memory: true, size: int64(len(text)), shared: &shared{}}
}

// shared is a value for all files of a directory.
type shared struct {
	once  sync.Once
	value any
}

// Shared returns the result of load. load is called once for all files of the directory.
func (f *File) Shared(load func() any) any {
	f.shared.once.Do(func() { f.shared.value = load() })
	return f.shared.value
}

// Siblings returns the names in the directory of the file, in order, or none if there are more than most.
func (f *File) Siblings(most int) []string {
	if f.memory {
		return nil
	}
	fd, err := openAt(f.directory, ".", unix.O_DIRECTORY)
	if err != nil {
		return nil
	}
	directory := os.NewFile(uintptr(fd), f.Path)
	defer directory.Close()
	names, err := directory.Readdirnames(most + 1)
	if err != nil || len(names) > most {
		return nil
	}
	slices.Sort(names)
	return names
}

// Sibling returns the file of another name in the same directory, for analyses that need two files to judge one. The
// caller closes the sibling.
func (f *File) Sibling(name string) *File {
	return &File{
		Path: path.Join(path.Dir(f.Path), name), directory: f.directory, buffer: new([]byte), budget: f.budget,
		shared: f.shared,
	}
}

func (f *File) open() error {
	if f.opened || f.memory {
		return nil
	}
	fd, err := openAt(f.directory, path.Base(f.Path), 0)
	if err != nil {
		return fmt.Errorf("leaving out the file: %w", err)
	}
	var stat unix.Stat_t
	if err = unix.Fstat(fd, &stat); err == nil && stat.Mode&unix.S_IFMT != unix.S_IFREG {
		err = errNotRegular
	}
	if err != nil {
		unix.Close(fd)
		return err
	}
	f.opened, f.fd, f.size = true, fd, stat.Size
	return nil
}

// Size returns the length of the file in bytes, or the error of opening the file.
func (f *File) Size() (int64, error) {
	err := f.open()
	return f.size, err
}

// Text returns the whole file, which is read only once. A file longer than [MaxSource] is an error. The text is valid
// until the visit of the file ends and must not be written to: the text of the next file goes to the same memory.
func (f *File) Text() ([]byte, error) {
	if f.text != nil {
		return f.text, nil
	}
	if err := f.open(); err != nil {
		return nil, err
	}
	if f.size > MaxSource {
		return nil, fmt.Errorf("leaving out a file of %d bytes, more than %d", f.size, MaxSource)
	}
	if cap(*f.buffer) < int(f.size) {
		*f.buffer = make([]byte, max(int(f.size), 2*cap(*f.buffer), 16<<10))
	}
	n, err := f.ReadAt((*f.buffer)[:f.size], 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	f.text = (*f.buffer)[:n:n]
	return f.text, nil
}

// ReadAt reads part of a file of any size (io.ReaderAt).
func (f *File) ReadAt(p []byte, off int64) (int, error) {
	if f.memory {
		return bytes.NewReader(f.text).ReadAt(p, off)
	}
	if err := f.open(); err != nil {
		return 0, err
	}
	if f.budget.Add(-int64(len(p))) < 0 {
		return 0, errBudget
	}
	for n := 0; ; {
		if n == len(p) {
			return n, nil
		}
		more, err := ignoreEINTR(func() (int, error) { return unix.Pread(f.fd, p[n:], off+int64(n)) })
		if err != nil {
			return n, fmt.Errorf("leaving out the file: %w", err)
		}
		if more == 0 {
			return n, io.EOF
		}
		n += more
	}
}

// maxInterpreter is how many bytes of a script are read for the line that names the interpreter.
const maxInterpreter = 128

// IsScript reports whether the first line of the file names an interpreter that a pattern matches. IsScript reads only
// the beginning of the file.
func (f *File) IsScript(interpreter *lazyregexp.Regexp) bool {
	head := make([]byte, maxInterpreter)
	n, err := f.ReadAt(head, 0)
	return (err == nil || errors.Is(err, io.EOF)) && interpreter.Match(head[:n])
}

// Close closes the file if the file is open.
func (f *File) Close() {
	if f.opened {
		unix.Close(f.fd)
		f.opened = false
	}
}
