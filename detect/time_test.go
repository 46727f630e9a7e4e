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
	var out bytes.Buffer
	f, err := findInTime(stuck, time.Millisecond, time.Millisecond, log.NewPaketoLogger(&out))
	if f.servers != nil || err != nil || !strings.Contains(out.String(), "the scan was given up after 2ms") {
		t.Errorf("it found %v, %v, and said %q", f.servers, err, out.String())
	}
}

// What was found within the limit counts.
func TestReadingKeepsWhatItFoundInTime(t *testing.T) {
	t.Parallel()
	slow := func(ctx context.Context) (found, error) {
		<-ctx.Done()
		return found{servers: []plan.Server{{Language: "go"}}}, ctx.Err()
	}
	var out bytes.Buffer
	f, err := findInTime(slow, time.Millisecond, time.Hour, log.NewPaketoLogger(&out))
	if len(f.servers) != 1 || err != nil || !strings.Contains(out.String(),
		"the scan stopped after 1ms") {
		t.Errorf("it found %v, %v, and said %q", f.servers, err, out.String())
	}
}
