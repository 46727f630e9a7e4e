package build

import (
	"encoding/json"
	"fmt"

	"github.com/buildpacks/libcnb/v2"

	"github.com/grpc-cnb/health-probe/build/execprobe"
	"github.com/grpc-cnb/health-probe/internal/plan"
)

// labelKey is the key of the image label with the image's probe and the probe's place, for policies and tools.
const labelKey = "io.github.grpc-cnb.health-probe"

// label is the JSON value of the image label (docs/label.schema.json).
type label struct {
	execprobe.Label

	Version string `json:"version"`
	Source  string `json:"source"`
	Variant string `json:"variant"`
	SHA256  string `json:"sha256"`
	// Bridge is nil if no bridge is installed.
	Bridge *bridge `json:"bridge,omitempty"`
	// Download is nil for a probe that was not downloaded.
	Download *labelDownload `json:"download,omitempty"`
}

// labelDownload has the downloaded file of a release, and the verified digest. The program has another digest if the
// file was an archive.
type labelDownload struct {
	Repo       string `json:"repo"`
	Asset      string `json:"asset"`
	Tag        string `json:"tag"`
	SHA256     string `json:"sha256"`
	SHA256From string `json:"sha256From"`
	Immutable  bool   `json:"immutable"`
}

// labelDownloadOf describes the download of a program, nil for a program that was not downloaded.
func labelDownloadOf(p program) *labelDownload {
	if p.downloaded == nil {
		return nil
	}
	a := p.downloaded.ResolvedAsset
	return &labelDownload{
		Repo: a.Repo, Asset: a.Asset, Tag: a.Tag, SHA256: a.SHA256, SHA256From: a.SHA256From,
		Immutable: a.Immutable,
	}
}

// imageLabel returns the label for a program with default flags, for its exec probe and for a bridge beside the
// program. The values of header flags are hidden.
func imageLabel(
	exec execprobe.Probe, bridge *bridge, p program, args []string, servers plan.Servers,
) (libcnb.Label, error) {
	described := execprobe.NewLabel(exec, args, servers)
	described.Probes.Bridge = bridge.probes()
	value, err := json.Marshal(label{
		Label:    described,
		Version:  p.version,
		Source:   p.source,
		Variant:  p.variant,
		SHA256:   p.sha256,
		Bridge:   bridge,
		Download: labelDownloadOf(p),
	})
	if err != nil {
		return libcnb.Label{}, fmt.Errorf("writing the image label: %w", err)
	}
	return libcnb.Label{Key: labelKey, Value: string(value)}, nil
}
