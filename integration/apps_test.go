package integration

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/grpc-cnb/health-probe/integration/harness"
)

// buildpackLabel is the label that the product puts on an image.
const buildpackLabel = "io.github.grpc-cnb.health-probe"

// app is an app in integration/apps that serves gRPC.
type app struct {
	folder   string
	language string // as the label has it
	title    string // language and framework, as the log has them
	file     string
	server   string // what the line of the file has that makes the server
	health   string // what the line of the file has that registers the health service; empty if none does
	port     int
}

var apps = []app{
	{"python/server", "python", "Python, grpcio", "server.py", "grpc.server(", "add_HealthServicer_to_server(", 50061},
	{"python/bare", "python", "Python, grpcio", "server.py", "grpc.aio.server(", "", 50062},
	{"ruby/server", "ruby", "Ruby, grpc", "server.rb", "GRPC::RpcServer.new", "Grpc::Health::Checker.new", 50063},
	{
		"cpp/server", "cpp", "C++, grpc++", "server.cc", "builder.BuildAndStart()",
		"EnableDefaultHealthCheckService(true)", 50064,
	},
	{
		"java/server", "java", "Java, grpc-java", "Server.java", "ServerBuilder.forPort(",
		"extends HealthGrpc.HealthImplBase", 50065,
	},
	{
		"kotlin/server", "kotlin", "Kotlin, grpc-kotlin", "Server.kt", "ServerBuilder.forPort(",
		": HealthGrpc.HealthImplBase", 50066,
	},
}

// clients are apps that only call a gRPC server.
var clients = []string{"python/client", "ruby/client", "cpp/client", "java/client", "kotlin/client"}

// TestApps builds images of apps in several languages, with the buildpack in its default mode, runs them and probes
// them as the build log says.
func TestApps(t *testing.T) {
	needDebian(t)
	go debian() // takes minutes, in which other tests run
	t.Parallel()
	for _, a := range apps {
		t.Run(a.folder, func(t *testing.T) {
			t.Parallel()
			platform := must(debian())(t)
			image := buildApp(t, platform, a.folder)
			a.wantLog(t, image)
			a.wantLabel(t, image)
			server := must(platform.Start(t.Context(), image, t.Output()))(t)
			stopAfter(t, server)
			a.wantProbed(t, server, execOf(t, image))
		})
	}
	for _, folder := range clients {
		t.Run(folder, func(t *testing.T) {
			t.Parallel()
			image := buildApp(t, must(debian())(t), folder)
			wantEqual(t, image, "the buildpack's layers", ourLayers(t, image), map[string]string{})
			wantEqual(t, image, "the buildpack's label", must(image.Label(buildpackLabel))(t), "")
			wantEqual(t, image, "processes", processes(t, image), []string{"web"})
		})
	}
}

func buildApp(t *testing.T, platform harness.Platform, folder string) *harness.Image {
	t.Helper()
	return must(platform.Build(t.Context(), harness.Build{
		Name: strings.ReplaceAll(folder, "/", "-"), App: must(fixture.StageApp(folder))(t),
	}))(t)
}

// place is the file and the line that has the text, as the log has it.
func (a app) place(t *testing.T, text string) string {
	t.Helper()
	content := must(os.ReadFile(filepath.Join("apps", a.folder, a.file)))(t)
	before, _, ok := strings.Cut(string(content), text)
	if !ok {
		t.Fatalf("%s of %s has no %q", a.file, a.folder, text)
	}
	return fmt.Sprintf("%s:%d", a.file, 1+strings.Count(before, "\n"))
}

func (a app) wantLog(t *testing.T, image *harness.Image) {
	t.Helper()
	found := fmt.Sprintf("%s (%s); health service ", a.title, a.place(t, a.server))
	if a.health == "" {
		found += "not registered"
		wantInLog(t, image, "until it registers grpc.health.v1.Health: ")
	} else {
		found += fmt.Sprintf("registered (%s)", a.place(t, a.health))
	}
	wantInLog(t, image, "gRPC server: "+found)
}

func (a app) wantLabel(t *testing.T, image *harness.Image) {
	t.Helper()
	var label struct{ Path, Language, Health string }
	text := must(image.Label(buildpackLabel))(t)
	if err := json.Unmarshal([]byte(text), &label); err != nil {
		t.Fatalf("reading the label %q: %v\n%s", text, err, image.Log)
	}
	wantEqual(t, image, "path in the label", label.Path, harness.ProbePath)
	wantEqual(t, image, "language in the label", label.Language, a.language)
	health := "registered"
	if a.health == "" {
		health = "missing"
	}
	wantEqual(t, image, "health in the label", label.Health, health)
}

// execOf is the command of the exec probe that the build log says to paste.
func execOf(t *testing.T, image *harness.Image) []string {
	t.Helper()
	_, rest, _ := strings.Cut(image.Log, "command: [")
	list, _, ok := strings.Cut(rest, "]")
	var command []string
	if err := json.Unmarshal([]byte("["+list+"]"), &command); err != nil || !ok {
		t.Fatalf("the log has no exec probe:\n%s", image.Log)
	}
	return command
}

// wantProbed waits for the app to serve, and executes the probe in the states that the app can have.
func (a app) wantProbed(t *testing.T, server *harness.Server, command []string) {
	t.Helper()
	wait := slices.Concat(command, []string{"-wait=60s", "-timeout=60s"})
	if a.health == "" {
		wantExit(t, server, 0, append(wait, "-mode=live")...)
		wantExit(t, server, 3, command...)
		return
	}
	wantExit(t, server, 0, wait...)
	wantExit(t, server, 0, command...)
	wantExit(t, server, 0, "sh", "-c", "kill -HUP 1") // asks the app to be NOT_SERVING
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		if must(server.Exec(t.Context(), command...))(t).Code == 4 {
			break
		}
	}
	wantExit(t, server, 4, command...)
}

func wantInLog(t *testing.T, image *harness.Image, want string) {
	t.Helper()
	if !strings.Contains(image.Log, want) {
		t.Errorf("the log has no %q:\n%s", want, image.Log)
	}
}
