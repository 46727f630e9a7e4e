package github

import (
	"fmt"
	"slices"

	"github.com/BurntSushi/toml"
)

// Pin is the digest of a file of a release on the public GitHub, from [[metadata.pins]] in buildpack.toml. The
// buildpack's makers have verified the digest, so the API need not be asked.
type Pin struct {
	Repo   string `toml:"repo"`
	Tag    string `toml:"tag"`
	Asset  string `toml:"asset"`
	SHA256 string `toml:"sha256"`
}

// pinsKey is the key of the pins in the buildpack's metadata.
const pinsKey = "pins"

func readPins(metadata map[string]any) ([]Pin, error) {
	var pins struct{ Pins []Pin }
	text, err := toml.Marshal(map[string]any{pinsKey: metadata[pinsKey]})
	if err == nil {
		err = toml.Unmarshal(text, &pins)
	}
	if err != nil {
		return nil, fmt.Errorf("reading [[metadata.%s]] of buildpack.toml: %w", pinsKey, err)
	}
	for _, pin := range pins.Pins {
		request := Request{Repo: pin.Repo, Tag: pin.Tag, Asset: pin.Asset, SHA256: pin.SHA256, SHA256Setting: "sha256"}
		if err := request.Check(); err != nil {
			return nil, fmt.Errorf("reading [[metadata.%s]] of buildpack.toml: %w", pinsKey, err)
		}
	}
	return pins.Pins, nil
}

// Pinned returns the request with the digest that the buildpack pins, if the request has none and the buildpack has a
// pin.
func (h Host) Pinned(request Request) Request {
	if request.SHA256 != "" || h.API.String() != DefaultAPI {
		return request
	}
	i := slices.IndexFunc(h.Pins, func(p Pin) bool {
		return p.Repo == request.Repo && p.Tag == request.Tag && p.Asset == request.Asset
	})
	if i >= 0 {
		request.SHA256, request.pinned = h.Pins[i].SHA256, true
	}
	return request
}

// digestFrom names the source of a request's digest.
func (r Request) digestFrom() string {
	if r.pinned {
		return "the digest that the buildpack pins"
	}
	return r.SHA256Setting
}
