package rawfile

import (
	"errors"
	"syscall"
)

// IsOutOfDescriptors reports whether the process, or the machine, may open no more files.
func IsOutOfDescriptors(err error) bool {
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE)
}
