#!/usr/bin/env bash
# Says why you must not release a tag, before anything is published: it has to be v and the version of buildpack.toml,
# stand on this commit, and have a section with a date in CHANGELOG.md. Another tag has to stand beside it, from which
# Go takes the version of the plugin for kubectl, a module of its own: cmd/kubectl-grpc_probes/vX.Y.Z.
#
#   scripts/check-tag.sh TAG
. "$(dirname "$0")/lib.sh"

tag=${1:-}
version=$(product version)
refuse() {
  fail "not releasing '$tag': $*"
}
if [ "$tag" != "v$version" ]; then
  refuse "buildpack.toml has version $version, so the tag has to be v$version"
fi
for needed in "$tag" "cmd/kubectl-grpc_probes/$tag"; do
  if ! git tag --points-at HEAD | grep -qxF "$needed"; then
    refuse "this commit has no tag $needed: fetch the tags, or check out the tag"
  fi
done
if ! grep -qE "^## ${version//./\\.} \([0-9]{4}-[0-9]{2}-[0-9]{2}\)$" CHANGELOG.md; then
  refuse "CHANGELOG.md has no section '## $version (YYYY-MM-DD)'"
fi
echo "$tag can be released"
