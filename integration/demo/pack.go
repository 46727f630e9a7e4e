package main

import (
	"context"
	"fmt"
	"os/exec"
	"strings"
	"time"

	"golang.org/x/mod/semver"
)

// oldestPack is the oldest version of pack that has run the demo.
const oldestPack = "v0.38.2"

// packOnPath returns the pack program on the PATH, empty without a new enough program, and a sentence with the choice
// and the reason for the user.
func packOnPath(ctx context.Context) (path, why string) {
	path, err := exec.LookPath("pack")
	if err != nil {
		return "", without("none is on the PATH")
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	out, err := exec.CommandContext(ctx, path, "version").Output()
	if err != nil {
		return "", without(fmt.Sprintf("%q does not say its version: %v", path, err))
	}
	version := strings.TrimSpace(string(out)) // 0.38.2+git-f6ec41e.build-6608
	if semver.Compare("v"+version, oldestPack) < 0 {
		return "", without(fmt.Sprintf("%q is version %q, and the demo needs %s or newer", path, version,
			strings.TrimPrefix(oldestPack, "v")))
	}
	return path, fmt.Sprintf("with pack %s from the PATH (%s)", version, path)
}

// without returns a sentence for the user: why there is no pack, and the replacement that builds.
func without(why string) string {
	return "without pack (" + why + "): the lifecycle's creator builds in Docker, as pack would run it"
}
