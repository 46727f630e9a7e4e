#!/usr/bin/env bash
# Makes the release on GitHub, of the files in dist/release, which scripts/release.sh and scripts/sign.sh made, with
# dist/release/notes.md as its text. A version with a hyphen, such as 1.0.0-rc.1, is a pre-release. Needs gh, GitHub's
# command line, and its GH_TOKEN.
#
#   scripts/github-release.sh TAG
. "$(dirname "$0")/lib.sh"

tag=${1:?name the tag}
set --
case $tag in *-*) set -- --prerelease ;; esac
for file in dist/release/*; do
  case $file in */notes.md) ;; *) set -- "$@" "$file" ;; esac
done
# gh uploads to a draft and makes it public at the end, so that nobody sees half a release.
gh release create "$tag" --verify-tag --title "$tag" --notes-file dist/release/notes.md "$@"
