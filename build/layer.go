package build

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/buildpacks/libcnb/v2"
	"github.com/paketo-buildpacks/libpak/v2/log"
	"github.com/paketo-buildpacks/libpak/v2/sherpa"

	"github.com/grpc-cnb/health-probe/build/execprobe"
	"github.com/grpc-cnb/health-probe/build/launch"
	"github.com/grpc-cnb/health-probe/build/sbom"
)

// aliasName is the probe's name in distributions' packages of grpc-health-probe.
const aliasName = "grpc-health-probe"

// layerMetadata describes the content of the layer, and its source.
type layerMetadata struct {
	SHA256   string            `toml:"sha256"`
	Source   string            `toml:"source"`
	Download *downloadMetadata `toml:"download"`
	// Bridge is the digest of the bridge, "" for none.
	Bridge string `toml:"bridge,omitempty"`
}

// pathIn returns the path of the probe in the layer, which is also the path in the image.
func pathIn(layer libcnb.Layer) string { return pathOf(layer, execprobe.ProgramName) }

func pathOf(layer libcnb.Layer, name string) string { return filepath.Join(layer.Path, "bin", name) }

// probeLayer contributes the launch layer with the programs, the probe under both names, and their SBOM. Nothing in the
// layer depends on the app, so all images of one release share the layer. A downloaded program is kept for the next
// build.
func probeLayer(layers libcnb.Layers, all programs, logger log.Logger) (libcnb.Layer, error) {
	layer, err := layers.Layer(execprobe.LayerName)
	if err != nil {
		return layer, err
	}
	p, types := all.probe, launch.Plain
	if p.downloaded != nil {
		types = launch.Kept
	}
	title, content := execprobe.ProgramName+" "+describe(p), p.component()
	metadata := layerMetadata{SHA256: p.sha256, Source: p.source, Download: p.downloaded}
	if all.bridge != nil {
		metadata.Bridge = all.bridge.sha256
		title += ", and " + all.bridge.name + " " + describe(*all.bridge)
		content = sbom.Component{Name: execprobe.LayerName, Parts: []sbom.Component{content, all.bridge.component()}}
	}
	err = launch.Contribute(&layer, title, metadata, types, logger, func() error { return fill(layer, all) })
	if err != nil {
		return layer, err
	}
	return layer, sbom.Write(layer.SBOMPath, content)
}

// describe names a program for the log.
func describe(p program) string {
	parts := []string{p.version, p.variant, p.source, p.platform}
	return strings.Join(slices.DeleteFunc(parts, func(part string) bool { return part == "" }), ", ")
}

func fill(layer libcnb.Layer, all programs) error {
	path := pathIn(layer)
	if err := installProgram(all.probe, path); err != nil {
		return err
	}
	if all.bridge != nil {
		if err := installProgram(*all.bridge, pathOf(layer, all.bridge.name)); err != nil {
			return err
		}
	}
	if err := os.Symlink(execprobe.ProgramName, filepath.Join(filepath.Dir(path), aliasName)); err != nil {
		return fmt.Errorf("installing the probe's second name: %w", err)
	}
	return nil
}

func installProgram(p program, path string) error {
	if err := sherpa.CopyFileFrom(p.file, path); err != nil {
		return fmt.Errorf("installing %s: %w", p.name, err)
	}
	// The modes are part of the layer's digest, so they must not depend on the build machine's umask.
	for _, name := range []string{filepath.Dir(filepath.Dir(path)), filepath.Dir(path), path} {
		if err := os.Chmod(name, 0o755); err != nil {
			return fmt.Errorf("installing %s: %w", p.name, err)
		}
	}
	return nil
}
