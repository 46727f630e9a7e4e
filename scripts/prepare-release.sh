#!/usr/bin/env bash
# Prepares the repository for a release: sets the version everywhere, dates its section in CHANGELOG.md, removes the
# text that documents have only until the first release, pins the digests of the release that download takes by default
# (from GitHub), and draws the picture again, which shows the version (with Docker). Then look at the changes and commit
# them.
#
#   scripts/prepare-release.sh X.Y.Z
. "$(dirname "$0")/lib.sh"

go run ./scripts/release prepare "${1:?name the version, X.Y.Z}"
go run ./scripts/pindigests buildpack.toml
scripts/build.sh
CI=true UPDATE_GOLDEN=1 go -C integration test -count=1 -run '^TestDemo$/docker-always' .
git --no-pager diff --stat
