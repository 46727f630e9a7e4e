package probe_test

import (
	"os/exec"
	"strings"
	"testing"
)

// heavyPackages are prefixes of import paths of packages that would cost CPU time or memory at each start.
var heavyPackages = []string{
	"google.golang.org/", "net/http", "text/template", "encoding/json", "os/signal", "compress/gzip",
}

// The lean probe links package probe, so package probe must not bring in heavy packages.
func TestCommandLineLinksNoHeavyPackages(t *testing.T) {
	t.Parallel()
	list := exec.Command("go", "list", "-deps", "github.com/grpc-cnb/health-probe/probe")
	deps, err := list.Output()
	if err != nil {
		t.Fatalf("listing dependencies: %v", err)
	}
	for dep := range strings.Lines(string(deps)) {
		for _, heavy := range heavyPackages {
			if strings.HasPrefix(dep, heavy) {
				t.Errorf("package probe depends on %s", dep)
			}
		}
	}
}
