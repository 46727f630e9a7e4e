package lean

import (
	"errors"
	"os"
	"testing"
	"time"

	"github.com/grpc-cnb/health-probe/probe/check"
	"github.com/grpc-cnb/health-probe/probe/check/options"
)

// On a busy machine a connection notices its deadline late. Whoever waits for it is told the step that took too long.
func TestStepThatTookTooLongIsNamed(t *testing.T) {
	t.Parallel()
	past := time.Now().Add(-time.Minute)
	d := &dialing{began: past, ends: past, done: make(chan struct{})}
	k := &Kept{dialing: d}
	go func() {
		for isWaitedFor := false; !isWaitedFor; time.Sleep(time.Millisecond) {
			k.mu.Lock()
			isWaitedFor = d.waiting > 0
			k.mu.Unlock()
		}
		d.err = &check.DialError{Step: check.StepSettings, Err: os.ErrDeadlineExceeded}
		close(d.done)
	}()
	_, err := k.lease(&options.Options{}, past, nil)
	if failed, ok := errors.AsType[*check.DialError](err); !ok || failed.Step != check.StepSettings {
		t.Errorf("the error is %v, want one of the step of SETTINGS", err)
	}
}
