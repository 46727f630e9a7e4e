package tree

import (
	"bytes"
	"encoding/binary"
	"errors"
	"iter"
	"unsafe"

	"golang.org/x/sys/unix"
)

// openAt opens the entry name of an open directory, unless the entry is a link. With O_NONBLOCK, opening does not wait
// for a writer if the entry has become a FIFO meanwhile. With O_NOCTTY, no terminal becomes the terminal of this
// process.
func openAt(directory int, name string, flags int) (int, error) {
	flags |= unix.O_RDONLY | unix.O_NOFOLLOW | unix.O_NONBLOCK | unix.O_NOCTTY | unix.O_CLOEXEC
	return ignoreEINTR(func() (int, error) { return unix.Openat(directory, name, flags, 0) })
}

// ignoreEINTR repeats a call that a signal interrupted. The Go runtime sends signals to its own threads, and calls on a
// network file system do not always resume after a signal.
func ignoreEINTR(call func() (int, error)) (int, error) {
	for {
		n, err := call()
		if !errors.Is(err, unix.EINTR) {
			return n, err
		}
	}
}

// dirent is an entry of a directory. kind is unix.DT_REG, unix.DT_DIR and so on.
type dirent struct {
	name []byte
	kind byte
}

// parseDirents returns the entries in the result of unix.ReadDirent, without "." and "..". The kernel's record is a
// unix.Dirent cut to Reclen bytes.
func parseDirents(records []byte) iter.Seq[dirent] {
	const (
		lengthAt = int(unsafe.Offsetof(unix.Dirent{}.Reclen))
		kindAt   = int(unsafe.Offsetof(unix.Dirent{}.Type))
		nameAt   = int(unsafe.Offsetof(unix.Dirent{}.Name))
	)
	return func(yield func(dirent) bool) {
		for len(records) > nameAt {
			length := int(binary.NativeEndian.Uint16(records[lengthAt:]))
			if length <= nameAt || length > len(records) {
				return
			}
			name, _, _ := bytes.Cut(records[nameAt:length], []byte{0})
			e := dirent{name, records[kindAt]}
			if records = records[length:]; string(name) == "." || string(name) == ".." {
				continue
			}
			if !yield(e) {
				return
			}
		}
	}
}

// statKind returns the type of an entry for listings without types. The type is unknown if stat fails.
func statKind(directory int, name string) byte {
	var stat unix.Stat_t
	if err := unix.Fstatat(directory, name, &stat, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return unix.DT_UNKNOWN
	}
	switch stat.Mode & unix.S_IFMT {
	case unix.S_IFREG:
		return unix.DT_REG
	case unix.S_IFDIR:
		return unix.DT_DIR
	}
	return unix.DT_UNKNOWN
}
