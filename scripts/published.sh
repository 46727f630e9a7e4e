#!/usr/bin/env bash
# Prints the images that scripts/publish.sh published from this folder, one per line, NAME:X.Y.Z@sha256:DIGEST: the
# buildpack, then the probe alone; with the argument buildpack, that one only. They are those that the files
# dist/publish/*.digest name.
#
#   scripts/published.sh [buildpack]
set -euo pipefail
cd "$(dirname "$0")/.."
case ${1:-} in -h | --help) exec scripts/help.sh "$0" ;; esac

files=(dist/publish/health-probe.digest dist/publish/grpc-health-probe.digest)
[ "${1:-}" != buildpack ] || files=("${files[0]}")
record='^[A-Za-z0-9][^[:space:]@]*:[^[:space:]@:/]+@sha256:[0-9a-f]{64}$' # of the whole file, which has one line
for file in "${files[@]}"; do
  image=$(cat "$file" 2>/dev/null || true)
  if [[ ! $image =~ $record ]]; then
    echo "scripts/published.sh: $file names no image, NAME:X.Y.Z@sha256:DIGEST: run scripts/publish.sh" >&2
    exit 1
  fi
  printf '%s\n' "$image"
done
