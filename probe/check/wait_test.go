package check_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/grpc-cnb/health-probe/probe/check"
	"github.com/grpc-cnb/health-probe/probe/check/address"
	"github.com/grpc-cnb/health-probe/probe/check/options"
	"github.com/grpc-cnb/health-probe/probe/lean"
)

// The pauses of -wait begin with 100 ms and double up to a second. The last ones are shorter, to come close to the end.
// A busy machine makes a pause longer now and then, but not in each of three runs.
func TestPausesBetweenAttempts(t *testing.T) {
	t.Parallel()
	var wrong []string
	for range 3 {
		asked := attempts(t, "127.0.0.1:1", 4*time.Second) // nobody listens there
		if wrong = wrongPauses(asked); wrong == nil {
			return
		}
	}
	t.Errorf("in the third of three runs, %s", strings.Join(wrong, "; "))
}

// attempts runs a probe with -wait, and returns when its attempts ended.
func attempts(t *testing.T, addr string, wait time.Duration) []time.Time {
	t.Helper()
	o := options.New()
	o.Services, o.Budget.Wait = []string{""}, wait
	var err error
	if o.Address, err = address.Parse(addr, address.AnyPort); err != nil {
		t.Fatal(err)
	}
	var asked []time.Time
	p := check.Prober{Transport: lean.Transport{}, Options: &o, Note: func(line string) {
		if strings.HasPrefix(line, "attempt ") {
			asked = append(asked, time.Now())
		}
	}}
	p.Run()
	return asked
}

func wrongPauses(asked []time.Time) []string {
	if count := len(asked); count < 8 || count > 16 {
		return []string{fmt.Sprintf("there were %d attempts in 4 s", count)}
	}
	var wrong []string
	for i, milliseconds := range []int{100, 200, 400, 800} {
		want := time.Duration(milliseconds) * time.Millisecond
		if got := asked[i+1].Sub(asked[i]); got < want-20*time.Millisecond || got > want*3/2+100*time.Millisecond {
			wrong = append(wrong, fmt.Sprintf("pause %d is %v, want %v", i+1, got, want))
		}
	}
	return wrong
}
