#!/usr/bin/env bash
# Prints the images that scripts/publish.sh published from this folder, one per line, NAME:X.Y.Z@sha256:DIGEST: the
# buildpack, then the probe alone and the plugin for kubectl; with the argument buildpack, that one only. They are those
# that the files dist/publish/*.digest name.
#
#   scripts/published.sh [buildpack]
. "$(dirname "$0")/lib.sh"

files=(dist/publish/{health-probe,grpc-health-probe,kubectl-grpc_probes}.digest)
[ "${1:-}" != buildpack ] || files=("${files[0]}")
record='^[A-Za-z0-9][^[:space:]@]*:[^[:space:]@:/]+@sha256:[0-9a-f]{64}$' # of the whole file, which has one line
for file in "${files[@]}"; do
  image=$(cat "$file" 2>/dev/null || true)
  if [[ ! $image =~ $record ]]; then
    fail "$file names no image, NAME:X.Y.Z@sha256:DIGEST: run scripts/publish.sh"
  fi
  printf '%s\n' "$image"
done
