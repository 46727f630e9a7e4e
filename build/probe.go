package build

import (
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/buildpacks/libcnb/v2"

	"github.com/grpc-cnb/health-probe/detect"
)

// Probe is a probe program that is ready to be installed, wherever it came from.
type Probe struct {
	// File is the program's path on the build machine; "" for one that stays in the layer of the build before.
	File string
	// Source says where it came from, as the image label and the SBOM name it: "bundled".
	Source string
	// Version is that of the program's source, as in "v1.2.3", or "(devel)" for one outside version control.
	Version string
	// Variant is the build of it: "lean" or "full".
	Variant string
	// Platform is what the program runs on: GOOS/GOARCH.
	Platform string
	// SHA256 is the hex digest of the file.
	SHA256 string
	// Origin is the URL it was downloaded from, PURL the package URL of the release; "" where it was not downloaded.
	Origin, PURL string
	// Info is what the Go linker recorded in the program: module versions and toolchain. nil for one that is not Go's.
	Info *buildinfo.BuildInfo
	// from is the asset that it was downloaded as, nil where it was not, and module the main module of a downloaded one.
	from   *origin
	module string
}

// bundledFiles are the names of the programs in the buildpack, by variant.
var bundledFiles = map[string]string{lean: "grpc_health_probe", full: "grpc_health_probe_full"}

// Bundled returns the variant of the probe for the target that travels in the buildpack, in probes/<os>-<arch>. The
// buildpack carries the probes of every target it names: the image's architecture need not be the build machine's.
func Bundled(ctx libcnb.BuildContext, variant string) (Probe, error) {
	target := ctx.TargetInfo
	file := filepath.Join(ctx.Buildpack.Path, "probes", target.OS+"-"+target.Arch, bundledFiles[variant])
	probe, err := open(file, detect.Bundled)
	probe.Variant = variant
	if os.IsNotExist(err) {
		return Probe{}, fmt.Errorf("finding the bundled probe for %s: this buildpack does not carry it", platform(target))
	}
	if err == nil && probe.Platform != platform(target) {
		return Probe{}, fmt.Errorf("checking the bundled probe %q: it is for %s, the image is for %s", file, probe.Platform, platform(target))
	}
	return probe, err
}

func platform(target libcnb.TargetInfo) string { return target.OS + "/" + target.Arch }

// open reads what describes the program at file.
func open(file, source string) (Probe, error) {
	f, err := os.Open(file)
	if err != nil {
		return Probe{}, err
	}
	defer f.Close()
	info, err := buildinfo.Read(f)
	if err != nil {
		return Probe{}, fmt.Errorf("reading the build info of %q: %w", file, err)
	}
	digest, err := digestOf(file)
	if err != nil {
		return Probe{}, err
	}
	return Probe{
		File:     file,
		Source:   source,
		Version:  info.Main.Version,
		Platform: buildSetting(info, "GOOS") + "/" + buildSetting(info, "GOARCH"),
		SHA256:   digest,
		Info:     info,
	}, nil
}

// digestOf returns the SHA-256 of a file, in hex.
func digestOf(file string) (string, error) {
	f, err := os.Open(file)
	if err != nil {
		return "", err
	}
	defer f.Close()
	digest := sha256.New()
	if _, err := io.Copy(digest, f); err != nil {
		return "", fmt.Errorf("reading %q: %w", file, err)
	}
	return hex.EncodeToString(digest.Sum(nil)), nil
}

func buildSetting(info *buildinfo.BuildInfo, key string) string {
	for _, setting := range info.Settings {
		if setting.Key == key {
			return setting.Value
		}
	}
	return ""
}
