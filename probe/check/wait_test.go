package check_test

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/grpc-cnb/health-probe/probe/check"
	"github.com/grpc-cnb/health-probe/probe/check/address"
	"github.com/grpc-cnb/health-probe/probe/check/options"
	"github.com/grpc-cnb/health-probe/probe/lean"
)

// The pauses of -wait begin with 100 ms and double up to a second. The last ones are half of the time that is left,
// to come close to the end.
func TestPausesBetweenAttempts(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		asked := attempts(t, "127.0.0.1:1", 4*time.Second) // nobody listens there
		var got []int64
		for i := range asked[1:] {
			got = append(got, asked[i+1].Sub(asked[i]).Milliseconds())
		}
		want := []int64{100, 200, 400, 800, 1000, 750, 375, 187, 93, 46, 23, 11}
		if !slices.Equal(got, want) {
			t.Errorf("pauses are %v ms, want %v ms", got, want)
		}
	})
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
