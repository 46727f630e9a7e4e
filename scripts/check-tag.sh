#!/usr/bin/env bash
# Says why you must not release a tag, before anything is published: it has to be v and the version of buildpack.toml,
# stand on this commit, and have a section with a date in CHANGELOG.md.
#
#   scripts/check-tag.sh TAG
set -euo pipefail
cd "$(dirname "$0")/.."
case ${1:-} in -h | --help) exec scripts/help.sh "$0" ;; esac

tag=${1:-}
version=$(sed -n 's/^version = "\(.*\)"$/\1/p' buildpack.toml)
refuse() {
  echo "scripts/check-tag.sh: not releasing '$tag': $*" >&2
  exit 1
}
if [ "$tag" != "v$version" ]; then
  refuse "buildpack.toml has version $version, so the tag has to be v$version"
fi
if ! git tag --points-at HEAD | grep -qxF "$tag"; then
  refuse "this commit has no such tag: fetch the tags, or check out the tag"
fi
if ! grep -qE "^## ${version//./\\.} \([0-9]{4}-[0-9]{2}-[0-9]{2}\)$" CHANGELOG.md; then
  refuse "CHANGELOG.md has no section '## $version (YYYY-MM-DD)'"
fi
echo "$tag can be released"
