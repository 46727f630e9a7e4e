package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"golang.org/x/mod/semver"
)

// ownVersion matches the product's version in documents and examples: in the reference of an image, in a name of the
// buildpack registry, in a git reference, in the order of a buildpack, and as the version of the plugin for Helm.
var ownVersion = regexp.MustCompile(
	`((?:/|urn:cnb:registry:grpc-cnb/)(?:grpc-)?health-probe[:@]|/kubectl-grpc_probes:|` +
		`\?ref=v|"grpc-cnb/health-probe"\s+version = "|\nname: grpc-probes\nversion: )` +
		`[0-9][0-9A-Za-z.+-]*`)

// descriptorVersion matches the version in buildpack.toml.
var descriptorVersion = regexp.MustCompile(`(?m)^version = "[^"\n]*"$`)

// unreleased matches text of documents for the time before the first version: lines between two such comments.
var unreleased = regexp.MustCompile(`(?s)<!-- unreleased -->.*?<!-- /?unreleased -->\n*`)

// prepare sets the version in all files that name a version, dates the version's section in the changelog, and removes
// the text for the time before the first version. prepare can run again. If something is missing,
// nothing is written.
func prepare(root, version string, now time.Time) error {
	if !semver.IsValid("v"+version) || semver.Canonical("v"+version) != "v"+version {
		return fmt.Errorf("preparing version %q: it is not a semantic version such as 1.2.3 or 1.2.3-rc.1", version)
	}
	before, err := readVersion(root)
	if err != nil {
		return err
	}
	names, err := texts(root)
	if err != nil {
		return err
	}
	contents := map[string]string{}
	for _, name := range append(names, "buildpack.toml", "CHANGELOG.md") {
		content, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			return err
		}
		contents[name] = string(content)
	}
	changed := map[string]string{}
	for _, name := range names {
		text := ownVersion.ReplaceAllString(contents[name], "${1}"+version)
		changed[name] = unreleased.ReplaceAllString(text, "")
	}
	changed["buildpack.toml"] = descriptorVersion.ReplaceAllLiteralString(contents["buildpack.toml"],
		`version = "`+version+`"`)
	if changed["CHANGELOG.md"], err = date(contents["CHANGELOG.md"], before, version, now); err != nil {
		return err
	}
	for name, text := range changed {
		if text == contents[name] {
			continue
		}
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o644); err != nil {
			return err
		}
		fmt.Fprintln(os.Stdout, name)
	}
	return nil
}

// texts returns the files that may name the version: the documents and the examples, as paths from the root.
func texts(root string) ([]string, error) {
	var names []string
	for _, pattern := range []string{"*.md", "docs", "examples"} {
		found, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			return nil, err
		}
		for _, start := range found {
			err := filepath.WalkDir(start, func(path string, entry fs.DirEntry, err error) error {
				if err != nil || !entry.Type().IsRegular() {
					return err
				}
				name, err := filepath.Rel(root, path)
				if name != "CHANGELOG.md" && filepath.Ext(name) != ".svg" {
					names = append(names, name)
				}
				return err
			})
			if err != nil {
				return nil, err
			}
		}
	}
	return names, nil
}

// date gives the changelog's section of the next version the new version and the date. An undated section may have the
// version before or the new version.
func date(changelog, before, version string, now time.Time) (string, error) {
	dated := "## " + version + " (" + now.Format(time.DateOnly) + ")"
	if heading, _, err := section(changelog, version); err == nil && heading != "## "+version+" (unreleased)" {
		return changelog, nil // it is dated already
	}
	for _, candidate := range []string{version, before} {
		heading := "## " + candidate + " (unreleased)"
		if strings.Contains(changelog, heading+"\n") {
			return strings.Replace(changelog, heading+"\n", dated+"\n", 1), nil
		}
	}
	return "", errors.New(`dating the changelog: CHANGELOG.md has no section "## ` + version +
		` (unreleased)": write what users notice there`)
}
