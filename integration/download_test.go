package integration

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/grpc-cnb/health-probe/build/github/githubtest"
	"github.com/grpc-cnb/health-probe/integration/harness"
	"github.com/grpc-cnb/health-probe/internal/config"
)

const (
	// assetPath is where users of the older variables of github-assets-cnb find the file that they name
	// grpc_health_probe.
	assetPath = "/layers/grpc-cnb_health-probe/github-assets/bin/grpc_health_probe"
	// pinned is the release of the probe that the buildpack takes by default.
	pinned = config.DefaultRelease

	downloadToken = "ghp_s3cretOfTheTests"
)

// assetProject is a project.toml of an app that adds the upstream probe by the older variables.
const assetProject = `
[project]
id = "sample"

[[build.env]]
name = "REPO"
value = "grpc-ecosystem/grpc-health-probe"

[[build.env]]
name = "FILE"
value = "grpc_health_probe-linux-` + arch + `"

[[build.env]]
name = "TARGET"
value = "grpc_health_probe"

[[build.env]]
name = "VERSION"
value = "` + pinned + `"
`

// TestDownloadedProbe downloads the probe, and the same file as an asset, from a private repository of a GitHub in the
// network of the build. What was built once is not asked for again, and outlasts the GitHub.
func TestDownloadedProbe(t *testing.T) {
	t.Parallel()
	needDocker(t)
	platform := must(docker())(t)
	app := must(fixture.StageSample(t.Context(), map[string]string{"project.toml": assetProject}))(t)
	github := startGitHub(t)
	build := func(env ...string) *harness.Image {
		env = append(env, "HTTPS_PROXY=http://"+github.Addr(), "SSL_CERT_FILE=/github.pem", "BP_LOG_LEVEL=DEBUG",
			"BP_GRPC_HEALTH_PROBE_SOURCE=download")
		return must(platform.PackBuild(t.Context(), harness.Build{Name: "downloaded", App: app, Env: env}, "--network",
			"host",
			"--volume", github.certificate+":/github.pem:ro",
			"--volume", github.binding+":/platform/bindings/github:ro",
			"-b", "from=builder", "-b", folder()))(t)
	}

	first := build()
	wantServing(t, platform, first)
	wantDownloaded(t, first, github.probe)
	wantNoSecret(t, first)
	requests := github.Take()
	for _, request := range requests {
		if isAPI := request.Host == githubtest.APIHost; (request.Authorization != "") != isAPI {
			t.Errorf("%s got the header Authorization %q", request.Host, request.Authorization)
		}
	}
	if !slices.ContainsFunc(requests, func(r githubtest.Request) bool { return r.Host == githubtest.BytesHost }) {
		t.Errorf("nothing was downloaded: %v\n%s", requests, first.Log)
	}

	second := build()
	if requests := github.Take(); len(requests) != 0 {
		t.Errorf("the second build asked for %v\n%s", requests, second.Log)
	}
	wantEqual(t, second, "layers", ourLayers(t, second), ourLayers(t, first))

	build("BP_GRPC_HEALTH_PROBE_VERSION=latest")
	github.Take()
	latest := build("BP_GRPC_HEALTH_PROBE_VERSION=latest")
	if requests := github.Take(); len(requests) != 1 {
		t.Errorf("for the same \"latest\" the build asked for %v\n%s", requests, latest.Log)
	}
	wantEqual(t, latest, "layers", ourLayers(t, latest), ourLayers(t, first))

	github.Close()
	last := build("BP_GRPC_HEALTH_PROBE_VERSION=latest")
	wantInLog(t, last, "Warning: the probe of the build before stays: "+pinned)
	wantEqual(t, last, "layers", ourLayers(t, last), ourLayers(t, first))
	wantNoSecret(t, last)
	wantInSBOM(t, platform, last, "github-assets", "pkg:github/grpc-ecosystem/grpc-health-probe@"+pinned,
		"pkg:golang/stdlib@")
}

// TestAssetsInProjectTOML adds assets of two repositories by project.toml alone, one with a dot in its name, to an app
// without gRPC. Both are in the image and in an SBOM, in a second build too.
func TestAssetsInProjectTOML(t *testing.T) {
	t.Parallel()
	needDocker(t)
	platform := must(docker())(t)
	app := must(fixture.Stage(map[string]string{
		"main.txt": "no gRPC", "Procfile": "web: sleep 1",
		"project.toml": assetTable,
	}))(t)
	github := startGitHub(t)
	for range 2 {
		env := []string{"HTTPS_PROXY=http://" + github.Addr(), "SSL_CERT_FILE=/github.pem"}
		image := must(platform.PackBuild(t.Context(), harness.Build{Name: "assets", App: app, Env: env}, "--network",
			"host",
			"--volume", github.certificate+":/github.pem:ro",
			"--volume", github.binding+":/platform/bindings/github:ro",
			"-b", "from=builder", "-b", folder()))(t)
		for _, name := range []string{"my-org_tool", "my-org_tool.js"} {
			if !bytes.Equal(must(image.ReadFile("/layers/grpc-cnb_health-probe/"+name+"/bin/tool"))(t), github.probe) {
				t.Errorf("the layer %s has not what was downloaded\n%s", name, image.Log)
			}
		}
		wantInSBOM(t, platform, image, "my-org_tool", "pkg:github/my-org/tool@v1", "pkg:golang/stdlib@")
		wantInSBOM(t, platform, image, "", "pkg:github/my-org/tool.js@v1", "pkg:golang/stdlib@")
	}
	for _, request := range github.Take() {
		if request.Host != githubtest.APIHost && request.Authorization != "" {
			t.Errorf("%s got the token", request.Host)
		}
	}
}

// assetTable is a project.toml with assets as github-assets-cnb has them.
const assetTable = `
[project]
id = "assets"

[[metadata.githubassets]]
repo = "my-org/tool"
asset = "tool"
tag = "v1"
destination = "bin/tool"

[[metadata.githubassets]]
repo = "my-org/tool.js"
asset = "tool"
destination = "bin/tool"
`

// wantInSBOM looks into the CycloneDX document of a layer, or without one of the image, for texts.
func wantInSBOM(t *testing.T, platform *harness.Docker, image *harness.Image, layer string, wants ...string) {
	t.Helper()
	out := t.TempDir()
	must(platform.Pack(t.Context(), "sbom", "download", image.Ref, "--output-dir", out))(t)
	text := must(os.ReadFile(filepath.Join(out, "layers/sbom/launch/grpc-cnb_health-probe", layer, "sbom.cdx.json")))(t)
	for _, want := range wants {
		if !bytes.Contains(text, []byte(want)) {
			t.Errorf("the SBOM of %q does not name %s: %s", layer, want, text)
		}
	}
}

// TestDownloadOfOwnRelease downloads the probe from a release of this product, which scripts/release.sh has made. The
// release's checksums file states the digest.
func TestDownloadOfOwnRelease(t *testing.T) {
	t.Parallel()
	needDocker(t)
	name := "grpc_health_probe-linux-" + arch
	probe, err := os.ReadFile(filepath.Join("../dist/release", name))
	if err != nil && os.Getenv("CI") != "true" {
		t.Skipf("left out: it needs what scripts/release.sh makes: %v", err)
	}
	checksums := must(os.ReadFile("../dist/release/checksums.txt"))(t)
	github := startGitHub(t)
	if err := errors.Join(err, github.add("grpc-cnb/health-probe/v0.1.0", name, probe),
		github.add("grpc-cnb/health-probe/v0.1.0", "checksums.txt", checksums)); err != nil {
		t.Fatal(err)
	}
	github.Behave(func(b *githubtest.Behaviour) { b.Token, b.Private, b.NoDigest = "", false, true })
	platform := must(docker())(t)
	image := must(platform.PackBuild(t.Context(), harness.Build{
		Name: "own-release", App: must(sample())(t),
		Env: []string{
			"HTTPS_PROXY=http://" + github.Addr(), "SSL_CERT_FILE=/github.pem", "BP_GRPC_HEALTH_PROBE_SOURCE=download",
			"BP_GRPC_HEALTH_PROBE_REPO=grpc-cnb/health-probe", "BP_GRPC_HEALTH_PROBE_VERSION=v0.1.0",
		},
	}, "--network", "host", "--volume", github.certificate+":/github.pem:ro", "-b", "from=builder", "-b", folder()))(t)
	wantServing(t, platform, image)
	if !bytes.Equal(must(image.ReadFile(harness.ProbePath))(t), probe) {
		t.Errorf("the probe is not the release's\n%s", image.Log)
	}
	if !strings.Contains(image.Log, "checksums.txt") {
		t.Errorf("the log does not say that checksums.txt states the digest\n%s", image.Log)
	}
}

// gitHub is one that has the bundled probe as a release of the upstream probe, for those with a token.
type gitHub struct {
	*githubtest.Server
	probe []byte
	// releases is the folder with the files of releases, certificate a file, binding the folder of a service binding
	// with the token.
	releases, certificate, binding string
}

// add adds a file to a release, OWNER/NAME/TAG.
func (g gitHub) add(release, name string, content []byte) error {
	folder := filepath.Join(g.releases, release)
	return errors.Join(os.MkdirAll(folder, 0o755), os.WriteFile(filepath.Join(folder, name), content, 0o644))
}

func startGitHub(t *testing.T) gitHub {
	t.Helper()
	dir := t.TempDir()
	g := gitHub{
		releases: filepath.Join(dir, "releases"), certificate: filepath.Join(dir, "ca.pem"),
		binding: filepath.Join(dir, "binding"),
	}
	g.probe = must(os.ReadFile(filepath.Join(folder(), "probes", "linux-"+arch, "grpc_health_probe")))(t)
	for name, content := range map[string][]byte{
		"releases/grpc-ecosystem/grpc-health-probe/" + pinned + "/grpc_health_probe-linux-" + arch: g.probe,
		"releases/my-org/tool/v1/tool":    g.probe,
		"releases/my-org/tool.js/v1/tool": g.probe,
		"binding/type":                    []byte("github"),
		"binding/token":                   []byte(downloadToken),
	} {
		file := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, content, 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	g.Server = must(githubtest.New(filepath.Join(dir, "releases"), g.certificate))(t)
	t.Cleanup(g.Close)
	g.Behave(func(b *githubtest.Behaviour) { b.Token, b.Private = downloadToken, true })
	return g
}

// wantDownloaded holds the image's label and files against what the GitHub has.
func wantDownloaded(t *testing.T, image *harness.Image, probe []byte) {
	t.Helper()
	for _, name := range []string{harness.ProbePath, assetPath} {
		if !bytes.Equal(must(image.ReadFile(name))(t), probe) {
			t.Errorf("%s is not what was downloaded\n%s", name, image.Log)
		}
	}
	var label struct{ Source, Version string }
	text := must(image.Label(buildpackLabel))(t)
	if err := json.Unmarshal([]byte(text), &label); err != nil {
		t.Fatalf("reading the label %q: %v\n%s", text, err, image.Log)
	}
	wantEqual(t, image, "source and version in the label", label.Source+" "+label.Version, "download "+pinned)
}

// wantNoSecret searches all that there is of an image: the log, the configuration with its labels and history, and each
// layer with all that a later one may hide.
func wantNoSecret(t *testing.T, image *harness.Image) {
	t.Helper()
	parts := map[string][]byte{"log": []byte(image.Log), "configuration": must(image.RawConfigFile())(t)}
	for _, layer := range must(image.Image.Layers())(t) {
		stream := must(layer.Uncompressed())(t)
		parts[must(layer.DiffID())(t).String()] = must(io.ReadAll(stream))(t)
		stream.Close()
	}
	for part, content := range parts {
		if bytes.Contains(content, []byte(strings.TrimPrefix(downloadToken, "ghp_"))) {
			t.Errorf("the token is in the image's %s\n%s", part, image.Log)
		}
	}
}
