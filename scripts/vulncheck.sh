#!/usr/bin/env bash
# Looks the probes and the buildpack up in Go's vulnerability database, which needs the network: for maintainers, before a
# release and whenever Go has one. Programs are looked at as scanners do it, by what they are linked of.
set -euo pipefail
cd "$(dirname "$0")/.."
case ${1:-} in -h | --help) exec scripts/help.sh "$0" ;; esac

scripts/build.sh
found=0
for program in dist/buildpack/bin/main dist/buildpack/probes/*/*; do
  echo "== $program"
  go run golang.org/x/vuln/cmd/govulncheck@v1.1.4 -mode=binary "$program" || found=1
done
exit $found
