package rawfile

import (
	"errors"
	"fmt"
	"slices"
	"syscall"
)

// Read reads a file of at most limit bytes. Its errors do not name the file, since the message around them
// does. The file is opened with O_NONBLOCK: without it a FIFO that nobody writes to would keep the probe waiting past
// every deadline, with it the FIFO is empty.
func Read(path string, limit int) ([]byte, error) {
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
		if err != nil {
			return nil, err
		}
		if n <= 0 {
			return data, nil
		}
		if data = data[:len(data)+n]; len(data) > limit {
			return nil, fmt.Errorf("it has more than %d bytes", limit)
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
