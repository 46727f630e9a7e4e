package detect

import (
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"slices"
)

// program lets a language read a file as a built program in ELF, the format of Linux; a nil value where it is something
// else.
func (f *file) program(read func(r io.ReaderAt) (*sheet, error)) (*sheet, error) {
	magic := make([]byte, len(elf.ELFMAG))
	if _, err := f.ReadAt(magic, 0); err != nil || string(magic) != elf.ELFMAG {
		if errors.Is(err, io.EOF) {
			err = nil
		}
		return nil, err
	}
	return readProgram(&allowance{r: io.NewSectionReader(f, 0, f.size), left: maxProgramBytes}, read)
}

// readProgram lets a language read any bytes: debug/elf is made for well-formed files and does not promise not to panic on
// others.
func readProgram(r io.ReaderAt, read func(r io.ReaderAt) (*sheet, error)) (said *sheet, err error) {
	defer func() {
		if p := recover(); p != nil {
			said, err = nil, fmt.Errorf("leaving out a damaged program: %v", p)
		}
	}()
	return read(r)
}

// findNames reports which names stand between NUL bytes in what r gives, holding a window of it at a time.
func findNames(r io.Reader, names ...string) ([]bool, error) {
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
		// A name may lie across two windows: what is left of this one goes before the next.
		const overlap = 4096
		buf = buf[:copy(buf, buf[len(buf)-overlap:])]
	}
}

// allowance reads at most so many bytes of r in all: headers of a damaged or hostile program may ask for terabytes.
type allowance struct {
	r    io.ReaderAt
	left int64
}

var errAllowance = fmt.Errorf("leaving out a program of which more than %d bytes would have to be read", maxProgramBytes)

func (a *allowance) ReadAt(p []byte, off int64) (int, error) {
	if a.left -= int64(len(p)); a.left < 0 {
		return 0, errAllowance
	}
	return a.r.ReadAt(p, off)
}
