package check_test

import (
	"testing"
	"time"

	"github.com/grpc-cnb/health-probe/probe/check"
)

func TestPeerThatIsGoneIsNoticedAfterAMinute(t *testing.T) {
	t.Parallel()
	k := check.KeepAlive
	if noticed := k.Idle + time.Duration(k.Count)*k.Interval; !k.Enable || noticed != time.Minute {
		t.Errorf("it is noticed after %v", noticed)
	}
}
