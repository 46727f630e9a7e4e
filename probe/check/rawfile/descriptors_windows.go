package rawfile

import "syscall"

// descriptor is an open file as the kernel names it.
type descriptor = syscall.Handle

// CheckDescriptors returns an error unless the process may open n more files. Windows sets no such limit.
func CheckDescriptors(int) error { return nil }

// isPipe reports whether an open file is a pipe, of which Windows has none among files.
func isPipe(descriptor) bool { return false }
