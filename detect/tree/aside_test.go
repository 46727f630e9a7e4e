package tree_test

import (
	"testing"

	"github.com/grpc-cnb/health-probe/detect/tree"
)

func TestAsideKnowsWhatIsBesideAnApp(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		file, dir string
		isExample bool
	}{
		{"main.go", "", false},
		{"cmd/server/main.go", "", false},
		{"src/checkout/main.go", "", false},
		{"examples/hotrod/main.go", "examples", true},
		{"rust/examples-grpc/main.rs", "rust/examples-grpc", true},
		{"tools/examples/main.go", "tools", true},
		{"sample-service/main.go", "sample-service", false},
		{"internal/test-server/main.go", "internal/test-server", true},
		{"test-server-code-first/Startup.cs", "test-server-code-first", true},
		{"Samples/Greeter/Program.cs", "Samples", true},
		{"flagd-proxy/main.go", "flagd-proxy", false},
		{"server/grpc_proxy.go", "server/grpc_proxy.go", false},
		{"scripts/bench.py", "scripts", true},
		{"interop/src/server.rs", "interop", true},
		{"tools/load/main.go", "tools", false},
		{"pkg/mock_server/server.go", "pkg/mock_server", false},
		{"app/mock_server.py", "app/mock_server.py", false},
		{"clients/python/server.py", "clients", false},
		{"src/client.js", "src/client.js", false},
		{"greeter_client.py", "greeter_client.py", false},
		{"src/clientele.ts", "", false},
		{"contest/main.go", "", false},
		{"src/main/java/com/example/demo/Server.java", "", false},
		{"src/com/example/Server.kt", "", false},
		{"examples/src/main/java/com/acme/Server.java", "examples", true},
		{"lib/example/application.ex", "", false},
		{"examples/hello/lib/app.ex", "examples", true},
		{"demo/src/main/scala/Server.scala", "demo", false},
	} {
		if dir, isExample := tree.Aside(c.file); dir != c.dir || isExample != c.isExample {
			t.Errorf("%s: %q, example %t, want %q, %t", c.file, dir, isExample, c.dir, c.isExample)
		}
	}
}
