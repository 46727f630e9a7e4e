package integration

import (
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

// TestTargetArchitecture builds on this machine for another architecture, whose probe the buildpack does not carry: the
// image gets no program of this machine's.
func TestTargetArchitecture(t *testing.T) {
	t.Parallel()
	platform := must(phasesOtherArch())(t)
	_, err := platform.Build(t.Context(),
		harness.Build{Name: "other-arch", App: must(sample())(t), Buildpack: folder()})
	wantBuildError(t, err, "finding the bundled grpc_health_probe for linux/"+otherArch+": this buildpack does not "+
		"carry it (use the buildpack for that architecture)")
}
