#!/usr/bin/env bash
# Writes dist/publish/subjects.txt, a list of all that a release publishes, as sha256sum writes its lists: the files of
# dist/release/checksums.txt, and the images that scripts/published.sh names. The release workflow attests
# the provenance of what is in the list.
set -euo pipefail
cd "$(dirname "$0")/.."
case ${1:-} in -h | --help) exec scripts/help.sh "$0" ;; esac

images=$(scripts/published.sh)
{
  cat dist/release/checksums.txt
  for image in $images; do
    name=${image%%@*}
    echo "${image##*@sha256:}  ${name%:*}" # the tag may move: provenance is that of the digest
  done
} >dist/publish/subjects.txt
cat dist/publish/subjects.txt
