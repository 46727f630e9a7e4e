package outcome

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

// Ten errors at the most are printed, and a line has 1 KiB at the most: the kubelet keeps 10 KiB of a probe's output.
func TestLinesAreBounded(t *testing.T) {
	t.Parallel()
	var failed Failures
	for i := range 25 {
		failed = append(failed, &Failure{Err: fmt.Errorf("%d is down", i), Hint: "restart it"})
	}
	lines := failed.Lines()
	if len(lines) != 12 || lines[9] != "error: 9 is down" || lines[10] != "error: and 15 more" ||
		lines[11] != "hint: restart it" {
		t.Errorf("25 failures are %q", lines)
	}
	long := Failures{{Err: errors.New(strings.Repeat("a", 5000))}}.Lines()[0]
	if len(long) != 1024+len("...") || !strings.HasSuffix(long, "a...") {
		t.Errorf("a line has %d bytes", len(long))
	}
}
