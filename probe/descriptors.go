package probe

import (
	"errors"
	"syscall"
)

// isOutOfDescriptors reports whether the process, or the machine, may open no more files.
func isOutOfDescriptors(err error) bool {
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE)
}

const descriptorsHint Hint = "raise the limit of open files (ulimit -n): a plain probe needs five, each may need ten"
