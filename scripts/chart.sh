#!/usr/bin/env bash
# Draws docs/cost.svg, the chart in the README, of the figures in docs/benchmarks.md. Needs Go.
set -euo pipefail
cd "$(dirname "$0")/.."
case ${1:-} in -h | --help) exec scripts/help.sh "$0" ;; esac

UPDATE_GOLDEN=1 go -C integration test -count=1 -run '^TestChartHasTheFigures$' ./picture
ls -l docs/cost.svg
