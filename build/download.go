package build

import (
	"context"
	"debug/buildinfo"
	"debug/elf"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/buildpacks/libcnb/v2"

	"github.com/grpc-cnb/health-probe/build/archive"
	"github.com/grpc-cnb/health-probe/build/github"
	"github.com/grpc-cnb/health-probe/detect"
)

// Downloaded has the probe from a release on GitHub, verified, as a file in work. Where the layer of the build before has
// it already, there is no such file and nothing is downloaded; for a release that is named and not "latest", nothing is
// asked either.
func Downloaded(releases releases, settings Settings, work string) (Probe, error) {
	wanted := releases.fill(settings.Download)
	client, err := releases.client("", wanted.Repo)
	if err != nil {
		return Probe{}, err
	}
	before, had, err := earlier(releases, wanted)
	if err != nil || had && wanted.Tag != github.Latest {
		return before, err
	}
	probe, err := newest(client, wanted, before, work, releases.ctx.TargetInfo)
	if had && github.IsUnavailable(err) {
		releases.logger.Headerf("Warning: %s", err)
		releases.logger.Headerf("Warning: the probe of the build before stays: %s", before.Version)
		return before, nil
	}
	return probe, err
}

// newest finds the release and has its probe: before, where that is of the same release.
func newest(client *github.Client, wanted github.Asset, before Probe, work string, target libcnb.TargetInfo) (Probe, error) {
	release, err := resolve(client, wanted)
	if err != nil {
		return Probe{}, err
	}
	from := originOf(client.API, release)
	if before.from != nil && *before.from == from {
		return before, nil
	}
	file, err := program(client, release, work)
	if err != nil {
		return Probe{}, err
	}
	probe, err := openDownloaded(file, target)
	if err != nil {
		return Probe{}, fmt.Errorf("checking %s: %w", release.Asset, err)
	}
	probe.Version, probe.from, probe.Origin, probe.PURL = release.Tag, &from, client.Address(release), purlOf(client, release)
	return probe, nil
}

// earlier returns the probe in the layer of the build before, if that is the one wanted. Its file is in the image alone;
// what describes it was restored with the layer's metadata.
func earlier(releases releases, wanted github.Asset) (Probe, bool, error) {
	layer, err := releases.ctx.Layers.Layer(layerName)
	if err != nil {
		return Probe{}, false, err
	}
	metadata := readMetadata[layerMetadata](layer)
	if metadata.Source != detect.Download || metadata.Download == nil || !hasSBOM(layer) ||
		metadata.Download.Platform != platform(releases.ctx.TargetInfo) || !metadata.Download.serves(releases.api, wanted) {
		return Probe{}, false, nil
	}
	download := metadata.Download
	return Probe{
		Source: detect.Download, Version: download.Tag, Platform: download.Platform, SHA256: metadata.SHA256,
		from: &download.origin, module: download.Module,
	}, true, nil
}

// program downloads the release's asset, and if that is an archive takes the one program out of it.
func program(client *github.Client, release github.Release, work string) (string, error) {
	file := filepath.Join(work, "asset")
	if err := client.Download(context.Background(), release, file); err != nil {
		return "", err
	}
	if packed, err := archive.Is(file); err != nil || !packed {
		return file, err
	}
	dir := filepath.Join(work, "unpacked")
	names, err := archive.Unpack(file, release.Name, dir, 0)
	if err != nil {
		return "", err
	}
	var programs []string
	for _, name := range names {
		if f, err := elf.Open(filepath.Join(dir, name)); err == nil {
			f.Close()
			programs = append(programs, name)
		}
	}
	if len(programs) != 1 {
		return "", fmt.Errorf("finding the program in %s: it holds %d programs, not one: %q", release.Asset, len(programs), programs)
	}
	return filepath.Join(dir, programs[0]), nil
}

// machines are the ELF machines of Go's architectures.
var machines = map[string]elf.Machine{
	"386": elf.EM_386, "amd64": elf.EM_X86_64, "arm": elf.EM_ARM, "arm64": elf.EM_AARCH64, "loong64": elf.EM_LOONGARCH,
	"ppc64le": elf.EM_PPC64, "riscv64": elf.EM_RISCV, "s390x": elf.EM_S390,
}

// openDownloaded reads what describes the program at file, which must be one for the target. It need not be Go's.
func openDownloaded(file string, target libcnb.TargetInfo) (Probe, error) {
	f, err := elf.Open(file)
	if err != nil {
		return Probe{}, fmt.Errorf("it is no program for Linux (ELF): %w", err)
	}
	defer f.Close()
	if f.Machine != machines[target.Arch] {
		return Probe{}, fmt.Errorf("it is a program for %s, the image is for %s (name the asset for each with {arch} in $%s)",
			strings.TrimPrefix(f.Machine.String(), "EM_"), target.Arch, AssetEnv)
	}
	probe := Probe{File: file, Source: detect.Download, Platform: platform(target)}
	if probe.SHA256, err = digestOf(file); err != nil {
		return Probe{}, err
	}
	if info, err := buildinfo.ReadFile(file); err == nil {
		probe.Info, probe.module = info, info.Main.Path
	}
	return probe, nil
}
