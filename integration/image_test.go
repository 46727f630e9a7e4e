package integration

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/CycloneDX/cyclonedx-go"

	"github.com/grpc-cnb/health-probe/build/labeltest"
	"github.com/grpc-cnb/health-probe/build/sbom/sbomtest"
	"github.com/grpc-cnb/health-probe/integration/harness"
)

func TestLabel(t *testing.T) {
	eachPlatform(t, func(t *testing.T, platform harness.Platform) {
		image := buildWithArgs(t, platform, "label", "-addr=localhost:5000 -rpc-header=token:secret")
		text := must(image.Label(buildpackLabel))(t)
		if err := labeltest.Check(repository, text); err != nil {
			t.Error(err)
		}
		var label map[string]any
		if err := json.Unmarshal([]byte(text), &label); err != nil {
			t.Fatalf("reading the label %q: %v", text, err)
		}
		sum := fmt.Sprintf("%x", sha256.Sum256(must(image.ReadFile(harness.ProbePath))(t)))
		for key, want := range map[string]any{
			"path": harness.ProbePath, "sha256": sum, "source": "bundled", "language": "go", "health": "registered",
		} {
			wantEqual(t, image, key+" in the label", label[key], want)
		}
		if strings.Contains(text+image.Log, "secret") {
			t.Errorf("the label or the log shows a header's value: %s\n%s", text, image.Log)
		}
	})
}

func TestAppIsLeftAlone(t *testing.T) {
	eachPlatform(t, func(t *testing.T, platform harness.Platform) {
		image := must(platform.Build(t.Context(),
			harness.Build{Name: "untouched", App: must(sample())(t), Buildpack: folder()}))(t)
		wantEqual(t, image, "entrypoints", must(image.ConfigFile())(t).Config.Entrypoint, []string{"/cnb/process/web"})
		wantEqual(t, image, "processes", processes(t, image), []string{"web"})
		var app []string
		for _, name := range must(image.Files())(t) {
			if file, ok := strings.CutPrefix(name, "/workspace/"); ok {
				app = append(app, file)
			}
		}
		slices.Sort(app)
		wantEqual(t, image, "files of the app", app,
			[]string{"Procfile", "credentials.go", "go.mod", "go.sum", "lifecycle.go", "main.go", "server"})
	})
}

// TestSBOM reads the three formats back as pack hands them out, and holds two against what their makers say of them.
func TestSBOM(t *testing.T) {
	t.Parallel()
	needDocker(t)
	platform := must(docker())(t)
	image := must(platform.Build(t.Context(), harness.Build{
		Name: "sbom", App: must(sample())(t), Buildpack: folder(), Env: []string{"BP_GRPC_HEALTH_PROBE_VARIANT=full"},
	}))(t)
	out := t.TempDir()
	must(platform.Pack(t.Context(), "sbom", "download", image.Ref, "--output-dir", out))(t)
	read := func(name string) []byte {
		return must(os.ReadFile(filepath.Join(out, "layers/sbom/launch/grpc-cnb_health-probe/probe", name)))(t)
	}
	const linked = "google.golang.org/grpc"

	bom := must(sbomtest.CycloneDX(read("sbom.cdx.json")))(t)
	if !slices.ContainsFunc(*bom.Components, func(c cyclonedx.Component) bool { return c.Name == linked }) {
		t.Errorf("the CycloneDX SBOM does not name %s: %v", linked, *bom.Components)
	}
	var packages []string
	for _, p := range must(sbomtest.SPDX(read("sbom.spdx.json")))(t).Packages {
		packages = append(packages, p.PackageName)
	}
	if !slices.Contains(packages, linked) {
		t.Errorf("the SPDX SBOM does not name %s: %v", linked, packages)
	}
	var syft struct{ Artifacts []struct{ Name string } }
	if err := json.Unmarshal(read("sbom.syft.json"), &syft); err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(syft.Artifacts, struct{ Name string }{linked}) {
		t.Errorf("the Syft SBOM does not name %s: %v", linked, syft.Artifacts)
	}
}
