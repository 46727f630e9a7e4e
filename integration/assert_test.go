package integration

import (
	"context"
	"encoding/json"
	"reflect"
	"runtime"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/grpc-cnb/health-probe/build/labeltest"
	"github.com/grpc-cnb/health-probe/integration/harness"
)

const arch = runtime.GOARCH

// serve runs the image until the test ends.
func serve(t *testing.T, platform harness.Platform, image *harness.Image, args ...string) *harness.Server {
	t.Helper()
	server := must(platform.Run(t.Context(), image, args...))(t)
	stopAfter(t, server)
	return server
}

// stopAfter ends the server with the test. If the test failed, it says first in which state the server was, such as
// exited, with which code.
func stopAfter(t *testing.T, server *harness.Server) {
	t.Cleanup(func() {
		if t.Failed() {
			state, err := server.State(context.Background())
			t.Logf("the container when the test ended: %+v (error: %v)", state, err)
		}
		if err := server.Stop(); err != nil {
			t.Errorf("stopping the server: %v", err)
		}
	})
}

// wantExit executes a program beside the server and compares its exit code.
func wantExit(t *testing.T, server *harness.Server, code int, args ...string) {
	t.Helper()
	result := must(server.Exec(t.Context(), args...))(t)
	if result.Code != code {
		t.Errorf("exit code of %q is %d, want %d\n%s", args, result.Code, code, result.Output)
	}
}

// wantServing checks the image's label, runs the image and probes it.
func wantServing(t *testing.T, platform harness.Platform, image *harness.Image) {
	t.Helper()
	if err := labeltest.Check(repository, must(image.Label(buildpackLabel))(t)); err != nil {
		t.Error(err)
	}
	server := serve(t, platform, image)
	wantExit(t, server, 0, harness.ProbePath, "-addr="+server.GRPC)
}

// wantEqual compares a property of an image.
func wantEqual[T any](t *testing.T, image *harness.Image, what string, got, want T) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s of the image are\n%v, want\n%v\n%s", what, got, want, image.Log)
	}
}

// diffIDs are the digests of all of the image's layers.
func diffIDs(t *testing.T, image *harness.Image) []v1.Hash {
	t.Helper()
	return must(image.ConfigFile())(t).RootFS.DiffIDs
}

// ourLayers are the digests of the product's layers in the image.
func ourLayers(t *testing.T, image *harness.Image) map[string]string {
	t.Helper()
	return must(image.Layers(buildpackID))(t)
}

// processes are the types of the image's processes (platform spec, io.buildpacks.build.metadata).
func processes(t *testing.T, image *harness.Image) []string {
	t.Helper()
	var metadata struct{ Processes []struct{ Type string } }
	label := must(image.Label("io.buildpacks.build.metadata"))(t)
	if err := json.Unmarshal([]byte(label), &metadata); err != nil {
		t.Fatalf("reading the build metadata %q: %v", label, err)
	}
	var types []string
	for _, process := range metadata.Processes {
		types = append(types, process.Type)
	}
	return types
}
