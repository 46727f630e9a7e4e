package integration

import (
	"bytes"
	"debug/elf"
	"testing"

	"github.com/grpc-cnb/health-probe/integration/harness"
)

func TestSecondBuildReusesLayers(t *testing.T) {
	eachPlatform(t, func(t *testing.T, platform harness.Platform) {
		build := harness.Build{
			Name: "again", App: must(sample())(t), Buildpack: folder(),
			Env: []string{argsEnv + "-addr=:5000"},
		}
		first := must(platform.Build(t.Context(), build))(t)
		second := must(platform.Build(t.Context(), build))(t)
		wantEqual(t, second, "diffIDs", diffIDs(t, second), diffIDs(t, first))
		for _, layer := range []string{"probe", "config"} {
			wantInLog(t, second, "Reusing layer '"+buildpackID+":"+layer+"'")
		}
	})
}

func TestProbeLayerIsTheSameInAllImages(t *testing.T) {
	eachPlatform(t, func(t *testing.T, platform harness.Platform) {
		other := must(fixture.StageSample(t.Context(), map[string]string{"other.txt": "another app\n"}))(t)
		one := must(platform.Build(t.Context(),
			harness.Build{Name: "one", App: must(sample())(t), Buildpack: folder()}))(t)
		two := must(platform.Build(t.Context(), harness.Build{
			Name: "two", App: other, Buildpack: folder(), Env: []string{argsEnv + "-addr=:5000"},
		}))(t)
		digest := ourLayers(t, one)["probe"]
		if digest == "" {
			t.Fatalf("the image has no probe layer\n%s", one.Log)
		}
		wantEqual(t, two, "probe layers", ourLayers(t, two)["probe"], digest)
	})
}

// TestTargetArchitecture builds on this machine for arm64: the probe in the layer is the target's.
func TestTargetArchitecture(t *testing.T) {
	t.Parallel()
	platform := must(phasesARM64())(t)
	image := must(platform.Build(t.Context(),
		harness.Build{Name: "arm", App: must(sample())(t), Buildpack: folder()}))(t)
	wantEqual(t, image, "architectures", must(image.ConfigFile())(t).Architecture, "arm64")
	program := must(elf.NewFile(bytes.NewReader(must(image.ReadFile(harness.ProbePath))(t))))(t)
	wantEqual(t, image, "machines of the probe", program.Machine, elf.EM_AARCH64)
}
