// Package integration tests the product with the real tools: pack and the lifecycle build images in Docker, the same
// lifecycle builds them without Docker, and the probe is executed in these images. scripts/build.sh and
// scripts/package.sh make what is tested. Begin with eachPlatform, and with TestApps for languages other than Go.
package integration

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/grpc-cnb/health-probe/integration/documents"
	"github.com/grpc-cnb/health-probe/integration/harness"
)

// buildpackID is the ID of the product's buildpack.
const buildpackID = "grpc-cnb/health-probe"

var fixture *harness.Fixture

func TestMain(m *testing.M) {
	code, err := testMain(m)
	if err != nil {
		fmt.Fprintf(os.Stderr, "error: %v\n", err)
		code = 1
	}
	os.Exit(code)
}

func testMain(m *testing.M) (code int, err error) {
	fixture, err = harness.New(context.Background(), "..", os.Stderr)
	if err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, closePlatforms(), fixture.Close()) }()
	return m.Run(), nil
}

// The platforms are made when a test first uses them, and all tests share them. With the plain ones each build names
// the buildpack; the optional ones have it in their order as an optional member.
var (
	docker         = shared(func() (*harness.Docker, error) { return fixture.Docker(context.Background()) })
	dockerOptional = shared(func() (*harness.Docker, error) { return fixture.Docker(context.Background(), folder()) })
	dockerOldest   = shared(func() (d *harness.Docker, err error) {
		return fixture.DockerOldest(context.Background(), folder())
	})
	dockerOther = shared(func() (d *harness.Docker, err error) {
		return fixture.DockerAs(context.Background(), 1234, 2345, folder())
	})
	debian         = shared(func() (*harness.Docker, error) { return fixture.Debian(context.Background(), folder()) })
	phases         = shared(func() (harness.Platform, error) { return fixture.Phases(runtime.GOARCH) })
	phasesOptional = shared(func() (harness.Platform, error) { return fixture.Phases(runtime.GOARCH, folder()) })

	otherArch       = map[string]string{"amd64": "arm64", "arm64": "amd64"}[runtime.GOARCH]
	phasesOtherArch = shared(func() (harness.Platform, error) { return fixture.Phases(otherArch) })

	sample = sync.OnceValues(func() (string, error) { return fixture.StageSample(context.Background(), nil) })
)

// probed returns an image of the sample app in the engine, with the probe, the bridge and default flags, for tests that
// only run an image.
var probed = builtOnce("probed", probedArgs, bridgeEnv+"true")

// builtOnce returns an image of the sample app in the engine, which the first test that needs it builds.
func builtOnce(name string, env ...string) func() (*harness.Image, error) {
	return sync.OnceValues(func() (*harness.Image, error) {
		platform, err := docker()
		if err != nil {
			return nil, err
		}
		app, err := sample()
		if err != nil {
			return nil, err
		}
		return platform.Build(context.Background(),
			harness.Build{Name: name, App: app, Buildpack: folder(), Env: env})
	})
}

// packaged returns the product as an image in the engine. It stands for the published image, which the examples name.
var packaged = sync.OnceValues(func() (string, error) {
	platform, err := docker()
	if err != nil {
		return "", err
	}
	// Without a tag pack takes a short name for one in the registry of buildpacks.
	name := platform.Name("package:0.1.0")
	_, err = platform.Pack(context.Background(), "buildpack", "package", name, "--format", "image", "--path", folder(),
		"--target", "linux/"+runtime.GOARCH, "--pull-policy", "never")
	return name, err
})

// withLocalProduct returns the text of an example, with the image in the engine in place of the published one, which it
// has to name.
func withLocalProduct(t *testing.T, text string) string {
	t.Helper()
	published := "ghcr.io/grpc-cnb/health-probe:" + must(documents.Version(repository))(t)
	if !strings.Contains(text, published) {
		t.Fatalf("the example does not name %s:\n%s", published, text)
	}
	return strings.ReplaceAll(text, published, must(packaged())(t))
}

const (
	probedArgs = argsEnv + "-addr=localhost:5000"
	bridgeEnv  = "BP_GRPC_HEALTH_PROBE_BRIDGE="
)

var opened struct {
	sync.Mutex
	platforms []io.Closer
}

// shared makes a platform once and has closePlatforms close it.
func shared[R io.Closer](open func() (R, error)) func() (R, error) {
	return sync.OnceValues(func() (R, error) {
		platform, err := open()
		if err == nil {
			opened.Lock()
			defer opened.Unlock()
			opened.platforms = append(opened.platforms, platform)
		}
		return platform, err
	})
}

func closePlatforms() error {
	var errs []error
	for _, platform := range opened.platforms {
		errs = append(errs, platform.Close())
	}
	return errors.Join(errs...)
}

// folder is the buildpack under test.
func folder() string { return fixture.Dist("buildpack") }

// needDocker skips the test if Docker does not answer. With CI=true it fails the test instead.
func needDocker(t *testing.T) {
	t.Helper()
	_, err := harness.DockerAPI(t.Context())
	if err == nil {
		return
	}
	if os.Getenv("CI") == "true" {
		t.Fatalf("CI=true needs Docker: %v", err)
	}
	t.Skip("left out: it needs Docker, and none answers")
}

// needDebian skips the test if no Debian can be made in Docker. With CI=true it fails the test instead.
func needDebian(t *testing.T) {
	t.Helper()
	needDocker(t)
	err := harness.DebianNeeds()
	if err == nil {
		return
	}
	if os.Getenv("CI") == "true" {
		t.Fatalf("CI=true needs %v", err)
	}
	t.Skipf("left out: it needs %v", err)
}

// eachPlatform runs a test on both platforms, with the buildpack named by each build.
func eachPlatform(t *testing.T, test func(t *testing.T, platform harness.Platform)) {
	onPlatforms(t, docker, phases, test)
}

// eachOptionalPlatform runs a test on both platforms, with the buildpack optional in the order, after the app
// buildpack.
func eachOptionalPlatform(t *testing.T, test func(t *testing.T, platform harness.Platform)) {
	onPlatforms(t, dockerOptional, phasesOptional, test)
}

func onPlatforms(
	t *testing.T, docker func() (*harness.Docker, error), phases func() (harness.Platform, error),
	test func(t *testing.T, platform harness.Platform),
) {
	t.Parallel()
	t.Run("docker", func(t *testing.T) {
		t.Parallel()
		needDocker(t)
		test(t, must(docker())(t))
	})
	t.Run("phases", func(t *testing.T) {
		t.Parallel()
		test(t, must(phases())(t))
	})
}

// must unwraps the results of a call: must(f())(t).
func must[T any](value T, err error) func(t *testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
}
