package detect

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"

	"github.com/paketo-buildpacks/libpak/v2/log"

	"github.com/grpc-cnb/health-probe/internal/plan"
)

// A file that is never read to its end costs a build the limit and no more: the build goes on without the probe.
func TestReadingGivesUpAFileThatIsStuck(t *testing.T) {
	t.Parallel()
	end := make(chan struct{})
	defer close(end)
	stuck := func(context.Context) (found, error) { <-end; return found{servers: []plan.Server{{}}}, nil }
	f, err := findInTime(stuck, time.Millisecond, time.Millisecond)
	if f.servers != nil || err != nil || !strings.Contains(f.missing().Error(), "the scan was given up after 2ms") {
		t.Errorf("it found %v, %v, and says %q", f.servers, err, f.notes)
	}
}

// What was found within the limit counts.
func TestReadingKeepsWhatItFoundInTime(t *testing.T) {
	t.Parallel()
	slow := func(ctx context.Context) (found, error) {
		<-ctx.Done()
		return found{servers: []plan.Server{{Language: "go"}}}, ctx.Err()
	}
	f, err := findInTime(slow, time.Millisecond, time.Hour)
	var out bytes.Buffer
	f.report(log.NewPaketoLogger(&out), false)
	if len(f.servers) != 1 || err != nil || !strings.Contains(out.String(),
		"Warning: the scan stopped after 1ms") {
		t.Errorf("it found %v, %v, and said %q", f.servers, err, out.String())
	}
}
