package main

import (
	"fmt"
	"strings"

	"golang.org/x/mod/semver"
)

// checkVersion returns an error unless the version is of a release or a pre-release: X.Y.Z or X.Y.Z-PRE. A tag cannot
// have the + of build metadata.
func checkVersion(version string) error {
	v := "v" + version
	if semver.IsValid(v) && semver.Canonical(v) == v {
		return nil
	}
	return fmt.Errorf("reading the version %q: it has to be X.Y.Z or X.Y.Z-PRERELEASE", version)
}

// floatingTags returns the tags that move from version to version: X.Y, X and latest. Tags to keep have a newer version
// among the published tags: a late fix of an older release, or its second publication, does not move them back. A
// pre-release moves no tag.
func floatingTags(version string, published []string) (move, keep []string) {
	v := "v" + version
	if semver.Prerelease(v) != "" {
		return nil, nil
	}
	for _, scope := range []struct{ tag, prefix string }{
		{semver.MajorMinor(v)[1:], semver.MajorMinor(v) + "."},
		{semver.Major(v)[1:], semver.Major(v) + "."},
		{"latest", "v"},
	} {
		if isNewest(v, scope.prefix, published) {
			move = append(move, scope.tag)
		} else {
			keep = append(keep, scope.tag)
		}
	}
	return move, keep
}

// isNewest reports whether no published release is newer, in a scope such as v1.2. or v1.
func isNewest(v, prefix string, published []string) bool {
	for _, tag := range published {
		other := "v" + tag
		if checkVersion(tag) == nil && semver.Prerelease(other) == "" && strings.HasPrefix(other, prefix) &&
			semver.Compare(other, v) > 0 {
			return false
		}
	}
	return true
}
