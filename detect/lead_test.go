package detect_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/grpc-cnb/health-probe/detect"
	"github.com/grpc-cnb/health-probe/internal/config"
)

// lines collects the lines of a log.
type lines []string

func (l *lines) Headerf(format string, args ...any) { *l = append(*l, fmt.Sprintf(format, args...)) }

func (l *lines) Debugf(format string, args ...any) {
	if line := fmt.Sprintf(format, args...); !strings.HasPrefix(line, "evidence: ") &&
		!strings.HasPrefix(line, "server at ") {
		*l = append(*l, "debug: "+line)
	}
}

const (
	clientSource = "package lib\n\nfunc Dial() {}\n"
	springSource = "import org.springframework.grpc.server.service.GrpcService;\n" +
		"@GrpcService\nclass Orders extends OrdersGrpc.OrdersImplBase {}\n"
	builderSource = "#include <grpcpp/grpcpp.h>\nvoid serve() {\n  grpc::ServerBuilder builder;\n" +
		"  auto server = builder.BuildAndStart();\n}\n"
)

// Each app has files, variables of the build, and what the log says of its servers, without what is in brackets.
var leads = map[string]struct {
	files   map[string]string
	environ map[string]string
	want    []string
}{
	"one server": {map[string]string{"main.go": serverSource}, nil, []string{"main.go:5"}},
	"the module that is built": {
		map[string]string{"cmd/a/main.go": serverSource, "cmd/b/main.go": serverSource},
		map[string]string{"BP_GO_TARGETS": "./cmd/b"},
		[]string{"cmd/b/main.go:5", "cmd/a/main.go:5", "The server at cmd/b/main.go:5 leads: built by $BP_GO_TARGETS"},
	},
	"a module that does not exist": {
		map[string]string{"cmd/a/main.go": serverSource},
		map[string]string{"BP_GO_TARGETS": "./cmd/c"},
		[]string{"cmd/a/main.go:5", `Warning: $BP_GO_TARGETS names "./cmd/c", which does not exist`},
	},
	"a module without a server": {
		map[string]string{"cmd/a/main.go": serverSource, "cmd/c/main.go": clientSource, "project.toml": `
[[io.buildpacks.build.env]]
name = "BP_GO_TARGETS"
value = "./cmd/c"
`},
		nil,
		[]string{
			"cmd/a/main.go:5",
			`Warning: $BP_GO_TARGETS in project.toml names "./cmd/c", where no gRPC server is found: ` +
				"whether the app serves gRPC, and where, is not known",
		},
	},
	"nothing but the path": {
		map[string]string{"a/main.go": serverSource, "b/main.go": serverSource},
		nil,
		[]string{
			"a/main.go:5", "b/main.go:5",
			"The server at a/main.go:5 leads: first by path (variables of the build and a Procfile say which is built)",
		},
	},
	"a server of another language in an example": {
		map[string]string{
			"src/main/java/Orders.java": springSource, "pom.xml": springPOM, "examples/client/server.cc": builderSource,
		},
		nil,
		[]string{
			"src/main/java/Orders.java:2",
			"debug: gRPC servers of examples or tests left out: 1, the first one at examples/client/server.cc:4",
		},
	},
	"a server of another language in a plugin": {
		map[string]string{
			"src/main/java/Orders.java": springSource, "pom.xml": springPOM, "plugins/cpp/server.cc": builderSource,
		},
		nil,
		[]string{
			"src/main/java/Orders.java:2", "plugins/cpp/server.cc:4",
			"The server at src/main/java/Orders.java:2 leads: the others are beside the app, in tools or tests",
		},
	},
	"a server that a program carries as its data": {
		map[string]string{
			"app/run.go":           "package app\n\n//go:embed all:runner\nvar runner embed.FS\n",
			"app/serve.go":         strings.Replace(serverSource, "main", "app", 1),
			"app/runner/server.py": "import grpc\nif __name__ == '__main__':\n    server = grpc.server(None)\n",
		},
		nil,
		[]string{
			"app/serve.go:5", "app/runner/server.py:3",
			"The server at app/serve.go:5 leads: the others are beside the app, in tools or tests",
		},
	},
	"a program for tests beside a server": {
		map[string]string{
			"main.go": serverSource, "check.py": "import grpc\nserver = grpc.server(None)\n",
			"BUILD": "py_binary(\n  testonly = 1,\n  srcs = ['check.py'],\n)\n",
		},
		nil,
		[]string{"main.go:5"},
	},
	"a program for tests alone": {
		map[string]string{
			"check.py": "import grpc\nserver = grpc.server(None)\n",
			"BUILD":    "py_binary(\n  testonly = 1,\n  srcs = ['check.py'],\n)\n",
		},
		nil,
		[]string{"check.py:2"},
	},
	"a library with examples": {
		map[string]string{"lib.go": clientSource, "examples/hello/main.go": serverSource},
		nil,
		[]string{
			"gRPC servers of examples or tests left out: 1, the first one at examples/hello/main.go:5",
			"No gRPC server found",
		},
	},
	"a library with a test server that is built": {
		map[string]string{"lib.go": clientSource, "cmd/test-server/main.go": serverSource},
		map[string]string{"GOOGLE_BUILDABLE": "cmd/test-server"},
		[]string{"cmd/test-server/main.go:5"},
	},
	"nothing but examples": {
		map[string]string{
			"examples/a/main.go": serverSource, "examples/b/main.go": clientSource, "common.go": clientSource,
			"build.sh": "",
		},
		nil,
		[]string{"examples/a/main.go:5"},
	},
	"a tool that is all there is": {
		map[string]string{"lib.go": clientSource, "tools/serve/main.go": serverSource},
		nil,
		[]string{"tools/serve/main.go:5"},
	},
}

const springPOM = "<project><dependencies><dependency><groupId>org.springframework.grpc</groupId>" +
	"<artifactId>spring-grpc-server-spring-boot-starter</artifactId><version>1.0.0</version>" +
	"</dependency></dependencies></project>"

func TestTheLogSaysWhichServerLeads(t *testing.T) {
	for name, app := range leads {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for path, text := range app.files {
				write(t, filepath.Join(dir, path), text)
			}
			for name, value := range app.environ {
				t.Setenv(name, value)
			}
			var log lines
			if _, err := detect.Servers(dir, config.EnabledAuto, &log); err != nil {
				t.Fatal(err)
			}
			if got := said(log); !slices.Equal(got, app.want) {
				t.Errorf("the log says\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(app.want, "\n"))
			}
		})
	}
}

// said returns what a log says of servers, by their lines alone, and without what health services they have.
func said(log lines) []string {
	var all []string
	for _, line := range log {
		if server, ok := strings.CutPrefix(line, "gRPC server found: "); ok {
			_, at, _ := strings.Cut(server, "(")
			line, _, _ = strings.Cut(at, ")")
		}
		line, _, _ = strings.Cut(line, ": looked for")
		if !strings.HasPrefix(line, "Warning: probes of") && !strings.HasPrefix(line, "Warning: no health") {
			all = append(all, line)
		}
	}
	return all
}

// What is known of a server is no default of the probe in an image that another program is built for.
func TestNothingIsKnownOfAServerThatIsNotBuilt(t *testing.T) {
	const listening = "package main\n\nimport (\n\t\"net\"\n\n\t\"google.golang.org/grpc\"\n)\n\nfunc main() {\n" +
		"\tlis, _ := net.Listen(\"tcp\", \":50051\")\n\tgrpc.NewServer().Serve(lis)\n}\n"
	for targets, want := range map[string]string{
		"":                "port 50051, cmd/a/main.go:10; plaintext",
		"./cmd/a":         "port 50051, cmd/a/main.go:10; plaintext",
		"./cmd/c":         "health service not known; port not known; TLS or plaintext not known",
		"./cmd/c:./cmd/a": "port 50051, cmd/a/main.go:10; plaintext",
		"./cmd/missing":   "port 50051, cmd/a/main.go:10; plaintext",
	} {
		t.Run(targets, func(t *testing.T) {
			dir := t.TempDir()
			write(t, filepath.Join(dir, "cmd/a/main.go"), listening)
			write(t, filepath.Join(dir, "cmd/c/main.go"), clientSource)
			t.Setenv("BP_GO_TARGETS", targets)
			var log lines
			if _, err := detect.Servers(dir, config.EnabledAuto, &log); err != nil {
				t.Fatal(err)
			}
			if !strings.HasSuffix(log[0], want) {
				t.Errorf("the log says\n%s\nwant\n%s", log[0], want)
			}
		})
	}
}
