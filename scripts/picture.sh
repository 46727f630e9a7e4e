#!/usr/bin/env bash
# Draws docs/demo.svg, the picture in the README, of what scripts/demo.sh prints. Needs Go and Docker.
set -euo pipefail
cd "$(dirname "$0")/.."
case ${1:-} in -h | --help) exec scripts/help.sh "$0" ;; esac

scripts/build.sh
CI=true UPDATE_GOLDEN=1 go -C integration test -count=1 -run '^TestDemo$/docker-always' .
ls -l docs/demo.svg
