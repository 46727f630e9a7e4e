#!/usr/bin/env bash
# Builds the buildpack, builds an image of the sample gRPC app with it, and probes the running image: SERVING, then
# NOT_SERVING, then stopped. Needs Go; uses Docker where it is there. Options: scripts/demo.sh -h.
set -euo pipefail
cd "$(dirname "$0")/.."

case ${1:-} in
-h | --help) ;;
*) scripts/build.sh ;;
esac
exec go -C integration run ./demo "$@"
