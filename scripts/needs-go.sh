#!/usr/bin/env bash
# Ends with exit code 1 and one line if Go is missing, or older than go.mod asks for. Scripts call it before they
# compile anything: scripts/needs-go.sh SCRIPT, which names the script in the line.
set -euo pipefail
cd "$(dirname "$0")/.."
case ${1:-} in -h | --help) exec scripts/help.sh "$0" ;; esac

needed=$(sed -n 's/^go 1\.\([0-9]*\).*/\1/p' go.mod)
# A Go that may fetch a newer one does so here, and then names that one.
version=$(go env GOVERSION 2>/dev/null || true)
minor=${version##*go1.} minor=${minor%%[!0-9]*}
if [ -z "$minor" ] || [ "$minor" -lt "$needed" ]; then
  here='none is on the PATH'
  ! command -v go >/dev/null || here="here is $(GOTOOLCHAIN=local go env GOVERSION 2>/dev/null || echo another program)"
  echo "$1: needs Go 1.$needed, and $here: https://go.dev/dl" >&2
  exit 1
fi
