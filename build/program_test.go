package build

import (
	"debug/buildinfo"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"testing"

	"github.com/buildpacks/libcnb/v2"

	"github.com/grpc-cnb/health-probe/internal/config"
)

// A buildpack carries the programs of one architecture.
func TestProgramsThatAreNotCarried(t *testing.T) {
	t.Parallel()
	ctx := libcnb.BuildContext{
		Buildpack: libcnb.Buildpack{Path: t.TempDir()}, TargetInfo: libcnb.TargetInfo{OS: "linux", Arch: "s390x"},
	}
	for variant, want := range map[string]string{
		config.VariantLean: "grpc_health_probe",
		config.VariantFull: "grpc_health_probe",
		bridgeVariant:      "grpc_health_bridge",
	} {
		want = "finding the bundled " + want + " for linux/s390x: this buildpack does not carry it " +
			"(use the buildpack " +
			"for that architecture)"
		if _, err := bundledProgram(ctx, variant, t.TempDir()); err == nil || err.Error() != want {
			t.Errorf("the error is %v, want %s", err, want)
		}
	}
}

// A folder of the buildpack may have a program of another architecture by mistake.
func TestProgramOfAnotherPlatform(t *testing.T) {
	t.Parallel()
	own, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ctx := libcnb.BuildContext{
		Buildpack: libcnb.Buildpack{Path: t.TempDir()}, TargetInfo: libcnb.TargetInfo{OS: "linux", Arch: "s390x"},
	}
	file := filepath.Join(ctx.Buildpack.Path, "probes", "linux-s390x", "grpc_health_probe")
	if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.Symlink(own, file)); err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf("checking the bundled probe %q: it is for %s/%s, the image is for linux/s390x", file,
		runtime.GOOS, runtime.GOARCH)
	if _, err := bundledProgram(ctx, config.VariantLean, t.TempDir()); err == nil || err.Error() != want {
		t.Errorf("the error is %v, want %s", err, want)
	}
}

// The tag of a fork's release is no version of the module that was forked.
func TestDownloadedProbeIsOfItsReleaseAndOfItsModule(t *testing.T) {
	t.Parallel()
	const upstream = "github.com/grpc-ecosystem/grpc-health-probe"
	info := &buildinfo.BuildInfo{
		GoVersion: "go1.26.8 (Red Hat 1.26.8-1.el9)",
		Main:      debug.Module{Path: upstream, Version: "v0.4.56"},
	}
	got := program{version: "fips-7", purl: "pkg:github/my-org/fork@fips-7", info: info}.component()
	purls := []string{got.PURL}
	for _, part := range got.Parts {
		purls = append(purls, part.PURL)
	}
	want := []string{"pkg:github/my-org/fork@fips-7", "pkg:golang/" + upstream + "@v0.4.56", "pkg:golang/stdlib@1.26.8"}
	if !slices.Equal(purls, want) {
		t.Errorf("listed: %q\nwant: %q", purls, want)
	}
	if got.Version != "fips-7" || got.Licence != "Apache-2.0" {
		t.Errorf("its version and licence are %q and %q", got.Version, got.Licence)
	}
}
