package build

import (
	"cmp"
	"debug/buildinfo"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/buildpacks/libcnb/v2"

	"github.com/grpc-cnb/health-probe/build/archive"
	"github.com/grpc-cnb/health-probe/build/execprobe"
	"github.com/grpc-cnb/health-probe/build/executable"
	"github.com/grpc-cnb/health-probe/build/github"
	"github.com/grpc-cnb/health-probe/build/sbom"
	"github.com/grpc-cnb/health-probe/internal/config"
	"github.com/grpc-cnb/health-probe/probe/bridge/bridgeflags"
)

// program is a probe, or a bridge, ready for installation.
type program struct {
	// name is the program's name in the image.
	name string
	// file is the path on the build machine.
	file string
	// source is the origin for the image label and the SBOM: bundled, compile or download.
	source string
	// version is the source code's version, as in v1.2.3, or (devel) for a build outside version control.
	version string
	// variant is lean or full, "" for a downloaded program.
	variant string
	// platform is GOOS/GOARCH.
	platform string
	// interpreter is the loader of a dynamically linked program, "" for a static program.
	interpreter string
	// sha256 is the digest of the file, in hex.
	sha256 string
	// info is the build info: the versions of Go and of the linked modules, nil for a program not in Go.
	info *buildinfo.BuildInfo
	// downloaded describes a downloaded program, nil for others.
	downloaded *downloadMetadata
	// origin is the download's URL, purl the package URL of the release. Both are "" without a download.
	origin, purl string
}

// ownModule is the module of the project's own probe.
const ownModule = "github.com/grpc-cnb/health-probe"

// readsDefaults reports whether the program reads the default flags in the config layer, as the project's probe does.
// Other probes take flags from the command line alone.
func (p program) readsDefaults() bool { return p.downloaded == nil || p.downloaded.Module == ownModule }

// component describes the program for the SBOM. A downloaded program is a release of a repository. A fork's version is
// no version of the program's module, so the module has the version in the program.
func (p program) component() sbom.Component {
	c := sbom.GoProgram(p.info, p.version)
	if p.purl != "" {
		c = sbom.Component{PURL: p.purl, Licence: c.Licence, Parts: c.Parts}
		if p.info != nil && p.info.Main.Path != "" {
			c.Parts = append([]sbom.Component{sbom.GoModule(p.info.Main.Path, p.info.Main.Version)}, c.Parts...)
		}
	}
	c.Name, c.Version, c.SHA256, c.Origin, c.Source = p.name, p.version, p.sha256, p.origin, p.source
	return c
}

// bundledFiles are the names of the programs in the buildpack, by variant. The full probe is in an archive.
var bundledFiles = map[string]string{
	config.VariantLean: "grpc_health_probe",
	config.VariantFull: "grpc_health_probe_full",
	bridgeVariant:      bridgeflags.Program,
}

// bridgeVariant stands for the bridge, which has a single build.
const bridgeVariant = "bridge"

// bundledProgram returns the probe's variant in the buildpack's folder probes/OS-ARCH for the target, and unpacks a
// program in an archive into the folder work.
func bundledProgram(ctx libcnb.BuildContext, variant, work string) (program, error) {
	target := ctx.TargetInfo
	folder, name := filepath.Join(ctx.Buildpack.Path, "probes", target.OS+"-"+target.Arch), bundledFiles[variant]
	var unpacking error
	if variant == config.VariantFull {
		_, unpacking = archive.Unpack(filepath.Join(folder, name+".tgz"), name+".tgz", work, 0)
		folder = work
	}
	bundled, err := readProgram(filepath.Join(folder, name), config.Bundled)
	err = cmp.Or(unpacking, err)
	bundled.name, bundled.variant = namesOf(variant)
	if errors.Is(err, fs.ErrNotExist) {
		return program{}, fmt.Errorf("finding the bundled %s for %s: this buildpack does not carry it (use the "+
			"buildpack for that architecture)", bundled.name, platform(target))
	}
	if err == nil && bundled.platform != platform(target) {
		return program{}, fmt.Errorf("checking the bundled probe %q: it is for %s, the image is for %s",
			bundled.file, bundled.platform, platform(target))
	}
	return bundled, err
}

// namesOf returns the name of a program in the image, and the variant for the log and the label, "" for the bridge.
func namesOf(variant string) (name, labelled string) {
	if variant == bridgeVariant {
		return bridgeflags.Program, ""
	}
	return execprobe.ProgramName, variant
}

func platform(target libcnb.TargetInfo) string { return target.OS + "/" + target.Arch }

func executablePlatform(target libcnb.TargetInfo) executable.Platform {
	return executable.Platform{OS: target.OS, Arch: target.Arch}
}

// readProgram reads the description of the Go program in file.
func readProgram(file, source string) (program, error) {
	f, err := os.Open(file)
	if err != nil {
		return program{}, err
	}
	defer f.Close()
	info, err := buildinfo.Read(f)
	if err != nil {
		return program{}, fmt.Errorf("reading the build info of %q: %w", file, err)
	}
	digest, err := sbom.FileSHA256(file)
	if err != nil {
		return program{}, err
	}
	return program{
		name:     execprobe.ProgramName,
		file:     file,
		source:   source,
		version:  info.Main.Version,
		platform: buildSetting(info, "GOOS") + "/" + buildSetting(info, "GOARCH"),
		sha256:   digest,
		info:     info,
	}, nil
}

func buildSetting(info *buildinfo.BuildInfo, key string) string {
	for _, setting := range info.Settings {
		if setting.Key == key {
			return setting.Value
		}
	}
	return ""
}

// downloadMetadata is the layer's metadata about a downloaded program, for the next build to keep the program without
// another download.
type downloadMetadata struct {
	github.ResolvedAsset
	Platform string `toml:"platform"`
	// Module is the main module of a Go program.
	Module string `toml:"module"`
}
