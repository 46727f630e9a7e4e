//go:build unix

package rawfile

import (
	"errors"
	"syscall"
	"testing"
)

// A signal does not end a system call for good.
func TestInterruptedCallIsMadeAgain(t *testing.T) {
	t.Parallel()
	for _, want := range []error{nil, syscall.EIO} {
		calls := 0
		n, err := retried(func() (int, error) {
			if calls++; calls < 3 {
				return -1, syscall.EINTR
			}
			return calls, want
		})
		if n != 3 || !errors.Is(err, want) {
			t.Errorf("the call returned %d and %v, want 3 and %v", n, err, want)
		}
	}
}

// That more files can be opened is found out without keeping any of them open.
func TestDescriptorsThatWereCheckedAreFree(t *testing.T) { //nolint:paralleltest // other tests would open files too
	lowest := func() int {
		file, err := syscall.Open("/", syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
		if err != nil {
			t.Fatal(err)
		}
		if err := syscall.Close(file); err != nil {
			t.Fatal(err)
		}
		return file
	}
	before := lowest()
	if err := CheckDescriptors(2); err != nil {
		t.Fatal(err)
	}
	if after := lowest(); after != before {
		t.Errorf("the lowest free descriptor was %d, and is %d", before, after)
	}
}
