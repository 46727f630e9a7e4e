package rawfile

import (
	"errors"
	"syscall"
)

// Stream is a standard stream. Package os, not used here, ends the process by SIGPIPE after a write to a pipe without a
// reader.
type Stream descriptor

// Write implements io.Writer.
func (s Stream) Write(p []byte) (written int, err error) {
	for written < len(p) {
		n, err := syscall.Write(descriptor(s), p[written:])
		if err != nil && !errors.Is(err, syscall.EINTR) {
			return written, err
		}
		written += max(n, 0)
	}
	return written, nil
}
