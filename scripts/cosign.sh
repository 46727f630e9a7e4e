#!/usr/bin/env bash
# Runs cosign, which makes and verifies signatures: the program that $COSIGN names, or the version of
# integration/cosign/go.mod, which is compiled at the first call, in minutes.
#
#   scripts/cosign.sh ARGUMENT...
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
case ${1:-} in -h | --help) exec "$root/scripts/help.sh" "$0" ;; esac

if [ -n "${COSIGN:-}" ]; then exec "$COSIGN" "$@"; fi
program=$root/dist/tools/cosign
CGO_ENABLED=0 GOFLAGS=-trimpath go -C "$root/integration/cosign" build -o "$program" \
  github.com/sigstore/cosign/v3/cmd/cosign
exec "$program" "$@"
