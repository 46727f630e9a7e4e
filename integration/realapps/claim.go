package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/BurntSushi/toml"
)

// claim is a server in the image's label, with the same findings as the log (docs/label.schema.json).
type claim struct {
	Language  string `json:"language"`
	Framework string `json:"framework"`
	Evidence  string `json:"evidence"`
	Health    string `json:"health"`
	Service   string `json:"healthService"`
	Address   string `json:"address"`
	Variable  string `json:"addressVariable"`
	Security  string `json:"security"`
}

// readClaims returns the servers of the label from the build phase; the first server leads.
func readClaims(layers string) ([]claim, error) {
	var launch struct {
		Labels []struct{ Key, Value string }
	}
	if _, err := toml.DecodeFile(filepath.Join(layers, "launch.toml"), &launch); err != nil {
		return nil, fmt.Errorf("reading the image's labels: %w", err)
	}
	var label struct {
		Servers []claim `json:"servers"`
	}
	for _, l := range launch.Labels {
		if l.Key == "io.github.grpc-cnb.health-probe" {
			if err := json.Unmarshal([]byte(l.Value), &label); err != nil {
				return nil, fmt.Errorf("reading the label %q: %w", l.Key, err)
			}
		}
	}
	if len(label.Servers) == 0 {
		return nil, errors.New("the image's label has no server")
	}
	return label.Servers, nil
}
