package integration

import (
	"context"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/grpc-cnb/health-probe/integration/harness"
)

// addressFile is where the address is in the image that the build has found.
const addressFile = "/layers/grpc-cnb_health-probe/config/grpc_health_probe.addr"

// servesTLS are the arguments of the app of undetected for TLS.
var servesTLS = []string{"-tls-cert=tls.crt", "-tls-key=tls.key"}

// undetected returns an image of the sample app in the engine, of whose address the build knows nothing. The app has
// two process types, web and other, and a certificate that the probe does not know.
var undetected = sync.OnceValues(func() (*harness.Image, error) {
	platform, err := docker()
	if err != nil {
		return nil, err
	}
	app, err := fixture.StageSample(context.Background(), nil)
	if err != nil {
		return nil, err
	}
	site := httptest.NewTLSServer(nil)
	site.Close()
	pair := site.TLS.Certificates[0]
	key, err := x509.MarshalPKCS8PrivateKey(pair.PrivateKey)
	if err != nil {
		return nil, err
	}
	for name, content := range map[string][]byte{
		"Procfile": []byte("web: ./server\nother: ./server -grpc=:7000\n"),
		"tls.crt":  pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: pair.Certificate[0]}),
		"tls.key":  pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key}),
	} {
		if err := os.WriteFile(filepath.Join(app, name), content, 0o644); err != nil {
			return nil, err
		}
	}
	return platform.Build(context.Background(), harness.Build{
		Name: "undetected", App: app, Buildpack: folder(), Env: []string{"BP_GRPC_HEALTH_PROBE_DETECT_PORT=false"},
	})
})

// TestProbeFindsItsServer executes one command in containers of one image, whose servers listen elsewhere each time.
func TestProbeFindsItsServer(t *testing.T) {
	t.Parallel()
	needDocker(t)
	platform, image := must(docker())(t), must(undetected())(t)
	if _, err := image.ReadFile(addressFile); !errors.Is(err, os.ErrNotExist) {
		t.Fatalf("the build knows an address, with which this proves nothing (error: %v)", err)
	}
	for name, c := range map[string]struct{ flags, args []string }{
		"docker's default": {},
		"restricted": {flags: []string{
			"--read-only", "--cap-drop", "ALL", "--security-opt", "no-new-privileges",
		}},
		"root":               {flags: []string{"--user", "0:0"}},
		"port of a flag":     {args: []string{"-grpc=:6001"}},
		"another port":       {args: []string{"-grpc=:6002"}},
		"loopback":           {args: []string{"-grpc=127.0.0.1:6003"}},
		"TLS":                {args: servesTLS},
		"unix socket":        {args: []string{"-network=unix", "-grpc=/tmp/app.sock"}},
		"abstract socket":    {args: []string{"-network=unix", "-grpc=@app"}},
		"other process type": {flags: []string{"--entrypoint", "other"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := must(platform.RunWith(t.Context(), image, c.flags, c.args...))(t)
			stopAfter(t, server)
			wantExit(t, server, 0, harness.ProbePath)
			flip(t, server, "/make-not-serving")
			wantExit(t, server, 4, harness.ProbePath)
			flip(t, server, "/stop-grpc")
			wantExit(t, server, 2, harness.ProbePath)
		})
	}
}

// TestProbeTakesNoOtherContainersServer has two containers in one network, as in a pod: one serves, and the app of the
// other has not started, or has stopped serving.
func TestProbeTakesNoOtherContainersServer(t *testing.T) {
	t.Parallel()
	needDocker(t)
	platform, image := must(docker())(t), must(undetected())(t)
	serving := []string{"-grpc=:5001", "-http=:8081"}
	// start starts the app, or a program that listens on nothing in its place.
	start := func(t *testing.T, flags []string, args ...string) *harness.Server {
		t.Helper()
		server := must(platform.Detach(t.Context(), image, flags, args...))(t)
		stopAfter(t, server)
		return server
	}
	idle := func(t *testing.T, flags []string) *harness.Server {
		t.Helper()
		return start(t, append(flags, "--entrypoint", harness.ProbePath), "-addr=localhost:1", "-wait=1h")
	}
	wantOwn := func(t *testing.T, down, up *harness.Server) {
		t.Helper()
		wantExit(t, up, 0, harness.ProbePath, "-wait=1m")
		wantExit(t, down, 0, harness.ProbePath, "-addr=localhost:5001") // it can be reached
		wantExit(t, down, 2, harness.ProbePath)
		wantExit(t, up, 0, harness.ProbePath)
	}
	for name, shared := range map[string][]string{
		"network": {"--network"}, "network and processes": {"--network", "--pid"},
	} {
		join := func(first *harness.Server) (flags []string) {
			for _, flag := range shared {
				flags = append(flags, flag, "container:"+first.Container)
			}
			return flags
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			t.Run("not started", func(t *testing.T) {
				t.Parallel()
				down := idle(t, nil)
				wantOwn(t, down, start(t, join(down), serving...))
			})
			t.Run("not started, second container", func(t *testing.T) {
				t.Parallel()
				up := start(t, nil, serving...)
				wantOwn(t, idle(t, join(up)), up)
			})
			t.Run("stopped serving", func(t *testing.T) {
				t.Parallel()
				down := serve(t, platform, image)
				wantExit(t, down, 0, harness.ProbePath)
				up := start(t, join(down), serving...)
				flip(t, down, "/stop-grpc")
				wantOwn(t, down, up)
			})
		})
	}
}

// TestOtherUsersProbe executes the probe as another user than the app's. It tells the container's sockets apart if the
// kernel names their control groups, and else it does not guess.
func TestOtherUsersProbe(t *testing.T) {
	t.Parallel()
	needDocker(t)
	platform, image := must(docker())(t), must(undetected())(t)
	server := serve(t, platform, image)
	as := func(user string, flags ...string) harness.Result {
		t.Helper()
		return must(platform.In(server.Container, "--user", user).Exec(t.Context(),
			append([]string{harness.ProbePath}, flags...)...))(t)
	}
	byGroup := strings.Contains(as("1000:1000", "-o=json").Output, `"own":"cgroup"`)
	info := exec.CommandContext(t.Context(), "docker", "info", "--format", "{{.CgroupVersion}}")
	info.Env = platform.Env()
	if version := strings.TrimSpace(string(must(info.Output())(t))); version == "2" && !byGroup {
		t.Error("control groups have version 2, and the probe does not know its sockets by them")
	}
	code, words := 0, "status: SERVING"
	if !byGroup { // version 1, without a tree of version 2 beside it
		code, words = 2, "set -addr"
	}
	for _, user := range []string{"54321:0", "0:0"} {
		if got := as(user); got.Code != code || !strings.Contains(got.Output, words) {
			t.Errorf("as user %s the probe ends with %+v, want %d and %q", user, got, code, words)
		}
	}
}

// TestDiscover pastes the probes that -discover prints.
func TestDiscover(t *testing.T) {
	t.Parallel()
	needDocker(t)
	platform, image := must(docker())(t), must(undetected())(t)
	for name, c := range map[string]struct {
		args []string
		line string
	}{
		"plain text":  {nil, "localhost:5000: gRPC in plain text; "},
		"TLS":         {servesTLS, "localhost:5000: gRPC with TLS, certificate for "},
		"unix socket": {[]string{"-network=unix", "-grpc=/tmp/app.sock"}, "unix:/tmp/app.sock: gRPC in plain text; "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := serve(t, platform, image, c.args...)
			result := must(server.Exec(t.Context(), harness.ProbePath, "-discover"))(t)
			_, probe, _ := strings.Cut(result.Output, "\n  readinessProbe: ")
			var pasted struct {
				GRPC struct{ Port int }
				Exec struct{ Command []string }
			}
			err := json.NewDecoder(strings.NewReader(probe)).Decode(&pasted)
			if err != nil || !strings.Contains(result.Output, c.line) {
				t.Fatalf("-discover ends with %+v (%v), want a line %q and a probe", result, err, c.line)
			}
			command := pasted.Exec.Command
			if pasted.GRPC.Port != 0 { // what the kubelet would ask
				command = []string{harness.ProbePath, fmt.Sprintf("-addr=localhost:%d", pasted.GRPC.Port)}
			}
			wantExit(t, server, 0, command...)
			flip(t, server, "/make-not-serving")
			wantExit(t, server, 4, command...)
		})
	}
}
