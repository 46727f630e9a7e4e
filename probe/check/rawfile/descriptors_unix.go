//go:build unix

package rawfile

import "syscall"

// descriptor is an open file as the kernel names it.
type descriptor = int

// CheckDescriptors returns an error unless the process may open n more files. Without descriptors, the poller of Go's
// runtime ends the process with a stack trace, so code that will start the poller has to ask before.
func CheckDescriptors(n int) error {
	for range n {
		// Any open file will do: standard error may be closed, but the folder / cannot be missing.
		file, err := syscall.Open("/", syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
		if err != nil {
			return err
		}
		defer func() { _ = syscall.Close(file) }()
	}
	return nil
}

func isPipe(file descriptor) bool {
	var stat syscall.Stat_t
	return syscall.Fstat(file, &stat) == nil && stat.Mode&syscall.S_IFMT == syscall.S_IFIFO
}
