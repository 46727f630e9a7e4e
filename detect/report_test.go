package detect

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/paketo-buildpacks/libpak/v2/log"

	"github.com/grpc-cnb/health-probe/internal/plan"
)

// The log names as many servers without a health service as the build plan lists, and counts the others.
func TestServersWithoutHealthAreNamedOrCounted(t *testing.T) {
	t.Parallel()
	for missing, want := range map[int]string{
		1:                  " with the servers at 1/main.go: probes of these will exit 3",
		2:                  " with the servers at 1/main.go, 2/main.go: probes of these will exit 3",
		plan.MaxListed:     fmt.Sprintf(", %d/main.go: probes of these will exit 3", plan.MaxListed),
		plan.MaxListed + 2: fmt.Sprintf(", %d/main.go and 2 more: probes of these will exit 3", plan.MaxListed),
	} {
		servers := []plan.Server{{Health: plan.HealthRegistered}}
		for i := range missing {
			servers = append(servers, plan.Server{
				Health: plan.HealthMissing, Evidence: plan.Place{Path: fmt.Sprintf("%d/main.go", i+1)},
			})
		}
		var out bytes.Buffer
		warnOfHealth(log.NewPaketoLogger(&out), servers)
		if !strings.Contains(out.String(), want) {
			t.Errorf("of %d servers without health it said %q, want %q", missing, out.String(), want)
		}
	}
}
