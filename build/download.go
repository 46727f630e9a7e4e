package build

import (
	"context"
	"debug/buildinfo"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/buildpacks/libcnb/v2"
	"github.com/paketo-buildpacks/libpak/v2/log"
	"github.com/paketo-buildpacks/libpak/v2/sherpa"

	"github.com/grpc-cnb/health-probe/build/archive"
	"github.com/grpc-cnb/health-probe/build/execprobe"
	"github.com/grpc-cnb/health-probe/build/executable"
	"github.com/grpc-cnb/health-probe/build/github"
	"github.com/grpc-cnb/health-probe/build/launch"
	"github.com/grpc-cnb/health-probe/build/sbom"
	"github.com/grpc-cnb/health-probe/internal/config"
	"github.com/grpc-cnb/health-probe/internal/plan"
)

// download returns the probe of a release on GitHub, verified, as a file in the folder work. If the layer of
// the build before holds the probe, nothing is downloaded, and only a request for "latest" asks GitHub.
func download(
	ctx libcnb.BuildContext, host github.Host, request github.Request, work string, logger log.Logger,
) (program, error) {
	request = host.Pinned(request.ForTarget(ctx.TargetInfo))
	client, err := github.New(host)
	if err != nil {
		return program{}, err
	}
	d := downloader{ctx: ctx, client: client, request: request, work: work}
	previous, ok, err := d.previous(host)
	if err != nil {
		return program{}, err
	}
	if !ok || request.Tag == github.Latest {
		current, err := d.current(previous, ok)
		switch {
		case ok && github.IsUnavailable(err):
			logger.Headerf("Warning: %s", plan.SafeError(err))
			logger.Headerf("Warning: the probe of the build before stays: %s", previous.version)
		case err != nil:
			return program{}, err
		default:
			previous, ok = current, current.file == previous.file
		}
	}
	asset := previous.downloaded.ResolvedAsset
	if ok {
		logger.Bodyf("Reusing the download of the build before: %s", asset)
	}
	logger.Body(asset.Verified(config.SHA256Env + "="))
	return previous, nil
}

type downloader struct {
	ctx     libcnb.BuildContext
	client  *github.Client
	request github.Request
	work    string
	// before describes the download of the build before, whether still in the layer or not.
	before github.ResolvedAsset
}

// previous returns the program in the layer of the build before, as a copy, and whether it satisfies the request. The
// program's bytes have to agree with the layer's metadata.
func (d *downloader) previous(host github.Host) (program, bool, error) {
	layer, err := d.ctx.Layers.Layer(execprobe.LayerName)
	if err != nil {
		return program{}, false, err
	}
	metadata := launch.Metadata[layerMetadata](layer)
	if metadata.Source != config.Download || metadata.Download == nil {
		return program{}, false, nil
	}
	d.before = metadata.Download.ResolvedAsset
	if metadata.Download.Platform != platform(d.ctx.TargetInfo) || !d.before.Satisfies(d.request, host.API) {
		return program{}, false, nil
	}
	file := filepath.Join(d.work, "previous")
	if err := sherpa.CopyFileFrom(pathIn(layer), file); err != nil {
		return program{}, false, nil //nolint:nilerr // the platform did not keep it
	}
	p, err := d.read(file, d.before)
	if err != nil || p.sha256 != metadata.SHA256 {
		return program{}, false, nil //nolint:nilerr // it is not what the metadata says, so it is downloaded
	}
	return p, true, nil
}

// current asks GitHub for the release and returns the release's program: the previous program, if of the same release.
func (d *downloader) current(previous program, ok bool) (program, error) {
	asset, err := d.client.Resolve(context.Background(), d.request)
	if err != nil {
		return program{}, err
	}
	if err := asset.CheckUnchanged(d.before, d.request); err != nil {
		return program{}, err
	}
	if ok && previous.downloaded.Same(asset) {
		previous.downloaded.ResolvedAsset = asset
		return previous, nil
	}
	file := filepath.Join(d.work, "asset")
	if err := d.client.Download(context.Background(), d.request, asset, file); err != nil {
		return program{}, err
	}
	if file, err = programIn(file, asset, d.work, executablePlatform(d.ctx.TargetInfo)); err != nil {
		return program{}, err
	}
	p, err := d.read(file, asset)
	if err != nil {
		return program{}, fmt.Errorf("checking %s: %w", asset, err)
	}
	return p, nil
}

// read reads the description of the program in an asset's file.
func (d *downloader) read(file string, asset github.ResolvedAsset) (program, error) {
	p, err := readDownloaded(file, d.ctx.TargetInfo)
	if err != nil {
		return program{}, err
	}
	p.version, p.origin, p.purl = asset.Tag, d.client.Address(asset), d.client.PURL(asset)
	p.downloaded.ResolvedAsset = asset
	return p, nil
}

// programIn returns the path of the program in the file of an asset. An archive is unpacked in the folder
// work, and must contain exactly one program.
func programIn(file string, asset github.ResolvedAsset, work string, platform executable.Platform) (string, error) {
	if isArchive, err := archive.Is(file, asset.Asset); err != nil || !isArchive {
		return file, err
	}
	dir := filepath.Join(work, "unpacked")
	content, err := archive.Unpack(file, asset.Asset, dir, 0)
	if err != nil {
		return "", err
	}
	var programs, natives []string
	for _, name := range content.Files {
		if _, err := executable.Check(filepath.Join(dir, name), platform); err == nil {
			programs = append(programs, name)
		}
		if isNative, _ := executable.Foreign(filepath.Join(dir, name), platform); isNative {
			natives = append(natives, name)
		}
	}
	if len(programs) == 0 && len(natives) == 1 {
		programs = natives // the check finds the mistake
	}
	if len(programs) != 1 {
		return "", fmt.Errorf("finding the program in %s: it holds %d programs for %s/%s, not one: %q",
			asset, len(programs), platform.OS, platform.Arch, programs)
	}
	return filepath.Join(dir, programs[0]), nil
}

// readDownloaded reads the description of the program in file. The program must be for the target, in any language.
func readDownloaded(file string, target libcnb.TargetInfo) (program, error) {
	interpreter, err := executable.Check(file, executablePlatform(target))
	if errors.Is(err, executable.ErrArchitecture) {
		return program{}, fmt.Errorf("%w (name the asset for each with {arch} in $%s)", err, config.AssetEnv)
	}
	if err != nil {
		return program{}, err
	}
	p := program{
		name: execprobe.ProgramName, file: file, source: config.Download, platform: platform(target),
		interpreter: interpreter,
		downloaded:  &downloadMetadata{Platform: platform(target)},
	}
	if p.sha256, err = sbom.FileSHA256(file); err != nil {
		return program{}, err
	}
	if info, err := buildinfo.ReadFile(file); err == nil {
		p.info, p.downloaded.Module = info, info.Main.Path
	}
	return p, nil
}
