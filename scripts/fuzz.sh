#!/usr/bin/env bash
# Runs the fuzz tests, each for as long as you say, beginning with the inputs in testdata/fuzz and those that earlier
# runs found and kept in dist/fuzz/corpus. If an input fails a test, the script leaves it in testdata/fuzz of the
# package: commit it with the fix. Needs Go.
#
#   scripts/fuzz.sh [-time DURATION | -runs NUMBER] [PACKAGE...]
#
# DURATION, such as 10m, and NUMBER (by default 300) are for each test. PACKAGE is a folder, such as probe/lean; without
# it, the script runs all packages with fuzz tests, as many at once as there are processors.
. "$(dirname "$0")/lib.sh"

usage() {
  printf 'scripts/fuzz.sh: %s\nusage: scripts/fuzz.sh [-time DURATION | -runs NUMBER] [PACKAGE...]\n' "$*" >&2
  exit 1
}
export LIMIT=300x MINIMIZE=1x
case ${1:-} in
-time)
  [[ ${2:-} =~ ^([0-9]+[hms])+$ ]] || usage "'${2:-}' is not a duration such as 10m"
  LIMIT=$2 MINIMIZE=10s && shift 2
  ;;
-runs)
  [[ ${2:-} =~ ^[1-9][0-9]*$ ]] || usage "'${2:-}' is not a number of runs"
  LIMIT=${2}x && shift 2
  ;;
-*) usage "'$1' is not an option" ;;
esac
needs_go
packages=()
for package in "$@"; do
  package=${package#./} package=${package%/}
  grep -qs '^func Fuzz' "$package"/*_test.go || usage "'$package' is not a package with fuzz tests"
  packages+=("$package")
done
if [ ${#packages[@]} = 0 ]; then
  while IFS= read -r package; do packages+=("$package"); done < <(
    grep -rl --include='*_test.go' '^func Fuzz' build cmd detect internal probe | xargs -n 1 dirname | sort -u)
fi

fuzz() { # PACKAGE
  local program=$PWD/dist/fuzz/program/$1/program corpus=$PWD/dist/fuzz/corpus/$1 target
  mkdir -p "$(dirname "$program")" "$corpus"
  cd "$1" # it may be in a module of its own
  CGO_ENABLED=0 go test -trimpath -c -fuzz=Fuzz -o "$program" .
  for target in $(sed -n 's/^func \(Fuzz[A-Za-z0-9_]*\)(.*/\1/p' ./*_test.go); do
    echo "$1 $target"
    "$program" -test.run=NONE -test.fuzz="^$target\$" -test.fuzzcachedir="$corpus" -test.parallel=1 -test.timeout=0 \
      -test.fuzztime="$LIMIT" -test.fuzzminimizetime="$MINIMIZE" >"$program.log" 2>&1 && continue
    # The end of the time is no finding, but Go may call a test failed that was still running then (golang/go#75804).
    case $LIMIT in *[hms])
      grep -q 'context deadline exceeded' "$program.log" && ! grep -q 'Failing input written to' "$program.log" &&
        continue ;;
    esac
    cat "$program.log"
    return 1
  done
}
export -f fuzz
printf '%s\n' "${packages[@]}" | xargs -n 1 -P "$(getconf _NPROCESSORS_ONLN)" bash -euc 'fuzz "$0"'
