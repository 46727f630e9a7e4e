package integration

import (
	"crypto/sha256"
	"debug/elf"
	"encoding/hex"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/remote"

	"github.com/grpc-cnb/health-probe/integration/harness"
)

// TestProbeImage pulls the probe alone for each platform. It has both names, a program for that platform, a user who is
// not root, and SBOMs of this very program.
func TestProbeImage(t *testing.T) {
	t.Parallel()
	needDocker(t)
	p := must(publication())(t)
	machines := map[string]elf.Machine{
		"linux/386": elf.EM_386, "linux/amd64": elf.EM_X86_64, "linux/arm/v6": elf.EM_ARM, "linux/arm/v7": elf.EM_ARM,
		"linux/arm64": elf.EM_AARCH64, "linux/ppc64le": elf.EM_PPC64, "linux/riscv64": elf.EM_RISCV,
		"linux/s390x": elf.EM_S390,
	}
	index := must(must(remote.Index(p.probe, p.registry.Auth()))(t).IndexManifest())(t)
	for _, child := range index.Manifests {
		platform := child.Platform.String()
		machine, ok := machines[platform]
		if !ok {
			t.Errorf("the image is also for %s", platform)
		}
		delete(machines, platform)
		t.Run(platform, func(t *testing.T) {
			t.Parallel()
			digest := p.probe.Context().Digest(child.Digest.String())
			image := must(remote.Image(digest, p.registry.Auth()))(t)
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
			for _, program := range []string{"bin/grpc_health_probe", "bin/grpc-health-probe"} {
				wantMachine(t, filepath.Join(folder, program), machine)
			}
			wantSBOMs(t, p.registry, digest, filepath.Join(folder, "bin/grpc_health_probe"))
		})
	}
	if len(machines) > 0 {
		t.Errorf("the image is not for %v", machines)
	}
}

// wantSBOMs reads the referrers of an image, which have to name the digest of a program.
func wantSBOMs(t *testing.T, registry *harness.Registry, image name.Digest, program string) {
	t.Helper()
	sum := sha256.Sum256(must(os.ReadFile(program))(t))
	referrers := must(must(remote.Referrers(image, registry.Auth()))(t).IndexManifest())(t)
	found := map[string]bool{}
	for _, referrer := range referrers.Manifests {
		found[referrer.ArtifactType] = true
		document := must(remote.Image(image.Context().Digest(referrer.Digest.String()), registry.Auth()))(t)
		for _, layer := range must(document.Layers())(t) {
			content := must(io.ReadAll(must(layer.Compressed())(t)))(t)
			if !strings.Contains(string(content), hex.EncodeToString(sum[:])) {
				t.Errorf("the SBOM of type %s does not have the program's digest", referrer.ArtifactType)
			}
		}
	}
	for _, want := range []string{"application/vnd.cyclonedx+json", "application/spdx+json"} {
		if !found[want] {
			t.Errorf("the image %s has the referrers %v, want one of type %s", image, found, want)
		}
	}
}

// TestProbeImageRuns runs the image with flags, beside an app that has no probe.
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
}

// TestDockerfileCopiesFromTheProbeImage takes the probe into an image that was built without the buildpack: the folder,
// as the example does, and either name alone.
func TestDockerfileCopiesFromTheProbeImage(t *testing.T) {
	t.Parallel()
	needDocker(t)
	platform, p := must(docker())(t), must(publication())(t)
	plain := must(platform.Build(t.Context(), harness.Build{Name: "to-copy-the-probe-to", App: must(sample())(t)}))(t)
	example := stageExample(t, "../examples/copy.Dockerfile", "ghcr.io/grpc-cnb/grpc-health-probe:"+p.version,
		p.probe.String())
	text := string(must(os.ReadFile(example))(t))
	for _, program := range []string{"grpc_health_probe", "grpc-health-probe"} {
		text += "COPY --from=" + p.probe.String() + " /bin/" + program + " /alone/" + program + "\n"
	}
	if err := os.WriteFile(example, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	copied := must(platform.DockerBuild(t.Context(), "copied-from-the-probe", example, "IMAGE="+plain.Ref))(t)
	server := serve(t, platform, copied)
	alias := strings.Replace(harness.ProbePath, "grpc_health_probe", "grpc-health-probe", 1)
	for _, program := range []string{harness.ProbePath, alias, "/alone/grpc_health_probe", "/alone/grpc-health-probe"} {
		wantExit(t, server, 0, program, "-addr="+server.GRPC)
		wantExit(t, server, 3, program, "-addr="+server.GRPC, "-service=missing")
	}
}
