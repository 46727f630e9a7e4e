package cluster

import (
	"context"
	"fmt"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/mutate"

	"github.com/grpc-cnb/health-probe/integration/documents"
	"github.com/grpc-cnb/health-probe/integration/harness"
)

// The images of the examples' app.
const (
	// AppImage is the app under the examples' name, with the bridge beside the probe.
	AppImage = "registry.example.com/my-app:1.0.0"
	// LaunchImage is the app with a launcher that starts the bridge.
	LaunchImage = "registry.example.com/my-app:1.0.0-launch"
	// NewImage and NewLaunchImage are new versions of AppImage and LaunchImage.
	NewImage       = "registry.example.com/my-app:1.0.1"
	NewLaunchImage = "registry.example.com/my-app:1.0.1-launch"
	// BadImage is a version whose server has no health service.
	BadImage = "registry.example.com/my-app:1.0.2"
	// FullImage has the probe's full variant.
	FullImage = "registry.example.com/my-app:1.0.0-full"
	// OtherImage is the same app in an image made without buildpacks.
	OtherImage = "registry.example.com/other-app:1.0.0"
)

// ProbeImage has the probe and the bridge alone. The tags are a release's.
const ProbeImage = "ghcr.io/grpc-cnb/grpc-health-probe"

// PushImages pushes the images that every pod needs, and builds and pushes the images of the sample app with pack.
func (c *Cluster) PushImages(ctx context.Context, fixture *harness.Fixture, docker *harness.Docker) error {
	for ref, source := range map[string]string{
		PauseImage: "integration/cluster/pause", OtherImage: "integration/sample",
	} {
		image, err := fixture.ProgramImage(ctx, source)
		if err != nil {
			return err
		}
		if err := c.Push(ctx, ref, image); err != nil {
			return err
		}
	}
	if err := c.pushProbe(ctx, fixture); err != nil {
		return err
	}
	defer fixture.Step("building the images with pack")()
	app, err := fixture.StageSample(ctx, nil)
	if err != nil {
		return err
	}
	images := map[string]v1.Image{}
	for ref, env := range map[string][]string{
		AppImage:    {"BP_GRPC_HEALTH_PROBE_BRIDGE=true"},
		FullImage:   {"BP_GRPC_HEALTH_PROBE_BRIDGE=true", "BP_GRPC_HEALTH_PROBE_VARIANT=full"},
		LaunchImage: {"BP_GRPC_HEALTH_PROBE_BRIDGE=launch"},
	} {
		_, tag, _ := strings.Cut(ref, ":")
		image, err := docker.Build(ctx, harness.Build{
			Name: "app-" + tag, App: app, Buildpack: fixture.Dist("buildpack"), Env: env,
		})
		if err != nil {
			return err
		}
		images[ref] = image.Image
	}
	for ref, change := range map[string]struct {
		of   string
		args []string
	}{
		NewImage:       {AppImage, []string{"-service="}},
		NewLaunchImage: {LaunchImage, []string{"-service="}},
		BadImage:       {AppImage, []string{"-no-health"}},
	} {
		if images[ref], err = withDefaults(images[change.of], change.args); err != nil {
			return err
		}
	}
	for ref, image := range images {
		if err := c.Push(ctx, ref, image); err != nil {
			return err
		}
	}
	return nil
}

// pushProbe publishes the image of the probe and the bridge, as a release does.
func (c *Cluster) pushProbe(ctx context.Context, fixture *harness.Fixture) error {
	defer fixture.Step("publishing the image of the probe")()
	version, err := documents.Version(fixture.Repository())
	if err != nil {
		return err
	}
	clone, err := fixture.Checkout(ctx, "v"+version)
	if err != nil {
		return err
	}
	_, repository, _ := strings.Cut(ProbeImage, "/")
	_, err = fixture.Script(ctx, clone, nil, "publish.sh", "--probe", c.Registry()+"/"+repository)
	return err
}

// withDefaults returns an image with new default arguments of the default process.
func withDefaults(image v1.Image, args []string) (v1.Image, error) {
	file, err := image.ConfigFile()
	if err != nil {
		return nil, fmt.Errorf("reading an image's configuration: %w", err)
	}
	config := file.Config
	config.Cmd = args
	return mutate.Config(image, config)
}
