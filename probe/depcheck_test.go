package probe_test

import (
	"os/exec"
	"strings"
	"testing"
)

// The lean probe links package probe: what costs CPU time or pages at each
// start must not come in by it.
func TestCommandLineLinksNoHeavyPackages(t *testing.T) {
	t.Parallel()
	list := exec.Command("go", "list", "-deps", "github.com/grpc-cnb/health-probe/probe")
	deps, err := list.Output()
	if err != nil {
		t.Fatalf("listing dependencies: %v", err)
	}
	for dep := range strings.Lines(string(deps)) {
		for _, heavy := range []string{"google.golang.org/", "net/http", "text/template", "encoding/json", "os/signal", "compress/gzip"} {
			if strings.HasPrefix(dep, heavy) {
				t.Errorf("package probe depends on %s", dep)
			}
		}
	}
}
