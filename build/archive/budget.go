package archive

import (
	"errors"
	"fmt"
	"io"
)

// budget has the remaining bytes to read from the archive, and the remaining bytes of files to make of them.
type budget struct{ left, sparse int64 }

var (
	errBudget    = errors.New("it unpacks to far more than it is: more than a hundred times its size, or 2 GiB")
	errEntries   = fmt.Errorf("it has more than %d entries", maxEntries)
	errDirectory = fmt.Errorf("its list of entries is longer than %d MiB", maxDirectory>>20)
)

type budgetReader struct {
	*budget
	in io.Reader
}

func (b *budget) reader(in io.Reader) io.Reader { return budgetReader{b, in} }

func (r budgetReader) Read(p []byte) (int, error) {
	n, err := r.in.Read(p)
	if r.left -= int64(n); r.left < 0 {
		return 0, errBudget
	}
	return n, err
}

// boundedReaderAt fails if the reads exceed left, in bytes.
type boundedReaderAt struct {
	in   io.ReaderAt
	left int64
}

func (b *boundedReaderAt) ReadAt(p []byte, offset int64) (int, error) {
	if b.left -= int64(len(p)); b.left < 0 {
		return 0, errDirectory
	}
	return b.in.ReadAt(p, offset)
}
