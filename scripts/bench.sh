#!/usr/bin/env bash
# Measures what one run of the probe costs, compared with an empty Go program and with any other probe. It prints a
# report in Markdown; docs/benchmarks.txt ends with such a report. scripts/bench.sh -h lists the options. Needs Go, and
# root for the limits of CPU time and memory.
. "$(dirname "$0")/lib.sh" "its program answers -h"
needs_go

# Compiles the programs as a release has them, whatever your Go settings.
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
