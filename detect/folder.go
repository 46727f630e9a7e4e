package detect

import (
	"bytes"
	"encoding/binary"
	"errors"
	"iter"
	"unsafe"

	"golang.org/x/sys/unix"
)

// openAt opens what has this name in an open folder, unless it is a link. O_NONBLOCK: should it have become a FIFO since
// its name was read, opening it must not wait for a writer. O_NOCTTY: nor must a terminal become this process's.
func openAt(folder int, name string, flags int) (int, error) {
	flags |= unix.O_RDONLY | unix.O_NOFOLLOW | unix.O_NONBLOCK | unix.O_NOCTTY | unix.O_CLOEXEC
	return retry(func() (int, error) { return unix.Openat(folder, name, flags, 0) })
}

// retry calls again what a signal interrupted: the runtime sends itself signals, and a network file system's calls do not
// all go on after one.
func retry(call func() (int, error)) (int, error) {
	for {
		n, err := call()
		if !errors.Is(err, unix.EINTR) {
			return n, err
		}
	}
}

// entry is a name in a folder, and what the folder says it is: unix.DT_REG, unix.DT_DIR and so on.
type entry struct {
	name []byte
	kind byte
}

// entriesIn returns the entries in what unix.ReadDirent gave, without "." and "..". A kernel's record is a unix.Dirent cut
// to its Reclen.
func entriesIn(records []byte) iter.Seq[entry] {
	const (
		lengthAt = int(unsafe.Offsetof(unix.Dirent{}.Reclen))
		kindAt   = int(unsafe.Offsetof(unix.Dirent{}.Type))
		nameAt   = int(unsafe.Offsetof(unix.Dirent{}.Name))
	)
	return func(yield func(entry) bool) {
		for len(records) > nameAt {
			length := int(binary.NativeEndian.Uint16(records[lengthAt:]))
			if length <= nameAt || length > len(records) {
				return
			}
			name, _, _ := bytes.Cut(records[nameAt:length], []byte{0})
			e := entry{name, records[kindAt]}
			if records = records[length:]; string(name) == "." || string(name) == ".." {
				continue
			}
			if !yield(e) {
				return
			}
		}
	}
}

// kindOf asks for what a folder's listing does not say. What cannot be asked is of no known kind.
func kindOf(folder int, name string) byte {
	var stat unix.Stat_t
	if err := unix.Fstatat(folder, name, &stat, unix.AT_SYMLINK_NOFOLLOW); err != nil {
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
