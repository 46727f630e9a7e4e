#!/usr/bin/env bash
# Prepares the repository for a release: sets the version everywhere, dates its section in CHANGELOG.md, removes the
# text that documents have only until the first release, and draws the picture again, which shows the version (with
# Docker). Then look at the changes and commit them.
#
#   scripts/prepare-release.sh X.Y.Z
set -euo pipefail
cd "$(dirname "$0")/.."
case ${1:-} in -h | --help) exec scripts/help.sh "$0" ;; esac
trap 'exit 130' INT

go run ./scripts/release prepare "${1:?name the version, X.Y.Z}"
scripts/picture.sh
git --no-pager diff --stat
