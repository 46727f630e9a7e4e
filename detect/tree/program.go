package tree

import (
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"slices"
)

// ReadELF calls read with a program in ELF, the format of Linux, and returns the result of read. For any other file the
// result is nil. read gets at most [MaxProgram] bytes of the file.
func ReadELF[R any](f *File, read func(r io.ReaderAt) (*R, error)) (*R, error) {
	magic := make([]byte, len(elf.ELFMAG))
	if _, err := f.ReadAt(magic, 0); err != nil || string(magic) != elf.ELFMAG {
		if errors.Is(err, io.EOF) {
			err = nil
		}
		return nil, err
	}
	return RecoverRead(LimitReaderAt(io.NewSectionReader(f, 0, f.size), MaxProgram), read)
}

// RecoverRead calls read and turns a panic of read into an error: package debug/elf is made for well-formed files and
// may panic on others.
func RecoverRead[R any](r io.ReaderAt, read func(r io.ReaderAt) (*R, error)) (result *R, err error) {
	defer func() {
		if p := recover(); p != nil {
			result, err = nil, fmt.Errorf("leaving out a damaged program: %v", p)
		}
	}()
	return read(r)
}

// FindNames reports which of the names stand between NUL bytes in the bytes of r. FindNames holds a window of 1 MiB at
// a time.
func FindNames(r io.Reader, names ...string) ([]bool, error) {
	const window = 1 << 20
	found := make([]bool, len(names))
	buf := make([]byte, 0, window)
	for {
		n, err := io.ReadFull(r, buf[len(buf):window])
		buf = buf[:len(buf)+n]
		for i, name := range names {
			found[i] = found[i] || bytes.Contains(buf, []byte("\x00"+name+"\x00"))
		}
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || !slices.Contains(found, false) {
			return found, nil
		}
		if err != nil {
			return found, err
		}
		// A name may lie across two windows: the end of this window goes before the next.
		const overlap = 4096
		buf = buf[:copy(buf, buf[len(buf)-overlap:])]
	}
}

// LimitedReaderAt reads a bounded number of bytes in all from another reader: the headers of a damaged or hostile
// program may ask for terabytes.
type LimitedReaderAt struct {
	r    io.ReaderAt
	left int64
}

// LimitReaderAt returns a reader that fails after requests for more than limit bytes.
func LimitReaderAt(r io.ReaderAt, limit int64) *LimitedReaderAt {
	return &LimitedReaderAt{r, limit}
}

// Reset sets the number of bytes left to read.
func (l *LimitedReaderAt) Reset(limit int64) { l.left = limit }

// ReadAt reads part of the underlying reader (io.ReaderAt).
func (l *LimitedReaderAt) ReadAt(p []byte, off int64) (int, error) {
	if l.left -= int64(len(p)); l.left < 0 {
		return 0, ErrLimit
	}
	return l.r.ReadAt(p, off)
}

// ErrLimit is the error of a [LimitedReaderAt] past the limit.
var ErrLimit = fmt.Errorf("leaving out a program of which more than %d bytes would have to be read", MaxProgram)
