package build

import (
	"bytes"
	"strings"
	"testing"

	"github.com/paketo-buildpacks/libpak/v2/log"

	"github.com/grpc-cnb/health-probe/internal/plan"
	"github.com/grpc-cnb/health-probe/probe/flags"
)

func TestLogSaysHowManyServersItDoesNotList(t *testing.T) {
	t.Parallel()
	for count, want := range map[int]string{plan.MaxListed: "", plan.MaxListed + 1: "more\n"} {
		var out bytes.Buffer
		servers := plan.List(make([]plan.Server, count))
		reportServers(log.NewPaketoLogger(&out), servers, flags.Defaults{})
		_, got, _ := strings.Cut(out.String(), "also found: 1 ")
		if got, _, _ = strings.Cut(got, "  The server at "); got != want {
			t.Errorf("of %d servers the log says %q, want %q after the servers", count, out.String(), want)
		}
	}
}
