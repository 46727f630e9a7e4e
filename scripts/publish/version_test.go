package main

import (
	"slices"
	"testing"
)

func TestFloatingTagsNeverMoveBack(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		version    string
		published  []string
		move, keep []string
	}{
		"first":            {"0.1.0", nil, []string{"0.1", "0", "latest"}, nil},
		"next patch":       {"0.1.1", []string{"0.1.0", "0.1", "0", "latest"}, []string{"0.1", "0", "latest"}, nil},
		"again":            {"0.1.1", []string{"0.1.0", "0.1.1"}, []string{"0.1", "0", "latest"}, nil},
		"older patch":      {"0.1.1", []string{"0.1.2", "0.1.10"}, nil, []string{"0.1", "0", "latest"}},
		"older minor":      {"1.2.9", []string{"1.2.8", "1.10.0"}, []string{"1.2"}, []string{"1", "latest"}},
		"older major":      {"1.9.1", []string{"2.0.0"}, []string{"1.9", "1"}, []string{"latest"}},
		"after ten":        {"1.10.0", []string{"1.9.0", "1.2.0"}, []string{"1.10", "1", "latest"}, nil},
		"same digits":      {"1.2.0", []string{"12.0.0"}, []string{"1.2", "1"}, []string{"latest"}},
		"pre-release":      {"1.0.0-rc.1", []string{"0.1.0"}, nil, nil},
		"pre-release back": {"0.1.1", []string{"1.0.0-rc.1", "0.2"}, []string{"0.1", "0", "latest"}, nil},
		"other tags":       {"0.1.1", []string{"sha256-aa.sig", "v9.9.9", "edge"}, []string{"0.1", "0", "latest"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			move, keep := floatingTags(test.version, test.published)
			if !slices.Equal(move, test.move) || !slices.Equal(keep, test.keep) {
				t.Errorf("moves %q and keeps %q, want %q and %q", move, keep, test.move, test.keep)
			}
		})
	}
}

func TestVersions(t *testing.T) {
	t.Parallel()
	for version, valid := range map[string]bool{
		"0.1.0": true, "1.0.0-rc.1": true,
		"": false, "1": false, "1.2": false, "v1.2.3": false, "1.2.3+build": false, "01.2.3": false, "latest": false,
	} {
		if err := checkVersion(version); (err == nil) != valid {
			t.Errorf("%q: %v", version, err)
		}
	}
}
