package cluster

import (
	"context"
	"crypto/rand"
	"fmt"
	"maps"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/grpc-cnb/health-probe/integration/harness"
)

// kpackValue is a value that kpack's releases fill into its manifests with ytt.
var kpackValue = regexp.MustCompile(`#@ data\.values\.([a-z_]+)(\.image)?`)

// kpack is installed once. Its programs are at the paths that its pods have in their commands.
var kpack = sync.OnceValue(func() error {
	ctx := context.Background()
	if err := pushLifecycle(ctx); err != nil {
		return err
	}
	return platform{
		namespace: "kpack",
		images: map[string]string{
			"kpack-controller": "/controller", "kpack-webhook": "/webhook",
			"kpack-build-init": "/cnb/process/build-init", "kpack-completion": "/cnb/process/completion",
			"kpack-rebase": "/cnb/process/rebase",
		},
		manifest: func() (string, error) {
			text, err := manifests(ctx, "kpack-controller", []string{"config/*.yaml"}, "schema.yaml")
			return kpackValue.ReplaceAllStringFunc(text, func(value string) string {
				words := kpackValue.FindStringSubmatch(value)
				switch {
				case words[2] == "":
					return "test"
				case words[1] == "lifecycle":
					return inCluster(words[1])
				}
				return Registry + "/kpack-" + strings.ReplaceAll(words[1], "_", "-")
			}), err
		},
	}.install(ctx)
})

// pushLifecycle pushes the lifecycle with the labels by which kpack knows it.
func pushLifecycle(ctx context.Context) error {
	metadata, err := lifecycleMetadata(ctx)
	if err != nil {
		return err
	}
	return pushLabelled(ctx, docker.Name("lifecycle"), "lifecycle", map[string]string{
		"io.buildpacks.builder.metadata": fmt.Sprintf(`{"lifecycle":{"version":%q}}`, metadata.Version),
		"io.buildpacks.lifecycle.apis":   string(metadata.APIs),
	})
}

// kpackTest is a namespace with what is in the example.
type kpackTest struct {
	space

	suffix string // of the names of all resources: some of them are not in the namespace
	source string
}

// TestKpack builds the sample app by the resources of the example. A new version of the buildpack has kpack build it
// again; a new run image has kpack rebase it, which leaves the probe as it is.
func TestKpack(t *testing.T) {
	t.Parallel()
	version := needPublished(t)
	if err := kpack(); err != nil {
		t.Fatal(err)
	}
	k := kpackTest{newSpace(t), "-" + strings.ToLower(rand.Text()[:5]), pushSource(t)}
	k.logPods("image.kpack.io/image")
	k.addAccounts()

	k.applyExample()
	first := k.untilBuiltAfter("")
	k.wantProbed("first", first.Ref)
	k.wantBuildpack(first, version)

	const next = "0.99.0"
	if err := publish(t.Context(), next); err != nil {
		t.Fatal(err)
	}
	product := probeProduct + ":"
	k.applyExample(product+version, product+next)
	second := k.untilBuiltAfter(first.Ref)
	k.wantReason("BUILDPACK")
	k.wantBuildpack(second, next)
	k.wantProbed("second", second.Ref)

	const newRun = "run-new"
	if err := pushRun(t.Context(), newRun, "2"); err != nil {
		t.Fatal(err)
	}
	k.applyExample(product+version, product+next, runImage, newRun)
	third := k.untilBuiltAfter(second.Ref)
	k.wantReason("STACK")
	if release, err := third.ReadFile("/etc/release"); err != nil || string(release) != "2" {
		t.Errorf("the run image is release %q (error: %v), want 2", release, err)
	}
	if got, want := probeLayers(t, third), probeLayers(t, second); !maps.Equal(got, want) || len(got) == 0 {
		t.Errorf("the rebased image has the layers %v, want those from before, %v", got, want)
	}
	k.wantProbed("third", third.Ref)
}

// addAccounts makes the accounts that builder and image name.
func (k kpackTest) addAccounts() {
	k.t.Helper()
	for _, name := range []string{"kpack", "kpack" + k.suffix} {
		k.apply(object{"apiVersion": "v1", "kind": "ServiceAccount", "metadata": object{"name": name}})
	}
}

var (
	kpackName      = regexp.MustCompile(`(?m)\bname: [a-z-]+$`)
	kpackNamespace = regexp.MustCompile(`(?m)\bnamespace: [a-z]+$`)
)

// applyExample applies the example with other names: its images are in the registry, the source too, and no other test
// has resources of these names. More is changed by pairs of what is there and what replaces it.
func (k kpackTest) applyExample(changes ...string) {
	k.t.Helper()
	text := platformExample(k.t, "kpack.yaml")
	text = strings.ReplaceAll(text, "registry.example.com/", inCluster(k.space.name)+"/")
	text = kpackName.ReplaceAllString(text, "${0}"+k.suffix)
	text = kpackNamespace.ReplaceAllString(text, "namespace: "+k.space.name)
	for i := 0; i < len(changes); i += 2 {
		if !strings.Contains(text, changes[i]) {
			k.t.Fatalf("the example does not have %q:\n%s", changes[i], text)
		}
		text = strings.ReplaceAll(text, changes[i], changes[i+1])
	}
	resources := decodeAll(k.t, strings.NewReader(text))
	for _, resource := range resources {
		kind, name := resource["kind"].(string), resource["metadata"].(object)["name"].(string)
		switch {
		case kind == "Image":
			resource["spec"].(object)["source"] = object{"registry": object{"image": k.source}}
		case strings.HasPrefix(kind, "Cluster") && len(changes) == 0:
			k.t.Cleanup(func() {
				err := cluster.Delete(context.Background(), "/apis/kpack.io/v1alpha2/"+strings.ToLower(kind)+"s/"+name)
				if err != nil {
					k.t.Error(err)
				}
			})
		}
	}
	k.apply(resources...)
}

// image is what kpack says of the image.
func (k kpackTest) image() string {
	return "/apis/kpack.io/v1alpha2/namespaces/" + k.space.name + "/images/my-app" + k.suffix
}

// untilBuiltAfter waits for another image than the last one.
func (k kpackTest) untilBuiltAfter(last string) *harness.Image {
	k.t.Helper()
	b := k.untilBuilt(k.image(), "built", func(b built) bool {
		return b.is("Ready", "True") && b.Status.LatestImage != last
	})
	return pull(k.t, b.Status.LatestImage)
}

// wantReason wants the last build to have been made for one reason.
func (k kpackTest) wantReason(want string) {
	k.t.Helper()
	var b built
	if err := cluster.Read(k.t.Context(), k.image(), &b); err != nil {
		k.t.Fatal(err)
	}
	if got := b.Status.LatestBuildReason; got != want {
		k.t.Errorf("the reason of the build is %q, want %q", got, want)
	}
}

// wantBuildpack wants an image to be built by a version of the product.
func (k kpackTest) wantBuildpack(image *harness.Image, version string) {
	k.t.Helper()
	label, err := image.Label("io.buildpacks.build.metadata")
	if err != nil {
		k.t.Fatal(err)
	}
	if want := `"id":"` + buildpackID + `","version":"` + version + `"`; !strings.Contains(label, want) {
		k.t.Errorf("the image's metadata have no %s: %s", want, label)
	}
}

// probeLayers are the layers of the product in an image, which has them.
func probeLayers(t *testing.T, image *harness.Image) map[string]string {
	t.Helper()
	layers, err := image.Layers(buildpackID)
	if err != nil {
		t.Fatal(err)
	}
	file, err := image.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]bool{}
	for _, id := range file.RootFS.DiffIDs {
		all[id.String()] = true
	}
	for name, id := range layers {
		if !all[id] {
			t.Errorf("image %q has no layer %s, the %s", image.Ref, id, name)
		}
	}
	return layers
}

// pushSource pushes the files of the sample app as an image, and returns its name.
func pushSource(t *testing.T) string {
	t.Helper()
	app, err := fixture.StageSample(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	image, err := harness.FolderImage(app)
	if err != nil {
		t.Fatal(err)
	}
	if err := cluster.Push(t.Context(), docker.Name("my-app-source"), image); err != nil {
		t.Fatal(err)
	}
	return inCluster("my-app-source")
}
