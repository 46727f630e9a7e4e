#!/usr/bin/env bash
# Runs all checks and tests: linters, unit tests under the race detector, a short run of each fuzz test, the examples
# against the types of platforms that are not run here, the probes against gRPC servers of other makers, a release that
# is made twice, and the integration tests with the real pack, lifecycle and Docker. It ends with a table of its steps
# and their seconds. Needs Go and a C compiler. If something else is missing, the tests that need it are skipped, and
# the output says so: Docker, Podman, the servers of other makers, which are Debian packages, and debootstrap, which
# needs root and a Debian (.ci/run installs all of it). With CI=true nothing may be missing.
#
#   scripts/test.sh [--cluster]
#
# --cluster also runs the tests on a whole Kubernetes cluster, which is made for them and removed afterwards. They need
# root, cgroups, Docker, and the Debian packages iproute2, iptables, containernetworking-plugins and libseccomp-dev.
# Compiling the cluster's programs, and kpack, Tekton and Skaffold, which run on it, takes half an hour, once;
# dist/logs/cluster has the programs' logs.
set -euo pipefail
cd "$(dirname "$0")/.."
case ${1:-} in -h | --help) exec scripts/help.sh "$0" ;; esac

cluster=false
case $* in
'') ;;
--cluster) cluster=true ;;
*)
  echo "usage: scripts/test.sh [--cluster]" >&2
  exit 1
  ;;
esac

# Linters, tests, tools and programs share compiled packages if all of them are compiled with the same settings.
export CGO_ENABLED=0 GOFLAGS=-trimpath
tools=$PWD/dist/tools
logs=$PWD/dist/logs
rm -rf "$logs"
mkdir -p "$tools" "$logs"

# step begins a step; its seconds are printed in the table at the end.
steps=()
step() {
  steps+=("$SECONDS $*")
  printf '\n== %s\n' "$*"
}
table() {
  local i begin end
  printf '\n%7s  %s\n' seconds step
  for i in "${!steps[@]}"; do
    begin=${steps[i]%% *}
    end=${steps[i + 1]:-$SECONDS}
    printf '%7d  %s\n' "$((${end%% *} - begin))" "${steps[i]#* }"
  done
  printf '%7d  in all\n' "$SECONDS"
}

# What takes long to compile is compiled into Go's build cache from the beginning, in the order in which it is needed,
# with what the other steps leave of the processors. The number of each job is in a file: bash of macOS has no maps.
elsewhere=''
finish() {
  code=$?
  for job in "$logs"/*.pid; do kill -- "-$(cat "$job" 2>/dev/null)" 2>/dev/null || true; done
  rm -rf "$elsewhere"
  table
  exit "$code"
}
trap finish EXIT

# background NAME COMMAND... runs a command at a low priority, in a process group of its own, so that finish ends all of
# it. await NAME waits for it, and prints what it printed if it failed.
background() {
  local name=$1
  shift
  set -m # a process group of its own
  nice -n 19 "$@" >"$logs/$name.log" 2>&1 </dev/null &
  set +m
  echo $! >"$logs/$name.pid"
}
await() {
  if ! wait "$(cat "$logs/$1.pid")"; then
    cat "$logs/$1.log" >&2
    echo "scripts/test.sh: $1 failed" >&2
    exit 1
  fi
  rm "$logs/$1.pid" # its number may soon be that of another process
}

background actionlint go -C integration/actionlint build -o "$tools/actionlint" \
  github.com/rhysd/actionlint/cmd/actionlint
background golangci-lint go -C integration/tools build -o "$tools/golangci-lint" \
  github.com/golangci/golangci-lint/v2/cmd/golangci-lint
# shellcheck disable=SC2016 # the inner shell has the variables
background tools bash -euc '
  go -C integration list -deps -export github.com/buildpacks/pack >/dev/null
  for folder in integration/lifecycle integration/lifecycle/oldest; do
    go -C "$folder" list -deps -export github.com/buildpacks/lifecycle/cmd/... >/dev/null
  done
  go -C integration/distribution list -deps -export tool >/dev/null'
# It waits for the network and the disk more than it works.
background debian go -C integration run ./debian
background signing bash -euc 'while kill -0 "$1" 2>/dev/null; do sleep 1; done
  go -C integration/cosign list -deps -export github.com/sigstore/cosign/v3/cmd/cosign >/dev/null' - \
    "$(cat "$logs/tools.pid")"
if $cluster; then
  # shellcheck disable=SC2016 # the inner shell has the variables
  background cluster bash -euc 'while kill -0 "$1" 2>/dev/null; do sleep 1; done
    go -C integration run ./cluster/up' - "$(cat "$logs/tools.pid")"
fi

# The tests of the inner loop come first: what they find is found in a minute.
step documents
go -C integration test -count=1 ./documents # their inputs are outside the module, which go test does not notice

step unit tests
CGO_ENABLED=1 go test -race ./...
go -C scripts/publish test -count=1 ./...

step linters
await golangci-lint
for module in . integration integration/peers integration/sample scripts/publish; do
  (cd "$module" && "$tools/golangci-lint" run ./...)
done
await actionlint
"$tools/actionlint" # .github/workflows
if command -v shellcheck >/dev/null; then
  shellcheck scripts/*.sh .ci/run
elif [ "${CI:-}" = true ]; then
  echo "shellcheck is not installed" >&2
  exit 1
else
  echo "shellcheck is not installed: the scripts are not checked by it (SKIP)"
fi

# Each fuzz test starts from its corpus; a few hundred runs here find what a change breaks, long runs are done by hand.
# They are counted, since at the end of a time go test may call a test failed that was still running. Packages are
# compiled and run side by side.
step fuzz
fuzz() { # FOLDER
  local program=$PWD/dist/fuzz/$1/program target
  mkdir -p "$(dirname "$program")"
  go test -c -fuzz=Fuzz -o "$program" "./$1"
  cd "$1"
  for target in $(sed -n 's/^func \(Fuzz[A-Za-z0-9_]*\)(.*/\1/p' ./*_test.go); do
    echo "$1 $target"
    "$program" -test.run=NONE -test.fuzz="^$target\$" -test.fuzzcachedir="$(dirname "$program")" -test.parallel=1 \
      -test.fuzztime=300x -test.fuzzminimizetime=1x >"$program.log" 2>&1 || { cat "$program.log" && return 1; }
  done
}
export -f fuzz
processors=$(getconf _NPROCESSORS_ONLN)
grep -rl --include='*_test.go' '^func Fuzz' build cmd detect internal probe | xargs -n 1 dirname | sort -u |
  xargs -n 1 -P "$processors" bash -euc 'fuzz "$0"'

# These types import half of Kubernetes: too much for a linter, and go test runs vet on them.
step "examples against the platforms' types"
go -C integration/schemas test -count=1 ./...

step "probes against servers of other makers"
if ! CGO_ENABLED=1 go -C integration/peers test -race -count=1 -v . >"$logs/peers.log" 2>&1; then
  cat "$logs/peers.log"
  exit 1
fi
grep -E '^ok|--- SKIP|need the Debian packages' "$logs/peers.log"

step build and release
await tools
scripts/build.sh
rm -rf dist/vulncheck # it tells of other programs
scripts/release.sh
# What this needs was compiled for the release, with the same settings.
for platform in $(scripts/platforms.sh); do
  packages=./cmd/grpc_health_probe
  case $platform in
  linux/*) packages='./cmd/grpc_health_probe ./cmd/grpc_health_probe_full ./cmd/grpc_health_bridge ./probe/lean' ;;
  esac
  # shellcheck disable=SC2086 # a list
  GOOS=${platform%/*} GOARCH=${platform#*/} GOARM=6 go vet $packages
done
go -C integration/peers test -count=1 ./release

# The same commit gives the same release, wherever and whenever it is made: from a clone in another folder, whose files
# are years old, with another umask, in another time zone, with the tools of busybox instead of GNU's. Only the clock
# and the machine are the same. It is made beside the integration tests, which wait for Docker more than they work.
again='release again, elsewhere'
if [ -z "$(git status --porcelain)" ]; then
  elsewhere=$(mktemp -d)
  git clone -q . "$elsewhere/clone"
  find "$elsewhere/clone" -exec touch -h -t 200102030405.06 {} +
  path=$PATH
  if command -v busybox >/dev/null; then
    path=$elsewhere/bin
    mkdir "$path"
    for tool in $(busybox --list); do ln -s "$(command -v busybox)" "$path/$tool"; done
    for program in bash git go; do ln -sf "$(command -v "$program")" "$path/$program"; done
  elif [ "${CI:-}" = true ]; then
    echo "busybox is not installed" >&2
    exit 1
  else
    echo "busybox is not installed: the release is made again with the same tools (SKIP)"
  fi
  # shellcheck disable=SC2016 # the inner shell has the variables
  background release-again bash -euc 'umask 077; cd "$1"; export PACK=$2/pack TZ=Asia/Tokyo PATH=$3
    scripts/release.sh; scripts/demo.sh -h' - "$elsewhere/clone" "$tools" "$path"
elif [ "${CI:-}" = true ]; then
  echo "there are changes that are not committed" >&2
  exit 1
else
  echo "$again: left out, since there are changes that are not committed"
fi

step integration tests
await signing
docker version >/dev/null 2>&1 || echo "Docker does not answer: tests that need it are skipped, each with a line (SKIP)"
[ "$(id -u)" = 0 ] && command -v debootstrap >/dev/null || echo "no root or no debootstrap: TestApps is skipped (SKIP)"
await debian
# Tests that pass are not worth a line.
quietly() { grep --line-buffered -vE '^ *(=== |--- PASS|PASS$)|_test.go:[0-9]+: left out'; }
# One package at a time: of several at once go test prints nothing until one ends.
packages=$(go -C integration list -f '{{if or .TestGoFiles .XTestGoFiles}}{{.ImportPath}}{{end}}' ./...)
failed=false
for package in $packages; do
  case $package in */cluster | */documents) continue ;; esac
  # Most of them wait for Docker: twice as many at once as the machine has processors.
  go -C integration test -v -count=1 -timeout 20m -parallel "$((2 * processors))" "$package" | quietly || failed=true
done
if $failed; then exit 1; fi

if [ -n "$elsewhere" ]; then
  step "$again"
  await release-again
  diff dist/release/checksums.txt "$elsewhere/clone/dist/release/checksums.txt"
fi

if $cluster; then
  step "a Kubernetes cluster, with the examples for it"
  await cluster
  # Pods wait more than they work. TestCompare makes a section of docs/benchmarks.md, by hand.
  go -C integration test -v -count=1 -timeout 20m -parallel 16 -skip '^TestCompare$' ./cluster | quietly
fi
