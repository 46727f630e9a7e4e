package integration

import (
	"crypto/sha256"
	"debug/elf"
	"encoding/hex"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/remote"

	"github.com/grpc-cnb/health-probe/integration/harness"
)

// TestProbeImage pulls the probe's image for each platform. It has the probe by both names and the bridge.
func TestProbeImage(t *testing.T) {
	t.Parallel()
	needDocker(t)
	p := must(publication())(t)
	wantPrograms(t, p.registry, p.probe, map[string]elf.Machine{
		"linux/386": elf.EM_386, "linux/amd64": elf.EM_X86_64, "linux/arm/v6": elf.EM_ARM, "linux/arm/v7": elf.EM_ARM,
		"linux/arm64": elf.EM_AARCH64, "linux/ppc64le": elf.EM_PPC64, "linux/riscv64": elf.EM_RISCV,
		"linux/s390x": elf.EM_S390,
	}, "grpc-health-probe", "grpc_health_bridge", "grpc_health_probe")
}

// wantPrograms pulls an image for each platform that it has to have. It has the programs for that platform, a user who
// is not root, and SBOMs of these very programs.
func wantPrograms(
	t *testing.T, registry *harness.Registry, of name.Digest, machines map[string]elf.Machine, want ...string,
) {
	t.Helper()
	index := must(must(remote.Index(of, registry.Auth()))(t).IndexManifest())(t)
	for _, child := range index.Manifests {
		platform := child.Platform.String()
		machine, ok := machines[platform]
		if !ok {
			t.Errorf("the image is also for %s", platform)
		}
		delete(machines, platform)
		t.Run(platform, func(t *testing.T) {
			t.Parallel()
			digest := of.Context().Digest(child.Digest.String())
			image := must(remote.Image(digest, registry.Auth()))(t)
			config := must(image.ConfigFile())(t)
			if got := config.Platform(); got == nil || !got.Equals(*child.Platform) {
				t.Errorf("the configuration is for %v", got)
			}
			if want := "65532:65532"; config.Config.User != want {
				t.Errorf("the user is %q, want %q", config.Config.User, want)
			}
			folder := t.TempDir()
			if err := (&harness.Image{Image: image, Ref: platform}).Extract(folder); err != nil {
				t.Fatal(err)
			}
			var programs []string
			for _, entry := range must(os.ReadDir(filepath.Join(folder, "bin")))(t) {
				programs = append(programs, entry.Name())
				wantMachine(t, filepath.Join(folder, "bin", entry.Name()), machine)
			}
			if !slices.Equal(programs, want) {
				t.Errorf("the programs are %q, want %q", programs, want)
			}
			wantSBOMs(t, registry, digest, filepath.Join(folder, "bin"))
		})
	}
	if len(machines) > 0 {
		t.Errorf("the image is not for %v", machines)
	}
}

// wantSBOMs reads the referrers of an image: one SBOM in each format, with the digests of all programs in a folder.
func wantSBOMs(t *testing.T, registry *harness.Registry, image name.Digest, folder string) {
	t.Helper()
	referrers := must(must(remote.Referrers(image, registry.Auth()))(t).IndexManifest())(t)
	found := map[string]int{}
	for _, referrer := range referrers.Manifests {
		found[referrer.ArtifactType]++
		document := must(remote.Image(image.Context().Digest(referrer.Digest.String()), registry.Auth()))(t)
		for _, layer := range must(document.Layers())(t) {
			content := must(io.ReadAll(must(layer.Compressed())(t)))(t)
			for _, program := range must(os.ReadDir(folder))(t) {
				sum := sha256.Sum256(must(os.ReadFile(filepath.Join(folder, program.Name())))(t))
				if !strings.Contains(string(content), hex.EncodeToString(sum[:])) {
					t.Errorf("the SBOM of type %s does not have the digest of %s", referrer.ArtifactType,
						program.Name())
				}
			}
		}
	}
	want := map[string]int{"application/vnd.cyclonedx+json": 1, "application/spdx+json": 1}
	if !maps.Equal(found, want) {
		t.Errorf("the image %s has referrers of the types %v, want %v", image, found, want)
	}
}

// TestProbeImageRuns runs the image with flags, beside an app that has no probe, and its other program.
func TestProbeImageRuns(t *testing.T) {
	t.Parallel()
	needDocker(t)
	platform, p := must(docker())(t), must(publication())(t)
	server := serve(t, platform, must(platform.Build(t.Context(),
		harness.Build{Name: "beside-the-probe", App: must(sample())(t)}))(t))
	flags := []string{"--pull", "missing", "--network", "container:" + server.Container, "--read-only"}
	out := must(platform.Once(t.Context(), p.probe.String(), flags, "-addr="+server.GRPC))(t)
	if !strings.Contains(out, "status: SERVING") {
		t.Errorf("it prints %q", out)
	}
	out, err := platform.Once(t.Context(), p.probe.String(), flags, "-addr="+server.GRPC, "-service=missing")
	if err == nil {
		t.Errorf("a service that is not there passes: %s", out)
	}
	bridge := []string{"--pull", "missing", "--read-only", "--entrypoint", "/bin/grpc_health_bridge"}
	out = must(platform.Once(t.Context(), p.probe.String(), bridge, "-h"))(t)
	if !strings.HasPrefix(out, "Usage: grpc_health_bridge") {
		t.Errorf("the bridge prints %q", out)
	}
}

// TestDockerfileCopiesFromTheProbeImage takes the probe into an image that was built without the buildpack: as the
// example does, by its other name, and the folder with all programs.
func TestDockerfileCopiesFromTheProbeImage(t *testing.T) {
	t.Parallel()
	needDocker(t)
	platform, p := must(docker())(t), must(publication())(t)
	plain := must(platform.Build(t.Context(), harness.Build{Name: "to-copy-the-probe-to", App: must(sample())(t)}))(t)
	example := stageExample(t, "../examples/copy.Dockerfile", "ghcr.io/grpc-cnb/grpc-health-probe:"+p.version,
		p.probe.String())
	text := string(must(os.ReadFile(example))(t))
	text += "COPY --from=" + p.probe.String() + " /bin/grpc-health-probe /alone/\n" +
		"COPY --from=" + p.probe.String() + " /bin/ /all/\n"
	if err := os.WriteFile(example, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	copied := must(platform.DockerBuild(t.Context(), "copied-from-the-probe", example, "IMAGE="+plain.Ref))(t)
	server := serve(t, platform, copied)
	for _, program := range []string{
		harness.ProbePath, "/alone/grpc-health-probe", "/all/grpc_health_probe", "/all/grpc-health-probe",
	} {
		wantExit(t, server, 0, program, "-addr="+server.GRPC)
		wantExit(t, server, 3, program, "-addr="+server.GRPC, "-service=missing")
	}
	wantExit(t, server, 0, "/all/grpc_health_bridge", "-h")
}
