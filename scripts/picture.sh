#!/usr/bin/env bash
# Draws the pictures in the documents: docs/demo.svg of what scripts/demo.sh prints, which needs Docker, and
# docs/cost.svg, the chart, of the figures in docs/benchmarks.txt. Needs Go.
#
#   scripts/picture.sh [demo|cost]
#
# Without an argument it draws the demo's picture.
set -euo pipefail
cd "$(dirname "$0")/.."
case ${1:-} in -h | --help) exec scripts/help.sh "$0" ;; esac
trap 'exit 130' INT

case ${1:-demo} in
demo)
  scripts/build.sh
  CI=true UPDATE_GOLDEN=1 go -C integration test -count=1 -run '^TestDemo$/docker-always' .
  ;;
cost) UPDATE_GOLDEN=1 go -C integration test -count=1 -run '^TestChartHasTheFigures$' ./picture ;;
*)
  echo "usage: scripts/picture.sh [demo|cost]" >&2
  exit 1
  ;;
esac
ls -l "docs/${1:-demo}.svg"
