package detect

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync/atomic"
	"syscall"
)

var (
	errSpent      = errors.New("leaving out the file: enough of the app was read")
	errNotRegular = errors.New("leaving out what is not a regular file")
)

// file is one file of the tree, opened when it is first read. All reading is charged to what may still be read.
type file struct {
	root   *os.Root
	path   string
	unread *atomic.Int64

	handle *os.File
	size   int64
	source []byte
}

// open opens the file for reading. O_NONBLOCK: should it have become a FIFO since the walk, opening it must not wait for
// a writer.
func (f *file) open() error {
	if f.handle != nil {
		return nil
	}
	handle, err := f.root.OpenFile(f.path, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return fmt.Errorf("leaving out the file: %w", err)
	}
	info, err := handle.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = errNotRegular
	}
	if err != nil {
		handle.Close()
		return err
	}
	f.handle, f.size = handle, info.Size()
	return nil
}

// text returns the whole file, once read for all languages; an error where it is longer than maxSourceBytes.
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
	if f.unread.Add(-f.size) < 0 {
		return nil, errSpent
	}
	source := make([]byte, f.size)
	n, err := f.handle.ReadAt(source, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("leaving out the file: %w", err)
	}
	f.source = source[:n]
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
	return f.handle.ReadAt(p, off)
}

func (f *file) close() {
	if f.handle != nil {
		f.handle.Close()
	}
}
