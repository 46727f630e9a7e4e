package detect

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"

	"github.com/paketo-buildpacks/libpak/v2/log"
)

// A file that never ends costs a build its bound, and no more: the build goes on without the probe.
func TestReadingGivesUpAFileThatIsStuck(t *testing.T) {
	t.Parallel()
	end := make(chan struct{})
	defer close(end)
	stuck := func(context.Context) ([]Service, error) { <-end; return []Service{{}}, nil }
	var out bytes.Buffer
	services, err := read(stuck, time.Millisecond, time.Millisecond, log.NewPaketoLogger(&out))
	if services != nil || err != nil || !strings.Contains(out.String(), "the app was not read within 2ms") {
		t.Errorf("it found %v, %v, and said %q", services, err, out.String())
	}
}

// What was found until the time is over counts.
func TestReadingKeepsWhatItFoundInTime(t *testing.T) {
	t.Parallel()
	slow := func(ctx context.Context) ([]Service, error) {
		<-ctx.Done()
		return []Service{{Language: "go"}}, ctx.Err()
	}
	var out bytes.Buffer
	services, err := read(slow, time.Millisecond, time.Hour, log.NewPaketoLogger(&out))
	if len(services) != 1 || err != nil || !strings.Contains(out.String(), "the app was not read to its end within 1ms") {
		t.Errorf("it found %v, %v, and said %q", services, err, out.String())
	}
}
