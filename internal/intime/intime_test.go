package intime_test

import (
	"errors"
	"testing"
	"time"

	"github.com/grpc-cnb/health-probe/internal/intime"
)

// A disk that hangs must not hang the build.
func TestDoEndsInTime(t *testing.T) {
	t.Parallel()
	_, err := intime.Do(func() (int, error) { <-t.Context().Done(); return 1, nil }, time.Millisecond)
	if err == nil || err.Error() != "it took longer than 1ms" {
		t.Errorf("the error is %v", err)
	}
	failed := errors.New("failed")
	if n, err := intime.Do(func() (int, error) { return 1, failed }, time.Hour); n != 1 || !errors.Is(err, failed) {
		t.Errorf("it returned %d and %v", n, err)
	}
}
