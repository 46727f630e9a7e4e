package build

import (
	"encoding/json"
	"fmt"

	"github.com/buildpacks/libcnb/v2"

	"github.com/grpc-cnb/health-probe/detect"
	"github.com/grpc-cnb/health-probe/probe"
)

// LabelKey is the image label that says which probe an image has and where, for policies and tools.
const LabelKey = "io.github.grpc-cnb.health-probe"

// label is the JSON value of the image label.
type label struct {
	Path     string   `json:"path"`
	Version  string   `json:"version"`
	Source   string   `json:"source"`
	Variant  string   `json:"variant"`
	SHA256   string   `json:"sha256"`
	Args     []string `json:"args"`
	Language string   `json:"language"`
	Health   string   `json:"health"`
}

// Label returns the image label for the probe at path with its default flags, header values hidden.
func Label(path string, p Probe, args []string, service detect.Service) (libcnb.Label, error) {
	value, err := json.Marshal(label{
		Path:     path,
		Version:  p.Version,
		Source:   p.Source,
		Variant:  p.Variant,
		SHA256:   p.SHA256,
		Args:     probe.RedactArgs(args),
		Language: service.Language,
		Health:   string(service.Health),
	})
	if err != nil {
		return libcnb.Label{}, fmt.Errorf("writing the image label: %w", err)
	}
	return libcnb.Label{Key: LabelKey, Value: string(value)}, nil
}
