package cluster

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"

	"github.com/grpc-cnb/health-probe/integration/documents"
	"github.com/grpc-cnb/health-probe/integration/harness"
)

// buildpackID is the ID of the product's buildpack.
const buildpackID = "grpc-cnb/health-probe"

// The images that platforms build with, as the examples call them. Images that would be pulled have stand-ins.
const (
	buildImage   = "build-jammy-base"
	runImage     = "run-jammy-base"
	goBuildpack  = "go"
	probeBuilder = "go-grpc"
	probeProduct = "health-probe"
)

// inCluster is the name, for pods, of an image that platforms build with.
func inCluster(short string) string { return Registry + "/" + docker.Name(short) }

// onMachine is its name for programs on this machine. Docker Engine is told to remove what it pulls by such a name.
func onMachine(short string) string { return cluster.Registry() + "/" + docker.Name(short) }

// published is the product's version, which is in the registry with all that platforms build with.
var published = sync.OnceValues(func() (version string, err error) {
	ctx := context.Background()
	defer fixture.Step("publishing the buildpack, base images and a builder")()
	if version, err = documents.Version(repository); err != nil {
		return "", err
	}
	if err := publish(ctx, version); err != nil {
		return "", err
	}
	if err := pushLabelled(ctx, docker.Name("build"), buildImage, stackLabel); err != nil {
		return "", err
	}
	if err := pushRun(ctx, runImage, "1"); err != nil {
		return "", err
	}
	return version, makeBuilder(ctx, version)
})

// needPublished returns the product's version once all is published.
func needPublished(t *testing.T) string {
	t.Helper()
	version, err := published()
	if err != nil {
		t.Fatal(err)
	}
	return version
}

// publish publishes the buildpack from a clone, as a release does, with a version of its own.
func publish(ctx context.Context, version string) error {
	clone, err := fixture.Checkout(ctx, "v"+version)
	if err != nil {
		return err
	}
	if err := release(ctx, clone, version); err != nil {
		return err
	}
	_, err = fixture.Script(ctx, clone, nil, "publish.sh", onMachine(probeProduct))
	return err
}

var versionLine = regexp.MustCompile(`(?m)^version = ".*"$`)

// release gives a clone a version, with a commit that has its tag, if it is another one than the repository's.
func release(ctx context.Context, clone, version string) error {
	descriptor := filepath.Join(clone, "buildpack.toml")
	text, err := os.ReadFile(descriptor)
	if err != nil {
		return err
	}
	changed := versionLine.ReplaceAll(text, fmt.Appendf(nil, "version = %q", version))
	if string(changed) == string(text) {
		return nil
	}
	if err := os.WriteFile(descriptor, changed, 0o600); err != nil {
		return err
	}
	for _, args := range [][]string{
		{"commit", "--quiet", "--all", "--message", version},
		{"tag", "--force", "v" + version},
	} {
		cmd := exec.CommandContext(ctx, "git", append([]string{
			"-C", clone, "-c", "user.name=test", "-c", "user.email=test@example.com",
		}, args...)...)
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("running git %q: %w\n%s", args, err, out)
		}
	}
	return nil
}

// stackLabel is that of base images, which kpack asks for.
var stackLabel = map[string]string{"io.buildpacks.stack.id": "io.buildpacks.stacks.jammy"}

// pushRun pushes a release of the run image.
func pushRun(ctx context.Context, short, release string) error {
	ref, err := docker.LoadRun(ctx, short, map[string]string{"etc/release": release})
	if err != nil {
		return err
	}
	return pushLabelled(ctx, ref, short, stackLabel)
}

// pushLabelled pushes an image of the engine by another name and with more labels.
func pushLabelled(ctx context.Context, ref, short string, labels map[string]string) error {
	image, err := docker.Image(ctx, ref, "")
	if err != nil {
		return err
	}
	file, err := image.ConfigFile()
	if err != nil {
		return err
	}
	file = file.DeepCopy()
	maps.Copy(file.Config.Labels, labels)
	labelled, err := mutate.ConfigFile(image.Image, file)
	if err != nil {
		return err
	}
	return cluster.Push(ctx, docker.Name(short), labelled)
}

// makeBuilder makes, with pack, a builder with the probe, as examples/builders do, and publishes the buildpack that
// stands in for Paketo's Go buildpack.
func makeBuilder(ctx context.Context, version string) error {
	standIn, err := fixture.StandIn("paketo-buildpacks/go", "1.0.0")
	if err != nil {
		return err
	}
	if _, err := docker.Pack(ctx, "buildpack", "package", onMachine(goBuildpack), "--publish", "--path", standIn,
		"--target", "linux/"+runtime.GOARCH); err != nil {
		return err
	}
	product := onMachine(probeProduct) + ":" + version
	if _, err := docker.Pack(ctx, "buildpack", "pull", product); err != nil {
		return err
	}
	config := fmt.Sprintf(builderTOML, docker.Name("build"), onMachine(runImage), docker.Lifecycle(), standIn, product)
	ref, err := docker.CreateBuilder(ctx, probeBuilder, config)
	if err != nil {
		return err
	}
	return pushLabelled(ctx, ref, probeBuilder, nil)
}

// builderTOML describes the builder (pack's documentation, builder.toml), with its images, the lifecycle and the
// buildpacks to fill in.
const builderTOML = `[build]
image = %q
[[run.images]]
image = %q
[lifecycle]
uri = %q
[[buildpacks]]
uri = %q
[[buildpacks]]
image = %q
[[order]]
[[order.group]]
id = "paketo-buildpacks/go"
[[order.group]]
id = "grpc-cnb/health-probe"
optional = true
`

// lifecycleAPIs are the version of the lifecycle and what it supports.
type lifecycleAPIs struct {
	Version string
	APIs    json.RawMessage
}

// lifecycleMetadata is what a builder says of its lifecycle.
func lifecycleMetadata(ctx context.Context) (lifecycleAPIs, error) {
	var metadata struct{ Lifecycle lifecycleAPIs }
	builder, err := docker.Image(ctx, docker.Name(probeBuilder), "")
	if err != nil {
		return metadata.Lifecycle, err
	}
	label, err := builder.Label("io.buildpacks.builder.metadata")
	if err != nil {
		return metadata.Lifecycle, err
	}
	err = json.Unmarshal([]byte(label), &metadata)
	return metadata.Lifecycle, err
}

var (
	paketoImage  = regexp.MustCompile(`docker\.io/paketobuildpacks/([a-z-]+)(:\S+)?`)
	productImage = regexp.MustCompile(`ghcr\.io/grpc-cnb/([a-z-]+:\S+)`)
)

// platformExample is the text of an example with the names of images that are in the registry.
func platformExample(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(repository, "examples", file))
	if err != nil {
		t.Fatal(err)
	}
	for _, pattern := range []*regexp.Regexp{paketoImage, productImage} {
		text = pattern.ReplaceAll(text, []byte(inCluster("$1")))
	}
	return string(text)
}

// platform is what runs in the cluster to build images there.
type platform struct {
	namespace string
	images    map[string]string // the names of programs, and where its containers look for them
	manifest  func() (string, error)
}

// install pushes the images of a platform and applies its manifest. What is in the manifest takes effect bit by bit,
// and what depends on it is refused until then.
func (p platform) install(ctx context.Context) error {
	defer fixture.Step("installing what belongs into the namespace %s", p.namespace)()
	for program, path := range p.images {
		image, err := fixture.ToolImage(ctx, program, path)
		if err != nil {
			return err
		}
		if err := cluster.Push(ctx, Registry+"/"+program, image); err != nil {
			return err
		}
	}
	manifest, err := p.manifest()
	if err != nil {
		return err
	}
	if err := cluster.wait(ctx, "the platform's resources to be accepted", func(ctx context.Context) error {
		_, err := cluster.KubectlWith(ctx, strings.NewReader(manifest), "apply", "--filename=-")
		return err
	}); err != nil {
		return err
	}
	_, err = cluster.Kubectl(ctx, "--namespace="+p.namespace, "rollout", "status", "deployment",
		"--timeout="+patience.String())
	return err
}

// manifests joins the manifests that match patterns in the folder of a tool's module, except some of their names.
func manifests(ctx context.Context, tool string, patterns []string, except ...string) (string, error) {
	folder, err := fixture.ToolModule(ctx, tool)
	if err != nil {
		return "", err
	}
	var all strings.Builder
	for _, pattern := range patterns {
		paths, err := filepath.Glob(filepath.Join(folder, pattern))
		if err != nil {
			return "", err
		}
		for _, path := range paths {
			if slices.Contains(except, filepath.Base(path)) {
				continue
			}
			text, err := os.ReadFile(path)
			if err != nil {
				return "", err
			}
			fmt.Fprintf(&all, "\n---\n%s", text)
		}
	}
	return all.String(), nil
}

// built is what a platform says of an image, or of a run that makes one.
type built struct {
	Status struct {
		Conditions        []struct{ Type, Status, Reason, Message string }
		LatestImage       string
		LatestBuildReason string
	}
}

// is reports whether a condition has a status, such as True.
func (b built) is(condition, status string) bool {
	for _, c := range b.Status.Conditions {
		if c.Type == condition {
			return c.Status == status
		}
	}
	return false
}

// untilBuilt waits for a state of such a resource.
func (s space) untilBuilt(path, state string, reached func(built) bool) (b built) {
	s.t.Helper()
	poll(s.t, fmt.Sprintf("%s to be %s", path, state), func(ctx context.Context) (bool, error) {
		b = built{}
		if err := cluster.Read(ctx, path, &b); err != nil {
			return false, err
		}
		return reached(b), fmt.Errorf("its status is %+v", b.Status)
	})
	return b
}

// wantProbed runs an image in a pod that is ready by the probe, whose default flags are those of the build.
func (s space) wantProbed(pod, image string) {
	s.t.Helper()
	r := s.run(example(s.t, "probes.yaml", named(pod), func(pod object) { app(pod)["image"] = image }))
	r.wantFollowing("")
	r.kubectl("exec", r.name, "--", harness.ProbePath)
}

// pull reads an image that a platform made from the registry.
func pull(t *testing.T, ref string) *harness.Image {
	t.Helper()
	parsed, err := name.ParseReference(strings.Replace(ref, Registry, cluster.Registry(), 1))
	if err != nil {
		t.Fatal(err)
	}
	image, err := remote.Image(parsed, remote.WithContext(t.Context()))
	if err != nil {
		t.Fatal(err)
	}
	return &harness.Image{Image: image, Ref: ref}
}

// logPods shows the end of what the pods of a test that failed printed.
func (s space) logPods(label string) {
	s.t.Cleanup(func() {
		if s.t.Failed() {
			out, err := cluster.Kubectl(context.Background(), "logs", "--namespace="+s.name, "--selector="+label,
				"--all-containers", "--prefix", "--ignore-errors", "--tail=30", "--max-log-requests=50")
			s.t.Logf("logs of the pods with %s:\n%s%v", label, out, err)
		}
	})
}
