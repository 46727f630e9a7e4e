package detect

import (
	"errors"
	"fmt"
	"io"
	"path"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

var (
	errSpent      = errors.New("leaving out the file: enough of the app was read")
	errNotRegular = errors.New("leaving out what is not a regular file")
)

// file is one file of the tree, opened when it is first read. All reading is charged to what may still be read.
type file struct {
	path   string // in the tree, with slashes
	folder int    // the open folder it is in
	buffer *[]byte
	unread *atomic.Int64

	opened bool
	fd     int
	size   int64 // once opened
	source []byte
}

// beside returns another file of the same folder, for a language that needs both to judge of one. Whoever asks closes it.
func (f *file) beside(name string) *file {
	return &file{path: path.Join(path.Dir(f.path), name), folder: f.folder, buffer: new([]byte), unread: f.unread}
}

// open opens the file for reading.
func (f *file) open() error {
	if f.opened {
		return nil
	}
	fd, err := openAt(f.folder, path.Base(f.path), 0)
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

// text returns the whole file, once read for all languages; an error where it is longer than maxSourceBytes. It may be
// kept until look returns and no longer, nor be written to: the next file's text goes to the same place.
func (f *file) text() ([]byte, error) {
	if f.source != nil {
		return f.source, nil
	}
	if err := f.open(); err != nil {
		return nil, err
	}
	if f.size > maxSourceBytes {
		return nil, fmt.Errorf("leaving out a file of %d bytes, more than %d", f.size, maxSourceBytes)
	}
	if cap(*f.buffer) < int(f.size) {
		*f.buffer = make([]byte, max(int(f.size), 2*cap(*f.buffer), 16<<10))
	}
	n, err := f.ReadAt((*f.buffer)[:f.size], 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	f.source = (*f.buffer)[:n:n]
	return f.source, nil
}

// ReadAt reads part of a file of any size (io.ReaderAt).
func (f *file) ReadAt(p []byte, off int64) (int, error) {
	if err := f.open(); err != nil {
		return 0, err
	}
	if f.unread.Add(-int64(len(p))) < 0 {
		return 0, errSpent
	}
	for n := 0; ; {
		if n == len(p) {
			return n, nil
		}
		more, err := retry(func() (int, error) { return unix.Pread(f.fd, p[n:], off+int64(n)) })
		if err != nil {
			return n, fmt.Errorf("leaving out the file: %w", err)
		}
		if more == 0 {
			return n, io.EOF
		}
		n += more
	}
}

func (f *file) close() {
	if f.opened {
		unix.Close(f.fd)
	}
}
