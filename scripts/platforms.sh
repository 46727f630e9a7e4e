#!/usr/bin/env bash
# Prints the platforms of the probe's releases, which are those of grpc-health-probe: OS/ARCH, one per line.
set -euo pipefail
cd "$(dirname "$0")/.."
case ${1:-} in -h | --help) exec scripts/help.sh "$0" ;; esac

for arch in 386 amd64 arm arm64 ppc64le s390x riscv64; do echo "linux/$arch"; done
printf '%s\n' darwin/amd64 darwin/arm64 windows/amd64 windows/arm64
