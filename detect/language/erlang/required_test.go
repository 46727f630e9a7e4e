package erlang

import (
	"testing"

	"github.com/grpc-cnb/health-probe/detect/tree"
)

func TestFilesThatAreRead(t *testing.T) {
	t.Parallel()
	for file, want := range map[string]bool{
		"src/app.erl": true, "config/sys.config": true, "config/sys.config.src": true, "src/app.app.src": true,
		"src/app_SUITE.erl": false, "src/app_tests.erl": false, "src/order_pb.erl": false, "src/order_bhvr.erl": false,
		"elvis.config": false, "config/dev.sys.config": false, "config/shell.config": false,
		"test/app.erl": false, "deps/a/src/a.erl": false, "src/a.src": false, "README": false,
	} {
		if got := required(file); got != want {
			t.Errorf("%s is read: %t", file, got)
		}
	}
}

// The applications of one release are one project.
func TestManifestsThatBeginAProject(t *testing.T) {
	t.Parallel()
	for file, want := range map[string]bool{
		"rebar.config": true, "orders/rebar.config": true, "apps/rebar.config": true,
		"apps/orders/rebar.config": false, "lib/orders/rebar.config": false,
	} {
		result, err := analyze(tree.NewText(file, nil))
		if err != nil || result.ProjectRoot != want {
			t.Errorf("%s begins a project: %t, error %v", file, result.ProjectRoot, err)
		}
	}
}
