// Package integration holds the product's promises against the real thing: images are built by the real pack and
// lifecycle in Docker, and by the same lifecycle without, and the probe is executed in what they made. scripts/build.sh
// and scripts/package.sh make what is tested. Begin with eachRoad, and with TestApps for languages other than Go.
package integration

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"sync"
	"testing"

	"github.com/grpc-cnb/health-probe/integration/harness"
)

// buildpackID is the product's own.
const buildpackID = "grpc-cnb/health-probe"

var kit *harness.Kit

func TestMain(m *testing.M) {
	code, err := testMain(m)
	if err != nil {
		fmt.Fprintf(os.Stderr, "error: %v\n", err)
		code = 1
	}
	os.Exit(code)
}

func testMain(m *testing.M) (code int, err error) {
	kit, err = harness.New(context.Background(), "..", os.Stderr)
	if err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, closeRoads(), kit.Close()) }()
	return m.Run(), nil
}

// The roads are made when the first test asks and shared by all. The plain ones need the buildpack named by each build;
// the optional ones have it in their order, optional.
var (
	docker         = shared(func() (*harness.Docker, error) { return kit.Docker(context.Background()) })
	dockerOptional = shared(func() (*harness.Docker, error) { return kit.Docker(context.Background(), folder()) })
	dockerOldest   = shared(func() (*harness.Docker, error) { return kit.DockerOldest(context.Background(), folder()) })
	dockerOther    = shared(func() (*harness.Docker, error) { return kit.DockerAs(context.Background(), 1234, 2345, folder()) })
	debian         = shared(func() (*harness.Docker, error) { return kit.Debian(context.Background(), folder()) })
	phases         = shared(func() (harness.Road, error) { return kit.Phases(runtime.GOARCH) })
	phasesOptional = shared(func() (harness.Road, error) { return kit.Phases(runtime.GOARCH, folder()) })
	phasesARM64    = shared(func() (harness.Road, error) { return kit.Phases("arm64") })

	sample = sync.OnceValues(func() (string, error) { return kit.StageSample(context.Background(), nil) })
)

// probed is an image of the sample app in the engine, with the probe and default flags, for tests that do no more with an
// image than run it.
var probed = sync.OnceValues(func() (*harness.Image, error) {
	road, err := docker()
	if err != nil {
		return nil, err
	}
	app, err := sample()
	if err != nil {
		return nil, err
	}
	return road.Build(context.Background(), harness.Build{Name: "probed", App: app, Buildpack: folder(), Env: []string{probedArgs}})
})

const probedArgs = argsEnv + "-addr=localhost:5000"

var opened struct {
	sync.Mutex
	roads []io.Closer
}

// shared makes a road once and has closeRoads close it.
func shared[R io.Closer](open func() (R, error)) func() (R, error) {
	return sync.OnceValues(func() (R, error) {
		road, err := open()
		if err == nil {
			opened.Lock()
			defer opened.Unlock()
			opened.roads = append(opened.roads, road)
		}
		return road, err
	})
}

func closeRoads() error {
	var errs []error
	for _, road := range opened.roads {
		errs = append(errs, road.Close())
	}
	return errors.Join(errs...)
}

// folder is the buildpack under test.
func folder() string { return kit.Dist("buildpack") }

// needDocker fails the test where Docker has to be there and is not, and leaves it out where it does not have to.
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

// needDebian fails the test where a Debian has to be made in Docker and cannot, and leaves it out where it does not have to.
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

// eachRoad runs a test on both roads, with the buildpack named by each build.
func eachRoad(t *testing.T, test func(t *testing.T, road harness.Road)) {
	onRoads(t, docker, phases, test)
}

// eachOptionalRoad runs a test on both roads, with the buildpack optional in the order, after the app buildpack.
func eachOptionalRoad(t *testing.T, test func(t *testing.T, road harness.Road)) {
	onRoads(t, dockerOptional, phasesOptional, test)
}

func onRoads(
	t *testing.T, docker func() (*harness.Docker, error), phases func() (harness.Road, error),
	test func(t *testing.T, road harness.Road),
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
