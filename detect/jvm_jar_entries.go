package detect

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// The list of a jar's entries is read whole, so it is bounded by itself.
const (
	// maxJarEntries is more than the largest jars have that hold an app and all it needs: 60,000 to 100,000.
	maxJarEntries = 150_000
	// maxJarDirectory is how long the list of a jar's entries may be, in bytes: 100 for each of that many.
	maxJarDirectory = 16 << 20
)

// jvmEntries returns the entries of an archive.
func jvmEntries(r io.ReaderAt, size int64) ([]*zip.File, error) {
	count, err := jvmEntryCount(r, size)
	if err != nil {
		return nil, err
	}
	if count > maxJarEntries {
		return nil, fmt.Errorf("%d entries, more than %d", count, maxJarEntries)
	}
	allowed := &allowance{r: r, left: maxJarDirectory}
	archive, err := zip.NewReader(allowed, size)
	if errors.Is(err, errAllowance) {
		return nil, fmt.Errorf("a list of entries of more than %d bytes", maxJarDirectory)
	}
	if err != nil {
		return nil, err
	}
	allowed.left = maxProgramBytes // from here on for what is in the entries
	return archive.File, nil
}

// jvmEntryCount returns how many entries an archive says that it has, because archive/zip makes room for that many (APPNOTE.TXT
// 4.3.16; 4.3.14 and 4.3.15 where 16 bits are too few).
func jvmEntryCount(r io.ReaderAt, size int64) (uint64, error) {
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
