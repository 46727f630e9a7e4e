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
	stuck := func(context.Context) ([]plan.Server, error) { <-end; return []plan.Server{{}}, nil }
	var out bytes.Buffer
	servers, err := findInTime(stuck, time.Millisecond, time.Millisecond, log.NewPaketoLogger(&out))
	if servers != nil || err != nil || !strings.Contains(out.String(), "the app was not read within 2ms") {
		t.Errorf("it found %v, %v, and said %q", servers, err, out.String())
	}
}

// What was found within the limit counts.
func TestReadingKeepsWhatItFoundInTime(t *testing.T) {
	t.Parallel()
	slow := func(ctx context.Context) ([]plan.Server, error) {
		<-ctx.Done()
		return []plan.Server{{Language: "go"}}, ctx.Err()
	}
	var out bytes.Buffer
	servers, err := findInTime(slow, time.Millisecond, time.Hour, log.NewPaketoLogger(&out))
	if len(servers) != 1 || err != nil || !strings.Contains(out.String(),
		"the app was not read to its end within 1ms") {
		t.Errorf("it found %v, %v, and said %q", servers, err, out.String())
	}
}
