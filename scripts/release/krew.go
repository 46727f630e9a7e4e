package main

import (
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"text/template"

	"github.com/grpc-cnb/health-probe/build/sbom"
)

// krewName is the plugin's manifest for krew. The file has the name by which kubectl calls the plugin.
const krewName = "grpc-probes.yaml"

// pluginPrefix begins the names of the plugin's archives; OS-ARCH.tgz follows.
const pluginPrefix = "kubectl-grpc_probes-"

//go:embed krew.yaml.tmpl
var krewText string

var krewTemplate = template.Must(template.New(krewName).Parse(krewText))

type krewPlatform struct{ OS, Arch, File, SHA256 string }

// writeKrew writes the plugin's manifest for krew (https://krew.sigs.k8s.io/docs/developer-guide/plugin-manifest/) to a
// release's folder with the archives.
func writeKrew(root, folder string) error {
	version, err := readVersion(root)
	if err != nil {
		return err
	}
	archives, err := filepath.Glob(filepath.Join(folder, pluginPrefix+"*.tgz"))
	if err != nil {
		return err
	}
	var platforms []krewPlatform
	for _, archive := range archives {
		file := filepath.Base(archive)
		system, arch, _ := strings.Cut(strings.TrimSuffix(strings.TrimPrefix(file, pluginPrefix), ".tgz"), "-")
		digest, err := sbom.FileSHA256(archive)
		if err != nil {
			return err
		}
		platforms = append(platforms, krewPlatform{system, arch, file, digest})
	}
	if len(platforms) == 0 {
		return fmt.Errorf("writing %s: there is no archive %s*.tgz in %q", krewName, pluginPrefix, folder)
	}
	var text strings.Builder
	if err := krewTemplate.Execute(&text, map[string]any{
		"Releases": releases, "Version": version, "Platforms": platforms,
	}); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(folder, krewName), []byte(text.String()), 0o644)
}
