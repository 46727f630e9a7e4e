package main

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// What the program links is what each probe starts and each scanner looks up: the standard library, without its costly
// parts, and this module.
func TestLinksNothingThatIsNotNeeded(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", "-f", "{{.ImportPath}}\t{{.Standard}}", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	own := []string{
		"github.com/grpc-cnb/health-probe/cmd/grpc_health_probe",
		"github.com/grpc-cnb/health-probe/internal/hostport",
		"github.com/grpc-cnb/health-probe/internal/nearest",
		"github.com/grpc-cnb/health-probe/probe",
		"github.com/grpc-cnb/health-probe/probe/check/address",
		"github.com/grpc-cnb/health-probe/probe/check/options",
		"github.com/grpc-cnb/health-probe/probe/check",
		"github.com/grpc-cnb/health-probe/probe/discover",
		"github.com/grpc-cnb/health-probe/probe/flags",
		"github.com/grpc-cnb/health-probe/probe/http2",
		"github.com/grpc-cnb/health-probe/probe/lean",
		"github.com/grpc-cnb/health-probe/probe/check/metadata",
		"github.com/grpc-cnb/health-probe/probe/check/outcome",
		"github.com/grpc-cnb/health-probe/probe/check/rawfile",
		"github.com/grpc-cnb/health-probe/probe/check/tlsfiles",
		"github.com/grpc-cnb/health-probe/probe/sockets",
	}
	costly := []string{"net/http", "encoding/json", "text/template", "regexp", "os/signal", "os/exec", "log"}
	for line := range strings.Lines(string(out)) {
		name, standard, _ := strings.Cut(strings.TrimSpace(line), "\t")
		if standard == "false" && !slices.Contains(own, name) {
			t.Errorf("links %s, of another module", name)
		}
		if slices.Contains(costly, name) {
			t.Errorf("links %s", name)
		}
	}
}
