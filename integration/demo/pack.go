package main

import (
	"context"
	"fmt"
	"os/exec"
	"strings"
	"time"

	"golang.org/x/mod/semver"
)

// oldestPack is the oldest version of pack with which the demo has been run.
const oldestPack = "v0.38.2"

// packOnPath returns the pack program on the PATH, empty if there is none that is new enough, and the sentence that
// tells the user which one is used and why.
func packOnPath(ctx context.Context) (path, why string) {
	const compiled = "with a pack that is compiled, since "
	path, err := exec.LookPath("pack")
	if err != nil {
		return "", compiled + "none is on the PATH"
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	out, err := exec.CommandContext(ctx, path, "version").Output()
	if err != nil {
		return "", fmt.Sprintf("%s%q does not say its version: %v", compiled, path, err)
	}
	version := strings.TrimSpace(string(out)) // 0.38.2+git-f6ec41e.build-6608
	if semver.Compare("v"+version, oldestPack) < 0 {
		return "", fmt.Sprintf("%s%q is version %q, and %s or newer is needed", compiled, path, version,
			strings.TrimPrefix(oldestPack, "v"))
	}
	return path, fmt.Sprintf("with pack %s from the PATH (%s)", version, path)
}
