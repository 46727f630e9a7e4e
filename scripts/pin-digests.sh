#!/usr/bin/env bash
# Pins the digests of the default release of BP_GRPC_HEALTH_PROBE_SOURCE=download in buildpack.toml, which needs the
# network: for maintainers, whenever that release changes. Each file is downloaded and verified by what its release
# states.
set -euo pipefail
cd "$(dirname "$0")/.."
case ${1:-} in -h | --help) exec scripts/help.sh "$0" ;; esac

go run ./scripts/pindigests buildpack.toml
git --no-pager diff -- buildpack.toml
