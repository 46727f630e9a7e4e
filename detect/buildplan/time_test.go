package buildplan

import (
	"testing"
	"time"

	"github.com/grpc-cnb/health-probe/internal/plan"
)

// Settings that are never read to their end are a mistake, so that the build does not go on without them.
func TestReadingGivesUpSettingsThatAreStuck(t *testing.T) {
	t.Parallel()
	end := make(chan struct{})
	defer close(end)
	stuck := func() ([]plan.Requirement, error) { <-end; return nil, nil }
	_, err := inTime(stuck, time.Millisecond)
	if err == nil || err.Error() != "reading the settings of the app: it took longer than 1ms" {
		t.Errorf("the error is %v", err)
	}
}
