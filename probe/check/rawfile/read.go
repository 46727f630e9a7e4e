package rawfile

import (
	"errors"
	"fmt"
	"slices"
	"syscall"

	"github.com/grpc-cnb/health-probe/probe/check/outcome"
)

var errSilent = errors.New("nothing was written to it in time")

// limitError is the error for a file with more bytes than its limit.
type limitError int

// Error returns the limit.
func (e limitError) Error() string { return fmt.Sprintf("it has more than %d bytes", int(e)) }

// Hint returns the advice for an error of [Read].
func Hint(err error) outcome.Hint {
	if _, ok := errors.AsType[limitError](err); ok {
		return "use a smaller file: of a bundle, only the CAs that you need"
	}
	if errors.Is(err, errSilent) {
		return "it is a pipe: does something write to it, and sooner than -connect-timeout?"
	}
	return "is it mounted and readable for the probe's user?"
}

// Read reads a file of at most limit bytes. Errors do not name the file, since the message around them does. Read waits
// for the data of a pipe while pause, which waits for a moment, returns true; with a nil pause Read never waits. The
// file is opened with O_NONBLOCK: a FIFO without a writer must not keep the probe past its deadlines.
func Read(path string, limit int, pause func() bool) ([]byte, error) {
	file, err := retried(func() (descriptor, error) {
		return syscall.Open(path, syscall.O_RDONLY|syscall.O_NONBLOCK|syscall.O_CLOEXEC, 0)
	})
	if err != nil {
		return nil, err
	}
	// Nothing was written, so closing cannot lose anything.
	defer func() { _ = syscall.Close(file) }()
	// A larger buffer at first would be on the stack, and growing that costs more memory than the file.
	for data := make([]byte, 0, 512); ; data = slices.Grow(data, 1) {
		n, err := retried(func() (int, error) { return syscall.Read(file, data[len(data):cap(data)]) })
		switch {
		case errors.Is(err, syscall.EAGAIN), err == nil && n == 0 && len(data) == 0 && pause != nil && isPipe(file):
			// A writer, or its data, may come yet.
			if pause == nil || !pause() {
				return nil, errSilent
			}
			continue
		case err != nil:
			return nil, err
		case n <= 0:
			return data, nil
		}
		if data = data[:len(data)+n]; len(data) > limit {
			return nil, limitError(limit)
		}
	}
}

// retried makes a system call until no signal interrupts it: Go's runtime sends itself signals.
func retried[T comparable](call func() (T, error)) (T, error) {
	for {
		if n, err := call(); !errors.Is(err, syscall.EINTR) {
			return n, err
		}
	}
}
