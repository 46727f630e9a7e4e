package harness

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// creator is the platform with Docker Engine and without pack. Each build makes an image of lifecycle, buildpacks and
// app, and runs the lifecycle's creator in the image, as pack does with a trusted builder that has all buildpacks
// (platform spec, creator).
type creator struct {
	*Docker

	api string // of the engine
}

// Creator returns the platform with Docker Engine and without pack. Each build uses the app buildpack, then
// Build.Buildpack.
func (k *Fixture) Creator(ctx context.Context) (Platform, error) {
	api, err := DockerAPI(ctx)
	if err != nil {
		return nil, err
	}
	run, err := k.scratch()
	if err != nil {
		return nil, err
	}
	d, err := k.engine(ctx)
	if err != nil {
		return nil, err
	}
	d.run = d.owned(run)
	if err := d.load(ctx, map[string]base{"run": d.run}); err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return &creator{d, api}, nil
}

// owned returns the base for this machine's architecture, with the label for the removal of the base's images.
func (d *Docker) owned(b base) base {
	b.arch = runtime.GOARCH
	b.labels = maps.Clone(b.labels)
	b.labels[OwnerLabel] = d.prefix
	return b
}

// Build makes an image in the engine.
func (c *creator) Build(ctx context.Context, b Build) (*Image, error) {
	root, err := c.fixture.buildRoot(b, nil)
	if err != nil {
		return nil, err
	}
	layer, err := folderLayer(string(root))
	if err != nil {
		return nil, err
	}
	build := c.run
	build.layers = []v1.Layer{layer}
	build.env = []string{"DOCKER_API_VERSION=" + c.api, "CNB_PLATFORM_API=0.14"}
	if err := c.load(ctx, map[string]base{"build": build}); err != nil {
		return nil, err
	}
	ref := c.Name(b.Name)
	// The creator writes into the engine and so starts as root; buildpacks run as the user of the image.
	args := append([]string{"run", "--rm", "--pull", "never", "--user", "0"}, c.engineFlags()...)
	args = append(args, c.Name("build"), "/cnb/lifecycle/creator", "-daemon", "-no-color", "-app=/workspace",
		"-run-image="+c.Name("run"), ref)
	var out bytes.Buffer
	if b.Log != nil {
		fmt.Fprintf(b.Log, "$ docker %s\n", strings.Join(args, " "))
	}
	cmd := c.command(ctx, "docker", args...)
	cmd.Stdout = tee(&out, b.Log)
	cmd.Stderr = cmd.Stdout
	if err := cmd.Run(); err != nil {
		return nil, &BuildError{Phase: "creator", Log: out.String(), Err: err}
	}
	return c.Image(ctx, ref, out.String())
}

// engineFlags are the flags of docker run for a container's access to the engine.
func (c *creator) engineFlags() []string {
	const inside = "/var/run/docker.sock"
	for _, pair := range c.env {
		host, ok := strings.CutPrefix(pair, "DOCKER_HOST=")
		if !ok {
			continue
		}
		socket, ok := strings.CutPrefix(host, "unix://")
		switch {
		case !ok:
			return []string{"--network", "host", "--env", pair}
		case runtime.GOOS == "linux": // elsewhere the engine is in a virtual machine, with the usual path
			return []string{"--volume", socket + ":" + inside}
		}
	}
	return []string{"--volume", inside + ":" + inside}
}
