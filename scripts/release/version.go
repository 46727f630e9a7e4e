package main

import (
	"fmt"
	"path/filepath"
	"regexp"

	"github.com/BurntSushi/toml"
)

func readVersion(root string) (string, error) {
	var descriptor struct {
		Buildpack struct {
			Version string `toml:"version"`
		} `toml:"buildpack"`
	}
	if _, err := toml.DecodeFile(filepath.Join(root, "buildpack.toml"), &descriptor); err != nil {
		return "", fmt.Errorf("reading the buildpack's version: %w", err)
	}
	return descriptor.Buildpack.Version, nil
}

// section returns the heading of a version in the changelog, and the text up to the next heading.
func section(changelog, version string) (heading, text string, err error) {
	pattern := regexp.MustCompile(`(?s)(?:^|\n)(## ` + regexp.QuoteMeta(version) + `(?: [^\n]*)?)\n+(.*?)(?:\n## |$)`)
	match := pattern.FindStringSubmatch(changelog)
	if match == nil || match[2] == "" {
		return "", "", fmt.Errorf("reading CHANGELOG.md: it has no section for %s", version)
	}
	return match[1], match[2], nil
}
