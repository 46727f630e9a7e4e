package integration

import (
	"context"
	"debug/elf"
	"encoding/json"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/http/httputil"
	"net/netip"
	"net/url"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/validate"

	"github.com/grpc-cnb/health-probe/integration/documents"
	"github.com/grpc-cnb/health-probe/integration/harness"
)

// published are the images of a release, which the scripts published from a clone of this repository to a real
// registry.
type published struct {
	registry                 *harness.Registry
	clone                    string
	version                  string
	buildpack, probe, plugin name.Digest
	tagged                   string // the buildpack by its version
}

// publication publishes once, to a repository whose name has the platform's, so that the engine removes what is pulled.
var publication = sync.OnceValues(func() (*published, error) {
	ctx := context.Background()
	platform, err := docker()
	if err != nil {
		return nil, err
	}
	registry, err := distribution()
	if err != nil {
		return nil, err
	}
	version, err := documents.Version("..")
	if err != nil {
		return nil, err
	}
	clone, err := fixture.Checkout(ctx, "v"+version)
	if err != nil {
		return nil, err
	}
	defer fixture.Step("publishing the buildpack, the probe and the plugin from a clone")()
	return publish(ctx, registry, clone, version, registry.Name(platform.Name("")), nil)
})

// distribution is the registry that all tests share. It lets everybody in.
var distribution = shared(func() (*harness.Registry, error) {
	return fixture.Distribution(context.Background(), harness.Login{})
})

// publish runs the scripts in a clone, and reads from the files that they write what they published.
func publish(
	ctx context.Context, registry *harness.Registry, clone, version, prefix string, env []string,
) (*published, error) {
	p := &published{registry: registry, clone: clone, version: version}
	for _, image := range []struct {
		record string
		flags  []string
		digest *name.Digest
	}{
		{"health-probe", nil, &p.buildpack},
		{"grpc-health-probe", []string{"--probe"}, &p.probe},
		{"kubectl-grpc_probes", []string{"--plugin"}, &p.plugin},
	} {
		args := append(slices.Clone(image.flags), prefix+image.record)
		if _, err := fixture.Script(ctx, clone, env, "publish.sh", args...); err != nil {
			return nil, err
		}
		record, err := os.ReadFile(filepath.Join(clone, "dist/publish", image.record+".digest"))
		if err != nil {
			return nil, err
		}
		tagged, digest, _ := strings.Cut(strings.TrimSpace(string(record)), "@")
		if *image.digest, err = name.NewDigest(strings.TrimSuffix(tagged, ":"+version) + "@" + digest); err != nil {
			return nil, err
		}
	}
	p.tagged = p.buildpack.Context().Tag(version).String()
	return p, nil
}

// images are all of them.
func (p *published) images() []name.Digest { return []name.Digest{p.buildpack, p.probe, p.plugin} }

// TestPublishedAgain publishes from another clone, with another umask and in another time zone. The digests are those
// of the first clone.
func TestPublishedAgain(t *testing.T) {
	t.Parallel()
	needDocker(t)
	first := must(publication())(t)
	clone := must(fixture.Checkout(t.Context(), "v"+first.version))(t)
	if out, err := exec.CommandContext(t.Context(), "chmod", "-R", "go=", clone).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	registry := first.registry
	again := must(publish(t.Context(), registry, clone, first.version, registry.Name("again/"),
		[]string{"TZ=Asia/Tokyo"}))(t)
	for i, digest := range again.images() {
		if was := first.images()[i]; digest.DigestStr() != was.DigestStr() {
			t.Errorf("published %s, the first time %s", digest, was)
		}
	}
}

// TestPublishedTags reads all tags of the images back: all of them are the whole index.
func TestPublishedTags(t *testing.T) {
	t.Parallel()
	needDocker(t)
	p := must(publication())(t)
	numbers := strings.Split(p.version, ".")
	for _, digest := range p.images() {
		for _, tag := range []string{p.version, numbers[0] + "." + numbers[1], numbers[0], "latest"} {
			index := must(remote.Index(digest.Context().Tag(tag), p.registry.Auth()))(t)
			if got := must(index.Digest())(t).String(); got != digest.DigestStr() {
				t.Errorf("%s:%s is %s, want %s", digest.Context(), tag, got, digest.DigestStr())
			}
		}
		if err := validate.Index(must(remote.Index(digest, p.registry.Auth()))(t)); err != nil {
			t.Errorf("%s: %v", digest, err)
		}
	}
}

// TestPublishedAnnotations reads back what index, images and configurations say that they are.
func TestPublishedAnnotations(t *testing.T) {
	t.Parallel()
	needDocker(t)
	p := must(publication())(t)
	revision := strings.TrimSpace(string(must(exec.CommandContext(t.Context(), "git", "-C", p.clone, "rev-parse",
		"HEAD").Output())(t)))
	for _, digest := range p.images() {
		index := must(must(remote.Index(digest, p.registry.Auth()))(t).IndexManifest())(t)
		for _, key := range []string{"title", "description", "licenses", "url", "source", "created"} {
			if index.Annotations["org.opencontainers.image."+key] == "" {
				t.Errorf("the index %s has no annotation %s: %v", digest, key, index.Annotations)
			}
		}
		for key, want := range map[string]string{"version": p.version, "revision": revision} {
			if got := index.Annotations["org.opencontainers.image."+key]; got != want {
				t.Errorf("the annotation %s of %s is %q, want %q", key, digest, got, want)
			}
		}
		for _, child := range index.Manifests {
			image := must(remote.Image(digest.Context().Digest(child.Digest.String()), p.registry.Auth()))(t)
			if got := must(image.Manifest())(t).Annotations; !maps.Equal(got, index.Annotations) {
				t.Errorf("the annotations of %s are %v, those of the index %v", child.Platform, got, index.Annotations)
			}
			labels := must(image.ConfigFile())(t).Config.Labels
			for key, want := range index.Annotations {
				if labels[key] != want {
					t.Errorf("the label %s of %s is %q, want %q", key, child.Platform, labels[key], want)
				}
			}
		}
	}
}

// TestPublishedForBothArchitectures pulls both halves of the buildpack. The programs in each are for its architecture,
// and each has SBOMs of all of them.
func TestPublishedForBothArchitectures(t *testing.T) {
	t.Parallel()
	needDocker(t)
	p := must(publication())(t)
	for architecture, machine := range map[string]elf.Machine{"amd64": elf.EM_X86_64, "arm64": elf.EM_AARCH64} {
		image := must(remote.Image(p.buildpack, p.registry.Auth(),
			remote.WithPlatform(v1.Platform{OS: "linux", Architecture: architecture})))(t)
		folder := t.TempDir()
		if err := (&harness.Image{Image: image, Ref: p.tagged}).Extract(folder); err != nil {
			t.Fatal(err)
		}
		root := filepath.Join(folder, "cnb/buildpacks/grpc-cnb_health-probe", p.version)
		probes := "probes/linux-" + architecture
		if others := must(filepath.Glob(filepath.Join(root, "probes", "*")))(t); len(others) != 1 {
			t.Errorf("the half for %s has the probes %q, want those of one architecture", architecture, others)
		}
		for program, want := range map[string]elf.Machine{
			"bin/main":                     machine,
			probes + "/grpc_health_probe":  machine,
			probes + "/grpc_health_bridge": machine,
		} {
			wantMachine(t, filepath.Join(root, program), want)
		}
		full := filepath.Join(root, probes, "grpc_health_probe_full.tgz")
		must(exec.Command("tar", "-C", filepath.Dir(full), "-xzf", full).Output())(t)
		if err := os.Remove(full); err != nil {
			t.Fatal(err)
		}
		digest := p.buildpack.Context().Digest(must(image.Digest())(t).String())
		for _, programs := range []string{"bin", probes} {
			wantSBOMs(t, p.registry, digest, filepath.Join(root, programs))
		}
	}
}

func wantMachine(t *testing.T, program string, want elf.Machine) {
	t.Helper()
	file := must(elf.Open(program))(t)
	defer file.Close()
	if file.Machine != want {
		t.Errorf("%s is a program for %s, want %s", program, file.Machine, want)
	}
}

// TestBuildsWithPublished has pack pull the published buildpack, by each name that users can give it. Each build makes
// an image whose probe works.
func TestBuildsWithPublished(t *testing.T) {
	t.Parallel()
	needDocker(t)
	platform, p := must(docker())(t), must(publication())(t)
	pull := pulls(t, platform, p)
	for name, prepare := range map[string]func(t *testing.T) []string{
		"tag":    func(*testing.T) []string { return []string{"-b", "from=builder", "-b", p.tagged} },
		"digest": func(*testing.T) []string { return []string{"-b", "from=builder", "-b", p.buildpack.String()} },
		"project": func(t *testing.T) []string {
			example := stageExample(t, "../examples/project.toml", "docker://ghcr.io/grpc-cnb/health-probe:"+p.version,
				dockerURI(t, p))
			return []string{"--descriptor", example}
		},
		"builder": func(t *testing.T) []string {
			config := exampleBuilder(t, platform, "../examples/builders/paketo.toml")
			config = strings.ReplaceAll(config, must(filepath.Abs(folder()))(t), dockerURI(t, p))
			builder := must(platform.CreateBuilder(t.Context(), "builder-pulls", config, pull[:2]...))(t)
			return []string{"--builder", builder}
		},
		"composite": func(t *testing.T) []string {
			return []string{"-b", composite(t, platform, dockerURI(t, p), pull[:2]...)}
		},
		"registry": func(t *testing.T) []string {
			index := buildpackRegistry(t, p)
			must(platform.Pack(t.Context(), "config", "experimental", "true"))(t)
			must(platform.Pack(t.Context(), "config", "registries", "add", "here", "file://"+index, "--type", "git"))(t)
			return []string{
				"--buildpack-registry", "here", "-b", "from=builder", "-b",
				"urn:cnb:registry:" + buildpackID + "@" + p.version,
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			flags := append(prepare(t), pull...)
			image := must(platform.PackBuild(t.Context(), harness.Build{
				Name: "published-" + name, App: must(sample())(t),
			}, flags...))(t)
			wantServing(t, platform, image)
			wantInLog(t, image, "gRPC Health Probe "+p.version)
		})
	}
}

// pulls returns flags with which pack pulls what is not in the engine. If it may pull, it asks a registry for the
// lifecycle's image even if the engine has it.
func pulls(t *testing.T, platform *harness.Docker, p *published) []string {
	t.Helper()
	lifecycle := must(platform.Image(t.Context(), platform.Name("lifecycle"), ""))(t)
	return []string{
		"--pull-policy", "if-not-present",
		"--lifecycle-image", must(p.registry.Push(platform.Name("lifecycle"), lifecycle.Image))(t),
	}
}

// dockerURI is the published buildpack by its digest, as the files of pack name images. Behind docker:// pack takes no
// registry with a port: this one is on port 80 of another address of this host.
func dockerURI(t *testing.T, p *published) string {
	t.Helper()
	port := must(netip.ParseAddrPort(p.registry.Address()))(t).Port()
	host := fmt.Sprintf("127.80.%d.%d", port>>8, port&0xff) // two tests do not share the registry's port
	web.Lock()
	defer web.Unlock()
	if web.server == nil {
		listener, err := net.Listen("tcp", host+":80")
		if err != nil && os.Getenv("CI") != "true" {
			t.Skipf("left out: it needs port 80 of a loopback address: %v", err)
		}
		must(listener, err)(t)
		web.server = &http.Server{
			Handler:           httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: p.registry.Address()}),
			ReadHeaderTimeout: 10 * time.Second,
		}
		go func() { _ = web.server.Serve(listener) }() // until the end of all tests
	}
	return "docker://" + host + "/" + p.buildpack.Context().RepositoryStr() + "@" + p.buildpack.DigestStr()
}

// web is the registry on port 80.
var web struct {
	sync.Mutex

	server *http.Server
}

// stageExample writes an example with other words for some of its own into a folder of its own.
func stageExample(t *testing.T, example, from, to string) string {
	t.Helper()
	text := string(must(os.ReadFile(example))(t))
	if !strings.Contains(text, from) {
		t.Fatalf("%s does not have %q", example, from)
	}
	staged := must(fixture.Stage(map[string]string{path.Base(example): strings.ReplaceAll(text, from, to)}))(t)
	return filepath.Join(staged, path.Base(example))
}

// buildpackRegistry makes an index of buildpacks, a git repository, with the entry that the script writes.
func buildpackRegistry(t *testing.T, p *published) string {
	t.Helper()
	index := must(fixture.Stage(nil))(t)
	git := func(args ...string) {
		t.Helper()
		all := append([]string{"-C", index, "-c", "user.name=test", "-c", "user.email=test@example.com"}, args...)
		if out, err := exec.CommandContext(t.Context(), "git", all...).CombinedOutput(); err != nil {
			t.Fatalf("git %q: %v\n%s", args, err, out)
		}
	}
	git("init", "--quiet", "--initial-branch", "main")
	for range 2 { // the second time there is nothing to add
		must(fixture.Script(t.Context(), p.clone, nil, "registry-entry.sh", index))(t)
	}
	content := must(os.ReadFile(filepath.Join(index, "he/al/grpc-cnb_health-probe")))(t)
	var entry map[string]any
	if err := json.Unmarshal(content, &entry); err != nil {
		t.Fatalf("reading the entry %q: %v", content, err)
	}
	want := map[string]any{
		"ns": "grpc-cnb", "name": "health-probe", "version": p.version, "yanked": false, "addr": p.buildpack.String(),
	}
	if !maps.Equal(entry, want) {
		t.Errorf("the entry is %v, want %v", entry, want)
	}
	git("add", ".")
	git("commit", "--quiet", "--message", "ADD "+buildpackID)
	return index
}
