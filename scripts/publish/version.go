package main

import (
	"fmt"
	"strings"

	"golang.org/x/mod/semver"
)

// checkVersion refuses what is no version of a release or a pre-release: X.Y.Z or X.Y.Z-PRE. A tag cannot have the +
// of build metadata.
func checkVersion(version string) error {
	v := "v" + version
	if semver.IsValid(v) && semver.Canonical(v) == v {
		return nil
	}
	return fmt.Errorf("reading the version %q: it has to be X.Y.Z or X.Y.Z-PRERELEASE", version)
}

// floatingTags are the tags that move from version to version: X.Y, X and latest. Those to move are returned first.
// Those to keep have a newer version among the tags that are published, so an older release that is fixed late, or
// published again, does not take them back. A pre-release moves none.
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

// isNewest reports whether no release of those published is newer, in a scope such as v1.2. or v1.
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
