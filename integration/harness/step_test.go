package harness

import (
	"bytes"
	"testing"
	"testing/synctest"
	"time"
)

// TestLongStepShowsProgress lets two and a half minutes pass on the clock of the test.
func TestLongStepShowsProgress(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		k := &Fixture{out: &out}
		done := k.LongStep("compiling %s", "pack")
		time.Sleep(150 * time.Second)
		done()
		const want = "-> compiling pack\n   60 s so far\n   120 s so far\n   done in 150.0 s\n"
		if out.String() != want {
			t.Errorf("it prints %q, want %q", out.String(), want)
		}
	})
}
