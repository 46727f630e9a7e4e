#!/usr/bin/env bash
# Signs what scripts/publish.sh and scripts/release.sh made: the images that scripts/published.sh names, with
# all that their indexes hold, in their registry, and dist/release/checksums.txt, with all that it lists, in
# dist/release/checksums.txt.sigstore.json. It lists all of these in dist/publish/subjects.txt, in the form of
# sha256sum: the release workflow attests their provenance.
#
#   scripts/sign.sh [--key FILE]
#
# The release workflow has no key: its identity signs, and Sigstore's public log has the signatures. --key signs with a
# key that cosign made (COSIGN_PASSWORD is its password), and sends nothing to that log.
set -euo pipefail
cd "$(dirname "$0")/.."
case ${1:-} in -h | --help) exec scripts/help.sh "$0" ;; esac
trap 'exit 130' INT

options=(--yes)
if [ "${1:-}" = --key ] && [ $# -lt 3 ]; then
  # Sigstore's services are what the signing configuration names.
  options+=(--key "${2:?name the key}" --use-signing-config=false --tlog-upload=false)
elif [ $# -gt 0 ]; then
  echo "usage: scripts/sign.sh [--key FILE]" >&2
  exit 1
fi
images=$(scripts/published.sh)
checksums=dist/release/checksums.txt
subjects=$(
  cat "$checksums"
  for image in $images; do
    name=${image%%@*}
    echo "${image##*@sha256:}  ${name%:*}" # the tag may move: provenance is that of the digest
  done
)

cosign=$(scripts/tool.sh cosign)
for image in $images; do
  echo "signing $image"
  "$cosign" sign "${options[@]}" --recursive "$image"
done
echo "signing $checksums"
"$cosign" sign-blob "${options[@]}" --bundle "$checksums.sigstore.json" "$checksums"
printf '%s\n' "$subjects" | tee dist/publish/subjects.txt
