package jar

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/grpc-cnb/health-probe/detect/tree"
)

// The list of entries (the central directory) is held in memory as a whole, so it has bounds of its own.
const (
	// maxEntries is more than the largest jars have that hold an app with all its dependencies: 60,000 to 100,000.
	maxEntries = 150_000
	// maxDirectory is the longest list of entries, in bytes: about 100 bytes for each of the entries.
	maxDirectory = 16 << 20
)

func readEntries(r io.ReaderAt, size int64) ([]*zip.File, error) {
	count, err := entryCount(r, size)
	if err != nil {
		return nil, err
	}
	if count > maxEntries {
		return nil, fmt.Errorf("%d entries, more than %d", count, maxEntries)
	}
	limited := tree.LimitReaderAt(r, maxDirectory)
	archive, err := zip.NewReader(limited, size)
	if errors.Is(err, tree.ErrLimit) {
		return nil, fmt.Errorf("a list of entries of more than %d bytes", maxDirectory)
	}
	if err != nil {
		return nil, err
	}
	limited.Reset(tree.MaxProgram) // from here on for the contents of the entries
	return archive.File, nil
}

// entryCount returns how many entries an archive claims to have. Package archive/zip allocates memory for that many
// before it reads them, so the number has to be known first (APPNOTE.TXT 4.3.16; 4.3.14 and 4.3.15 if 16 bits are
// too few).
func entryCount(r io.ReaderAt, size int64) (uint64, error) {
	const endLen, maxComment, locatorLen, end64Len = 22, 1<<16 - 1, 20, 56
	tail := make([]byte, min(size, endLen+maxComment+locatorLen))
	if _, err := r.ReadAt(tail, size-int64(len(tail))); err != nil && !errors.Is(err, io.EOF) {
		return 0, err
	}
	at := -1
	if len(tail) >= endLen {
		at = bytes.LastIndex(tail[:len(tail)-endLen+4], []byte("PK\x05\x06"))
	}
	if at < 0 {
		return 0, zip.ErrFormat
	}
	count := uint64(binary.LittleEndian.Uint16(tail[at+10:]))
	locator := tail[max(0, at-locatorLen):at]
	if !bytes.HasPrefix(locator, []byte("PK\x06\x07")) || len(locator) < locatorLen {
		return count, nil
	}
	end64 := make([]byte, end64Len)
	if _, err := r.ReadAt(end64, int64(binary.LittleEndian.Uint64(locator[8:])&(1<<62-1))); err != nil {
		return 0, zip.ErrFormat
	}
	return max(count, binary.LittleEndian.Uint64(end64[32:])), nil
}
