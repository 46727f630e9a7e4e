package harness

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

// Docker is the road through pack and Docker Engine. All that it puts into the engine has a name with a prefix of its
// own, which Close removes.
type Docker struct {
	kit     *Kit
	pack    string // the program
	prefix  string
	env     []string // of docker and pack
	builder string
	started atomic.Int64 // containers
}

// ownerLabel is on the base images, and so on all that is built on them: builders, apps, what a rebuild replaced, and
// the containers of all these.
const ownerLabel = "io.github.grpc-cnb.health-probe.test"

// DockerAPI is the API version of the Docker Engine here; an error where none answers.
func DockerAPI(ctx context.Context) (string, error) {
	return run(exec.CommandContext(ctx, "docker", "version", "--format", "{{.Server.APIVersion}}"))
}

// Docker makes base images, lifecycle image and builder in the engine. The builder's order is the app buildpack, then
// the optional buildpacks (folders).
func (k *Kit) Docker(ctx context.Context, optional ...string) (*Docker, error) {
	api, err := DockerAPI(ctx)
	if err != nil {
		return nil, err
	}
	pack, err := k.tool(ctx, "pack")
	if err != nil {
		return nil, err
	}
	d := &Docker{kit: k, pack: pack, prefix: "health-probe-" + strings.ToLower(rand.Text()[:10])}
	if d.env, err = d.environment(ctx); err != nil {
		return nil, err
	}
	if err := errors.Join(d.loadBases(ctx, api), d.createBuilder(ctx, optional)); err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return d, nil
}

// environment keeps pack and docker away from the user's settings, but for the engine to talk to.
func (d *Docker) environment(ctx context.Context) ([]string, error) {
	home, err := d.kit.tempFolder("pack")
	if err != nil {
		return nil, err
	}
	env := append(os.Environ(), "PACK_HOME="+home, "DOCKER_CONFIG="+home, "PACK_VOLUME_KEY="+d.prefix, "NO_COLOR=1")
	if os.Getenv("DOCKER_HOST") != "" {
		return env, nil
	}
	host, err := run(exec.CommandContext(ctx, "docker", "context", "inspect", "--format", "{{.Endpoints.docker.Host}}"))
	return append(env, "DOCKER_HOST="+host), err
}

// loadBases puts run image, build image and lifecycle image into the engine. The lifecycle's Docker client asks for an
// API of its own time and does not negotiate: its images name the one of the engine.
func (d *Docker) loadBases(ctx context.Context, api string) error {
	layer, err := d.kit.tempFolder("lifecycle-image")
	if err != nil {
		return err
	}
	lifecycle := os.DirFS(filepath.Join(d.kit.lifecycle, "lifecycle"))
	if err := os.CopyFS(filepath.Join(layer, "cnb/lifecycle"), lifecycle); err != nil {
		return err
	}
	talk := []string{"DOCKER_API_VERSION=" + api}
	for name, image := range map[string]base{
		"run":       {},
		"build":     {env: talk},
		"lifecycle": {env: talk, folders: []string{layer}},
	} {
		image.arch = runtime.GOARCH
		image.labels = map[string]string{ownerLabel: d.prefix}
		if err := d.load(ctx, name, image); err != nil {
			return err
		}
	}
	return nil
}

// load puts a base image into the engine.
func (d *Docker) load(ctx context.Context, short string, b base) error {
	image, err := d.kit.baseImage(b)
	if err != nil {
		return err
	}
	tag, err := name.NewTag(d.Name(short))
	if err != nil {
		return err
	}
	var file bytes.Buffer
	if err := tarball.Write(tag, image, &file); err != nil {
		return fmt.Errorf("writing image %q: %w", tag, err)
	}
	cmd := d.command(ctx, "docker", "load")
	cmd.Stdin = &file
	_, err = run(cmd)
	return err
}

// createBuilder makes the builder with pack.
func (d *Docker) createBuilder(ctx context.Context, optional []string) error {
	folder, err := d.kit.tempFolder("builder")
	if err != nil {
		return err
	}
	archived := filepath.Join(folder, "lifecycle.tgz")
	if err := archiveFile(archived, d.kit.lifecycle); err != nil {
		return err
	}
	var group order
	err = group.add(d.kit.procfile, false)
	for _, buildpack := range optional {
		err = errors.Join(err, group.add(buildpack, true))
	}
	if err != nil {
		return err
	}
	var config strings.Builder
	fmt.Fprintf(&config, "[build]\nimage = %q\n[[run.images]]\nimage = %q\n[lifecycle]\nuri = %q\n",
		d.Name("build"), d.Name("run"), archived)
	for _, member := range group {
		fmt.Fprintf(&config, "[[buildpacks]]\nuri = %q\n", member.folder)
	}
	path := filepath.Join(folder, "builder.toml")
	if err := os.WriteFile(path, []byte(config.String()+group.toml()), 0o644); err != nil {
		return err
	}
	d.builder = d.Name("builder")
	_, err = d.Pack(ctx, "builder", "create", d.builder, "--config", path, "--pull-policy", "never")
	return err
}

// Name is the full name of an image of this road.
func (d *Docker) Name(short string) string {
	return d.prefix + "/" + short
}

// Build adds the buildpack to the builder's own.
func (d *Docker) Build(ctx context.Context, b Build) (*Image, error) {
	if b.Buildpack == "" {
		return d.PackBuild(ctx, b)
	}
	return d.PackBuild(ctx, b, "--buildpack", "from=builder", "--buildpack", b.Buildpack)
}

// PackBuild is pack build with flags that say which buildpacks to take; b.Buildpack is ignored.
func (d *Docker) PackBuild(ctx context.Context, b Build, flags ...string) (*Image, error) {
	ref := d.Name(b.Name)
	args := append([]string{
		"build", ref, "--path", b.App, "--builder", d.builder, "--lifecycle-image", d.Name("lifecycle"),
		"--pull-policy", "never", "--trust-builder", "--no-color",
	}, flags...)
	var out bytes.Buffer
	if b.Log != nil {
		fmt.Fprintf(b.Log, "$ pack %s\n", strings.Join(args, " "))
	}
	for _, pair := range b.Env {
		args = append(args, "--env", pair) // may be a secret: not shown
	}
	cmd := d.command(ctx, d.pack, args...)
	cmd.Stdout = tee(&out, b.Log)
	cmd.Stderr = cmd.Stdout
	if err := cmd.Run(); err != nil {
		return nil, &BuildError{Phase: "pack", Log: out.String(), Err: err}
	}
	return d.save(ctx, ref, out.String())
}

// Pack runs pack with any command line and returns what it printed.
func (d *Docker) Pack(ctx context.Context, args ...string) (string, error) {
	return run(d.command(ctx, d.pack, args...))
}

// save reads an image out of the engine.
func (d *Docker) save(ctx context.Context, ref, log string) (*Image, error) {
	folder, err := d.kit.tempFolder("image")
	if err != nil {
		return nil, err
	}
	path := filepath.Join(folder, "image.tar")
	if _, err := run(d.command(ctx, "docker", "save", "--output", path, ref)); err != nil {
		return nil, err
	}
	image, err := tarball.ImageFromPath(path, nil)
	if err != nil {
		return nil, fmt.Errorf("reading image %q: %w", ref, err)
	}
	return &Image{Image: image, Ref: ref, Log: log}, nil
}

// Run runs a container with docker run.
func (d *Docker) Run(ctx context.Context, image *Image, args ...string) (*Server, error) {
	return d.RunWith(ctx, image, nil, args...)
}

// RunWith is Run with more flags for docker run.
func (d *Docker) RunWith(ctx context.Context, image *Image, flags []string, args ...string) (*Server, error) {
	container := fmt.Sprintf("%s-%d", d.prefix, d.started.Add(1))
	all := append([]string{"run", "--pull", "never", "--name", container, "--publish", "127.0.0.1::8080"}, flags...)
	_, wait, err := startServer(d.command(ctx, "docker", append(append(all, image.Ref), args...)...))
	if err != nil {
		return nil, err
	}
	stop := func() error {
		_, err := run(d.command(context.Background(), "docker", "rm", "--force", container))
		wait()
		return err
	}
	http, err := run(d.command(ctx, "docker", "port", container, "8080/tcp"))
	if err != nil {
		return nil, errors.Join(err, stop())
	}
	return &Server{GRPC: "localhost:5000", http: http, stop: stop, command: func(ctx context.Context, args ...string) *exec.Cmd {
		return d.command(ctx, "docker", append([]string{"exec", container}, args...)...)
	}}, nil
}

// Close removes containers, images and volumes, also after the context of the other calls is over.
func (d *Docker) Close() error {
	ctx := context.Background()
	return errors.Join(
		d.remove(ctx, []string{"ps", "--all", "--quiet", "--filter", "label=" + ownerLabel + "=" + d.prefix}, "rm", "--force"),
		d.remove(ctx, []string{"images", "--all", "--quiet", "--filter", "label=" + ownerLabel + "=" + d.prefix}, "rmi", "--force"),
		d.remove(ctx, []string{"images", "--format", "{{.Repository}}:{{.Tag}}", "--filter", "reference=" + d.prefix + "/*"}, "rmi", "--force"),
		d.remove(ctx, []string{"volume", "ls", "--quiet", "--filter", "name=" + d.prefix}, "volume", "rm", "--force"),
	)
}

// remove lists things of the engine with one docker command and removes them with another.
func (d *Docker) remove(ctx context.Context, list []string, remove ...string) error {
	out, err := run(d.command(ctx, "docker", list...))
	if err != nil || out == "" {
		return err
	}
	_, err = run(d.command(ctx, "docker", slices.Concat(remove, strings.Fields(out))...))
	return err
}

// command is docker or pack. Where the context ends it is interrupted, not killed: pack then removes the containers and
// volumes of the build.
func (d *Docker) command(ctx context.Context, program string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Env = d.env
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 30 * time.Second
	return cmd
}
