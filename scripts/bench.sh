#!/usr/bin/env bash
# Prints what one exec of the probe costs, beside an empty Go program and any other probe: a report in Markdown on
# standard output, docs/benchmarks.md begins with one. Options: scripts/bench.sh -h. Needs Go, and root for limits of CPU
# and memory.
set -euo pipefail
cd "$(dirname "$0")/.."

# The programs are those that are shipped, whatever the settings of whoever measures are.
compile() { # OUTPUT PACKAGE
  scripts/compile.sh "$(go env GOHOSTARCH)" "dist/bench/$1" "$2" >&2
}

compile bench ./probe/bench
case " $* " in
*" -h "* | *" --help "* | *" -help "*) exec dist/bench/bench -h ;;
esac
compile empty ./probe/bench/empty
compile linked ./probe/bench/linked
compile lean ./cmd/grpc_health_probe
compile full ./cmd/grpc_health_probe_full
exec dist/bench/bench -empty dist/bench/empty -linked dist/bench/linked "$@" lean=dist/bench/lean full=dist/bench/full
