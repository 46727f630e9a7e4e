package harness

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

// Docker is the platform of pack and Docker Engine. Each object in the engine has a name or a label with the prefix of
// the platform; images from a registry have the prefix after the registry's name. Close, or the end of this process,
// removes all objects, except those that a docker command makes after the removal.
type Docker struct {
	fixture   *Fixture
	sweeper   *sweeper
	pack      string // program
	lifecycle string // a folder as Fixture.lifecycle
	archive   string // the lifecycle as an archive, for builders
	prefix    string
	env       []string // of docker and pack
	run       base     // of the run image
	builder   string
	started   atomic.Int64 // containers
	partial   bool         // images are returned without their files
}

// OwnerLabel is a label of the base images, and therefore of everything built on them: builders, apps, images that a
// rebuild replaced, and the containers of all these images.
const OwnerLabel = "io.github.grpc-cnb.health-probe.test"

// DockerAPI returns the API version of the Docker Engine, or an error if no engine answers.
func DockerAPI(ctx context.Context) (string, error) {
	return run(exec.CommandContext(ctx, "docker", "version", "--format", "{{.Server.APIVersion}}"))
}

// Docker makes base images, lifecycle image and builder in the engine. The builder's order is the app buildpack, then
// the optional buildpacks (folders).
func (k *Fixture) Docker(ctx context.Context, optional ...string) (*Docker, error) {
	base, err := k.scratch()
	if err != nil {
		return nil, err
	}
	return k.docker(ctx, base, k.lifecycle, optional)
}

// DockerAs is like Docker, with another user and group in the base images.
func (k *Fixture) DockerAs(ctx context.Context, user, group int, optional ...string) (*Docker, error) {
	base, err := k.scratch()
	if err != nil {
		return nil, err
	}
	// The lifecycle looks for the user's home in /etc/passwd.
	names, err := k.filesLayer(map[string]string{
		"etc/passwd": fmt.Sprintf("%sother:x:%d:%d:other:/home/cnb:/none\n", baseFiles["etc/passwd"], user, group),
		"etc/group":  fmt.Sprintf("%sother:x:%d:\n", baseFiles["etc/group"], group),
	})
	if err != nil {
		return nil, err
	}
	base.layers = append(base.layers, names)
	base.user, base.group = user, group
	return k.docker(ctx, base, k.lifecycle, optional)
}

// DockerOldest is like Docker, with the oldest lifecycle that supports the buildpack's API. The first use compiles the
// lifecycle.
func (k *Fixture) DockerOldest(ctx context.Context, optional ...string) (*Docker, error) {
	base, err := k.scratch()
	if err != nil {
		return nil, err
	}
	lifecycle, err := k.layLifecycle(ctx, oldestLifecycle)
	if err != nil {
		return nil, err
	}
	return k.docker(ctx, base, lifecycle, optional)
}

func (k *Fixture) docker(ctx context.Context, base base, lifecycle string, optional []string) (*Docker, error) {
	api, err := DockerAPI(ctx)
	if err != nil {
		return nil, err
	}
	pack := k.pack
	if pack == "" {
		if pack, err = k.Tool(ctx, "pack"); err != nil {
			return nil, err
		}
	}
	d, err := k.engine(ctx)
	if err != nil {
		return nil, err
	}
	d.pack, d.lifecycle = pack, lifecycle
	if err := errors.Join(d.loadBases(ctx, api, base), d.createBuilder(ctx, optional)); err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return d, nil
}

// engine returns a platform without base images, builder and pack.
func (k *Fixture) engine(ctx context.Context) (d *Docker, err error) {
	d = &Docker{fixture: k, prefix: "health-probe-" + strings.ToLower(rand.Text()[:10])}
	if d.env, err = d.environment(ctx); err != nil {
		return nil, err
	}
	d.sweeper, err = newSweeper(d.env, sweepDocker, d.prefix, OwnerLabel)
	return d, err
}

// environment returns variables that keep the user's settings from pack and docker, except for the engine's address.
// Temporary files have a folder of the platform: pack leaves layers from the engine there.
func (d *Docker) environment(ctx context.Context) ([]string, error) {
	home, err := d.fixture.tempFolder("pack")
	if err != nil {
		return nil, err
	}
	temp, err := d.fixture.tempFolder("tmp")
	if err != nil {
		return nil, err
	}
	env := append(os.Environ(), "PACK_HOME="+home, "DOCKER_CONFIG="+home, "PACK_VOLUME_KEY="+d.prefix, "NO_COLOR=1",
		"TMPDIR="+temp)
	if os.Getenv("DOCKER_HOST") != "" {
		return env, nil
	}
	host, err := run(exec.CommandContext(ctx, "docker", "context", "inspect", "--format", "{{.Endpoints.docker.Host}}"))
	return append(env, "DOCKER_HOST="+host), err
}

// Env returns the environment of programs that call pack and docker, without the user's settings.
func (d *Docker) Env() []string {
	return slices.Clone(d.env)
}

// loadBases loads run image, build image and lifecycle image into the engine. The lifecycle's Docker client does not
// negotiate the API version, and an older engine does not support the client's default: the images set the engine's
// version.
func (d *Docker) loadBases(ctx context.Context, api string, run base) error {
	folder, err := d.fixture.tempFolder("lifecycle-image")
	if err != nil {
		return err
	}
	err = copyFolder(filepath.Join(folder, "cnb/lifecycle"), filepath.Join(d.lifecycle, "lifecycle"))
	if err != nil {
		return err
	}
	layer, err := folderLayer(folder)
	if err != nil {
		return err
	}
	d.run = d.owned(run)
	run = d.run
	build := run
	build.env = []string{"DOCKER_API_VERSION=" + api}
	with := build
	with.layers = append(slices.Clone(run.layers), layer)
	return d.load(ctx, map[string]base{"run": run, "build": build, "lifecycle": with})
}

// load loads base images into the engine, each shared layer only once.
func (d *Docker) load(ctx context.Context, bases map[string]base) error {
	images := map[name.Tag]v1.Image{}
	for short, b := range bases {
		image, err := b.image()
		if err != nil {
			return err
		}
		tag, err := name.NewTag(d.Name(short))
		if err != nil {
			return err
		}
		images[tag] = image
	}
	reader, writer := io.Pipe()
	defer reader.Close()
	go func() { writer.CloseWithError(tarball.MultiWrite(images, writer)) }()
	cmd := d.command(ctx, "docker", "load")
	cmd.Stdin = reader
	_, err := run(cmd)
	return err
}

// LoadRun loads another run image with more files (name to content) into the engine and returns the full name. The new
// image replaces the last image of the same name.
func (d *Docker) LoadRun(ctx context.Context, short string, files map[string]string) (string, error) {
	layer, err := d.fixture.filesLayer(files)
	if err != nil {
		return "", err
	}
	run := d.run
	run.layers = append(slices.Clone(run.layers), layer)
	return d.Name(short), d.load(ctx, map[string]base{short: run})
}

func (d *Docker) createBuilder(ctx context.Context, optional []string) error {
	folder, err := d.fixture.tempFolder("lifecycle-archive")
	if err != nil {
		return err
	}
	d.archive = filepath.Join(folder, "lifecycle.tgz")
	if err := archiveFile(d.archive, d.lifecycle); err != nil {
		return err
	}
	var group order
	err = group.add(d.fixture.procfile, false)
	for _, buildpack := range optional {
		err = errors.Join(err, group.add(buildpack, true))
	}
	if err != nil {
		return err
	}
	var config strings.Builder
	fmt.Fprintf(&config, "[build]\nimage = %q\n[[run.images]]\nimage = %q\n[lifecycle]\nuri = %q\n",
		d.Name("build"), d.Name("run"), d.archive)
	for _, member := range group {
		fmt.Fprintf(&config, "[[buildpacks]]\nuri = %q\n", member.folder)
	}
	d.builder, err = d.CreateBuilder(ctx, "builder", config.String()+group.toml())
	return err
}

// CreateBuilder makes a builder with pack from the text of a builder.toml, and returns the full name. Pack pulls no
// images unless flags say otherwise.
func (d *Docker) CreateBuilder(ctx context.Context, short, config string, flags ...string) (string, error) {
	folder, err := d.fixture.tempFolder("builder")
	if err != nil {
		return "", err
	}
	path := filepath.Join(folder, "builder.toml")
	if err := os.WriteFile(path, []byte(config), 0o644); err != nil {
		return "", err
	}
	builder := d.Name(short)
	args := append([]string{"builder", "create", builder, "--config", path, "--pull-policy", "never"}, flags...)
	_, err = d.Pack(ctx, args...)
	return builder, err
}

// Lifecycle returns the path of the lifecycle's archive, for a builder.toml.
func (d *Docker) Lifecycle() string {
	return d.archive
}

// Name returns the full name of an image of the platform.
func (d *Docker) Name(short string) string {
	return d.prefix + "/" + short
}

// Build builds with the builder's own buildpacks and with b.Buildpack.
func (d *Docker) Build(ctx context.Context, b Build) (*Image, error) {
	if b.Buildpack == "" {
		return d.PackBuild(ctx, b)
	}
	return d.PackBuild(ctx, b, "--buildpack", "from=builder", "--buildpack", b.Buildpack)
}

// PackBuild runs pack build with flags that select the buildpacks; b.Buildpack is ignored.
func (d *Docker) PackBuild(ctx context.Context, b Build, flags ...string) (*Image, error) {
	ref := d.Name(b.Name)
	args := append([]string{
		"build", ref, "--path", b.App, "--builder", d.builder, "--lifecycle-image", d.Name("lifecycle"),
		"--pull-policy", "never", "--trust-builder", "--no-color",
	}, flags...)
	shown := "$ pack " + strings.Join(args, " ") + "\n"
	for _, pair := range b.Env {
		args = append(args, "--env", pair) // not shown: may be a secret
	}
	log, err := d.packBuild(ctx, b.Log, shown, args)
	// pack sometimes waits for ever for Docker to report the end of the build's container; a build that hangs by itself
	// hangs again. Docker may also close the lifecycle's connection during a build phase of more than five minutes, in
	// which the lifecycle says nothing.
	hangs := errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil
	if hangs || err != nil && strings.Contains(log, "error during connect: ") {
		fmt.Fprintf(os.Stderr, "pack: %v; once more: %s%s", err, shown, log)
		log, err = d.packBuild(ctx, b.Log, shown, args)
	}
	if err != nil {
		return nil, &BuildError{Phase: "pack", Log: log, Err: err}
	}
	return d.Image(ctx, ref, log)
}

// packBuild runs pack and returns the output. If also is not nil, the shown command and the output go there too.
func (d *Docker) packBuild(ctx context.Context, also io.Writer, shown string, args []string) (string, error) {
	var out bytes.Buffer
	if also != nil {
		fmt.Fprint(also, shown)
	}
	cmd := d.packCommand(ctx, args...)
	cmd.Stdout = tee(&out, also)
	cmd.Stderr = cmd.Stdout
	err := cmd.Run()
	return out.String(), err
}

// Image reads an image from the engine. The log is the output of the image's build.
func (d *Docker) Image(ctx context.Context, ref, log string) (*Image, error) {
	image, err := d.read(ctx, ref)
	if err != nil {
		return nil, err
	}
	return &Image{Image: image, Ref: ref, Log: log}, nil
}

// DockerBuild builds a Dockerfile, without files and with build arguments (NAME=value).
func (d *Docker) DockerBuild(ctx context.Context, short, dockerfile string, args ...string) (*Image, error) {
	empty, err := d.fixture.tempFolder("context")
	if err != nil {
		return nil, err
	}
	ref := d.Name(short)
	words := []string{"build", "--tag", ref, "--file", dockerfile}
	for _, pair := range args {
		words = append(words, "--build-arg", pair)
	}
	log, err := run(d.command(ctx, "docker", append(words, empty)...))
	if err != nil {
		return nil, err
	}
	return d.Image(ctx, ref, log)
}

// Pack runs pack with any command line and returns the output.
func (d *Docker) Pack(ctx context.Context, args ...string) (string, error) {
	return run(d.packCommand(ctx, args...))
}

// Once runs a container of an image to its end, with flags for docker run, removes the container, and returns the
// output.
func (d *Docker) Once(ctx context.Context, ref string, flags []string, args ...string) (string, error) {
	all := append([]string{"run", "--rm", "--pull", "never"}, flags...)
	return run(d.command(ctx, "docker", append(append(all, ref), args...)...))
}

// sweepDocker removes containers, networks, images and volumes of a prefix ($1), the value of a label ($2). Docker
// lists the newest images first, so each image goes before its base.
const sweepDocker = `
docker version >/dev/null || exit
code=0
docker ps --all --quiet --filter "label=$2=$1" | xargs -r docker rm --force || code=1
docker network ls --quiet --filter "name=$1" | xargs -r docker network rm || code=1
docker images --all --quiet --filter "label=$2=$1" | xargs -r docker rmi --force || code=1
docker images --format "{{.Repository}}:{{.Tag}}" --filter "reference=$1/*" | xargs -r docker rmi --force || code=1
docker images --quiet --filter "reference=*/$1/*" | sort -u | xargs -r docker rmi --force || code=1
docker volume ls --quiet --filter "name=$1" | xargs -r docker volume rm --force || code=1
exit $code
`

// Close removes all objects of the platform from the engine.
func (d *Docker) Close() error {
	return d.sweeper.close()
}

// packCommand returns a command of pack that delays the sweepers. A build that loses this process may leave its
// network, volumes and temporary folder, all with random names.
func (d *Docker) packCommand(ctx context.Context, args ...string) *exec.Cmd {
	cmd := d.command(ctx, d.pack, args...)
	cmd.ExtraFiles = []*os.File{d.sweeper.alive, d.fixture.sweeper.alive}
	return cmd
}

// limit bounds the time of a command, with the app in a container included: the test names a hanging command, and the
// other tests go on.
const limit = 10 * time.Minute

// command returns a command of docker or pack. At the end of the context, or after limit, the program is interrupted,
// not killed: pack then removes the containers and volumes of the build.
func (d *Docker) command(ctx context.Context, program string, args ...string) *exec.Cmd {
	ctx, cancel := context.WithTimeout(ctx, limit)
	context.AfterFunc(ctx, cancel)
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Env = d.env
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 30 * time.Second
	return cmd
}
