package githubassets

import (
	"context"
	"debug/buildinfo"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/paketo-buildpacks/libpak/v2/log"

	"github.com/grpc-cnb/health-probe/build/archive"
	"github.com/grpc-cnb/health-probe/build/executable"
	"github.com/grpc-cnb/health-probe/build/github"
	"github.com/grpc-cnb/health-probe/build/sbom"
)

// installation puts an asset into a layer.
type installation struct {
	client  *github.Client
	request Request
	asset   github.ResolvedAsset
	// file is the downloaded file.
	file     string
	platform executable.Platform
	logger   log.Logger
}

// workFolder makes a temporary folder.
func workFolder() (string, error) {
	dir, err := os.MkdirTemp("", "github-assets")
	if err != nil {
		return "", fmt.Errorf("making a folder to work in: %w", err)
	}
	return dir, nil
}

func (b builder) resolve(requests []Request) ([]*installation, error) {
	var installations []*installation
	for _, request := range requests {
		host, err := b.host, error(nil)
		if request.TokenEnv != "" {
			host, err = host.WithTokenOf(request.TokenEnv, request.Repo)
		}
		if err != nil {
			return nil, err
		}
		client, err := github.New(host)
		if err != nil {
			return nil, err
		}
		asset, err := client.Resolve(context.Background(), request.Request)
		if err != nil {
			return nil, err
		}
		installations = append(installations, &installation{
			client: client, request: request, asset: asset,
			platform: executable.Platform{OS: b.ctx.TargetInfo.OS, Arch: b.ctx.TargetInfo.Arch}, logger: b.logger,
		})
	}
	return installations, nil
}

// assetsOf returns the assets for the layer's metadata.
func assetsOf(installations []*installation) []ResolvedAsset {
	var assets []ResolvedAsset
	for _, i := range installations {
		assets = append(assets, ResolvedAsset{i.asset, i.request.Destination, strconv.Itoa(i.request.StripComponents)})
	}
	return assets
}

// download downloads all assets into the folder work, before the layer is touched.
func download(installations []*installation, work string) error {
	for n, i := range installations {
		i.file = filepath.Join(work, strconv.Itoa(n))
		if err := i.client.Download(context.Background(), i.request.Request, i.asset, i.file); err != nil {
			return err
		}
	}
	return nil
}

// install puts the assets into the layer's folder, in order: the last file of a name stays. Each asset's component
// lists the files of the asset that stayed.
func install(installations []*installation, dir string) ([]sbom.Component, error) {
	files, last := make([][]string, len(installations)), map[string]int{}
	for n, i := range installations {
		var err error
		if files[n], err = i.install(dir); err != nil {
			return nil, err
		}
		for _, name := range files[n] {
			last[name] = n
		}
	}
	var components []sbom.Component
	for n, i := range installations {
		isGone := func(name string) bool {
			info, err := os.Lstat(filepath.Join(dir, name))
			return last[name] != n || err != nil || !info.Mode().IsRegular() // a link may have replaced the file
		}
		component, err := i.component(dir, slices.DeleteFunc(files[n], isGone))
		if err != nil {
			return nil, err
		}
		components = append(components, component)
	}
	return components, nil
}

// install puts the asset into the layer's folder, and returns the names of the asset's files.
func (i *installation) install(dir string) ([]string, error) {
	isArchive, err := archive.Is(i.file, i.asset.Asset)
	if err != nil && i.request.Layer != variablesLayer {
		return nil, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	var files []string
	if isArchive && i.request.Layer != variablesLayer {
		files, err = i.unpack(root)
	} else {
		i.warnOfStripping(true)
		files, err = i.copy(root)
	}
	if err != nil {
		return nil, err
	}
	return files, i.checkPlatform(dir, files)
}

// checkPlatform returns an error if the asset holds programs or libraries, but none for the image.
func (i *installation) checkPlatform(dir string, files []string) error {
	first := ""
	for _, name := range files {
		native, foreign := executable.Foreign(filepath.Join(dir, name), i.platform)
		if native && foreign == "" {
			return nil
		}
		if first == "" {
			first = foreign
		}
	}
	if first == "" {
		return nil
	}
	return fmt.Errorf("checking %s: it is for %s, the image is for %s/%s (name the asset for each platform, with {os} "+
		"and {arch})", i.asset, first, i.platform.OS, i.platform.Arch)
}

// warnOfStripping says that names are not shortened in spite of the user's setting.
func (i *installation) warnOfStripping(isNeeded bool) {
	if isNeeded && i.request.StripComponents > 0 {
		i.logger.Headerf("Warning: strip_components has no effect on %s, which is not a tar archive", i.asset)
	}
}

// component describes the asset for the SBOM, with each Go program among the files.
func (i *installation) component(dir string, files []string) (sbom.Component, error) {
	asset := sbom.Component{
		Name: i.asset.Asset, Version: i.asset.Tag, PURL: i.client.PURL(i.asset),
		SHA256: i.asset.SHA256,
		Origin: i.client.Address(i.asset),
	}
	for _, name := range files {
		file := filepath.Join(dir, name)
		info, err := buildinfo.ReadFile(file)
		if err != nil {
			continue // no Go program
		}
		program := sbom.GoProgram(info, info.Main.Version)
		program.Name, program.Version = name, info.Main.Version
		if program.SHA256, err = sbom.FileSHA256(file); err != nil {
			return asset, err
		}
		asset.Parts = append(asset.Parts, program)
	}
	return asset, nil
}
