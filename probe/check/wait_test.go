package check_test

import (
	"strings"
	"testing"
	"time"

	"github.com/grpc-cnb/health-probe/probe/check"
	"github.com/grpc-cnb/health-probe/probe/lean"
)

// The pauses of -wait begin with 100 ms and double up to a second. The last ones are shorter, to come close to the end.
func TestPausesBetweenAttempts(t *testing.T) {
	t.Parallel()
	o, err := parse("-addr=127.0.0.1:1", "-wait=4s") // nobody listens there
	if err != nil {
		t.Fatal(err)
	}
	var asked []time.Time
	p := check.Prober{Transport: lean.Transport{}, Options: o, Note: func(line string) {
		if strings.HasPrefix(line, "attempt ") {
			asked = append(asked, time.Now())
		}
	}}
	p.Run()
	for i, milliseconds := range []int{100, 200, 400, 800} {
		if i+1 >= len(asked) {
			t.Fatalf("there were only %d attempts", len(asked))
		}
		want := time.Duration(milliseconds) * time.Millisecond
		if got := asked[i+1].Sub(asked[i]); got < want-20*time.Millisecond || got > want*3/2+100*time.Millisecond {
			t.Errorf("pause %d is %v, want %v", i+1, got, want)
		}
	}
	if count := len(asked); count < 8 || count > 16 {
		t.Errorf("there were %d attempts in 4 s", count)
	}
}
