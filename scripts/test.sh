#!/usr/bin/env bash
# Runs the tests, in three tiers.
#
#   scripts/test.sh              # is my change sound?
#   scripts/test.sh --all        # everything except the next line: what CI runs before a change lands
#   scripts/test.sh --platforms  # kpack, Tekton, Skaffold, their types, Kyverno, signing, the oldest lifecycle: before
#                                # a release and each week
#   scripts/test.sh PART...      # parts of a tier, by their names
#
# The first tier needs Go. It builds an image with pack in Docker and executes the probe in it; without Docker it uses
# the lifecycle alone. The others need a C compiler too, and whatever .ci/run installs on a Debian. If something is
# missing, the script leaves out the tests that need it, and says so at the beginning and at the end. With CI=true that
# is an error. The parts:
#
#   first tier   documents format unit build core
#   --all        documents race siege linters fuzz peers release integration cluster
#   --platforms  schemas cosign oldest policy platforms
#
# It ends with a table of the parts and their seconds. dist/logs has the output of what ran in the background.
. "$(dirname "$0")/lib.sh"

first='documents format unit build core'
all='documents race siege linters fuzz peers release integration cluster'
platforms='schemas cosign oldest policy platforms'

# The tests of the first tier among those with the real pack, lifecycle and Docker: detection, build, the image, the
# probe and the bridge in it. The parts integration and cluster run the others.
core='TestExec TestNoShell TestBareExec TestLabel TestAppIsLeftAlone TestAppWithoutGRPC TestDisabledWithdraws'
core="$core TestProbeLayerIsTheSameInAllImages TestBridge TestLaunchedBridge TestDemoRefusesOtherValues"
# Tests for which alone something large is compiled: they are parts of --platforms.
cosign='TestReleaseWorkflow TestForgedRelease TestForgedAttestations'
oldest='TestOldestLifecycle'
policy='TestPolicy TestPolicyOfImages'
platform_tests='TestKpack TestTekton TestSkaffold'

tier='' parts=''
case "$*" in
'') tier=first parts=$first ;;
--all) tier=all parts=$all ;;
--platforms) tier=platforms parts=$platforms ;;
*)
  for part in "$@"; do
    case " $first $all $platforms " in
    *" $part "*) parts="$parts $part" ;;
    *) fail "'$part' is neither a part nor a tier: scripts/test.sh -h lists them" ;;
    esac
  done
  ;;
esac
runs() { # PART...: whether one of them is to run
  local part
  for part in "$@"; do
    case " $parts " in *" $part "*) return 0 ;; esac
  done
  return 1
}

# What is missing is said before anything is compiled.
needs_go
left=()
lacks() { # WHAT CONSEQUENCE
  [ "${CI:-}" != true ] || fail "CI=true needs $1"
  left+=("without $1: $2")
  echo "without $1: $2 (SKIP)"
}
has_docker=true
if runs core integration cluster cosign oldest platforms && ! docker version >/dev/null 2>&1; then
  has_docker=false
  lacks "a Docker that answers ('docker version' says why)" "tests that need it; the lifecycle runs without it"
fi
if runs race peers && ! command -v "${CC:-gcc}" >/dev/null && ! command -v cc >/dev/null; then
  fail "the race detector needs a C compiler (Debian: apt-get install gcc libc6-dev)"
fi
if runs unit race cluster && ! command -v javac >/dev/null; then
  lacks "a JDK (Debian: default-jdk-headless)" "the bridge beside an app in Java"
fi
if runs linters && ! command -v shellcheck >/dev/null; then
  lacks shellcheck "checks of the scripts"
fi
if runs release && ! command -v busybox >/dev/null; then
  lacks busybox "a release with other tools than GNU's"
fi
if runs release && [ -n "$(git status --porcelain)" ]; then
  lacks "a commit of all changes" "the proof that a release can be made again"
fi
if runs integration && ! { [ "$(id -u)" = 0 ] && command -v debootstrap >/dev/null; }; then
  lacks "root and debootstrap" "apps in other languages than Go"
fi
if runs integration && ! { command -v qemu-system-x86_64 && command -v apt-get; } >/dev/null; then
  lacks "QEMU (Debian: qemu-system-x86) and apt-get" "tests on cgroup v2 alone"
fi
if runs siege && [ "$(id -u)" != 0 ]; then
  lacks root "the bridge under siege, which has a limit of memory"
fi
has_cluster=true
if runs cluster platforms && ! { $has_docker && [ "$(id -u)" = 0 ] && command -v ip && command -v iptables; } \
  >/dev/null; then
  has_cluster=false
  lacks "root, Docker, iproute2 and iptables" "tests on a Kubernetes cluster"
fi

# Linters, tests, tools and programs share compiled packages if all of them are compiled with the same settings.
export CGO_ENABLED=0 GOFLAGS=-trimpath
tools=$PWD/dist/tools
logs=$PWD/dist/logs
processors=$(getconf _NPROCESSORS_ONLN)
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
  for i in ${left[@]+"${left[@]}"}; do echo "left out, $i"; done
  case $tier in
  first) echo "left to scripts/test.sh --all and --platforms, which scripts/test.sh -h describes: everything else" ;;
  all)
    echo "left to scripts/test.sh --platforms: kpack, Tekton, Skaffold, their types, Kyverno, signing," \
      "the oldest lifecycle"
    ;;
  platforms) echo "left to scripts/test.sh --all: everything else" ;;
  esac
}

elsewhere=''
finish() {
  code=$?
  trap - EXIT INT TERM
  for job in "$logs"/*.pid; do kill -- "-$(cat "$job" 2>/dev/null)" 2>/dev/null || true; done
  rm -rf "$elsewhere"
  table
  exit "$code"
}
trap finish EXIT
trap 'exit 143' TERM

# background NAME COMMAND... runs a command at a low priority, in a process group of its own, so that finish ends all of
# it. What takes long to compile is compiled so into Go's build cache from the beginning, with what the steps leave of
# the processors. await NAME waits for it, and prints what it printed if it failed.
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
    fail "$1 failed"
  fi
  rm "$logs/$1.pid" # its number may soon be that of another process
}

if runs linters; then
  background linters go -C integration/tools build -o "$tools/" github.com/rhysd/actionlint/cmd/actionlint \
    github.com/golangci/golangci-lint/v2/cmd/golangci-lint
fi
# Each list of packages in the order in which they are needed; a cluster's programs come last, and take longest.
needs_tools='core release integration cluster cosign oldest policy platforms'
# shellcheck disable=SC2086,SC2016 # a list; the inner shell has the variables
if runs $needs_tools; then
  background tools bash -euc '
    compile() { # as the harness does
      go -C "$1" list "-gcflags=all=-l -dwarf=false" -gcflags=std= -deps -export "$2" >/dev/null
    }
    compile integration/tools github.com/buildpacks/lifecycle/cmd/...
    compile integration github.com/buildpacks/pack
    for part; do
      case $part in
      integration) compile integration/tools github.com/distribution/distribution/v3/cmd/registry ;;
      cosign) compile integration/cosign github.com/sigstore/cosign/v3/cmd/cosign ;;
      oldest) compile integration/tools/oldest github.com/buildpacks/lifecycle/cmd/... ;;
      policy) compile integration/kyverno tool ;;
      esac
    done' - $parts
fi
# shellcheck disable=SC2016 # the inner shell has the variables
if $has_cluster && runs cluster platforms; then
  more=''
  if runs platforms; then more=platforms; fi
  background cluster bash -euc 'while kill -0 "$1" 2>/dev/null; do sleep 1; done
    go -C integration run ./cluster/up compile $2' - "$(cat "$logs/tools.pid")" "$more"
fi
if runs integration; then
  background debian go -C integration run ./debian # it waits for the network and the disk more than it works
fi

# pattern TEST... is the regular expression of exactly these tests.
pattern() {
  local IFS='|'
  echo "^($*)\$"
}
# exist PACKAGE TEST... fails unless each of these integration tests is there.
exist() {
  local package=$1 found
  shift
  found=$(go -C integration test -list "$(pattern "$@")" "$package" | grep -c ^Test) || true
  [ "$found" = $# ] || fail "of the tests $*, $package has $found: rename them in this script too"
}
# these PACKAGE TEST... runs these integration tests.
these() {
  local package=$1
  exist "$@"
  shift
  integration_tests "$package" -run "$(pattern "$@")"
}
# integration_tests PACKAGE ARGUMENTS... runs integration tests. Most of them wait for Docker: twice as many at once as
# the machine has processors. Tests that pass are not worth a line.
integration_tests() {
  local package=$1
  shift
  go -C integration test -v -count=1 -timeout 30m -parallel "$((2 * processors))" "$@" "$package" |
    grep --line-buffered -vE '^ *(=== |--- PASS|PASS$)|_test.go:[0-9]+: left out'
}

run_documents() {
  step documents
  # Their inputs are outside the module, which go test does not notice.
  go -C integration test -count=1 ./documents ./picture
}
run_format() {
  step format and vet
  local unformatted
  unformatted=$(git ls-files -z '*.go' | xargs -0 gofmt -l)
  [ -z "$unformatted" ] || fail "gofmt -w these files: $unformatted"
  go vet ./...
  local module
  for module in integration integration/sample $modules; do go -C "$module" vet ./...; done
}
# Programs that have a module of their own, so that the product needs none of their libraries.
modules='scripts/publish cmd/kubectl-grpc_probes'
test_modules() {
  local module
  for module in $modules; do go -C "$module" test -count=1 ./...; done
}
run_unit() {
  step unit tests
  go test -short ./...
  test_modules
}
run_race() {
  step unit tests under the race detector
  # The goroutines are those of detect, which calls languages side by side: its tests and the programs' analyse apps.
  local package packages=()
  for package in $(go list ./...); do
    case $package in */detect/language/*) ;; *) packages+=("$package") ;; esac
  done
  CGO_ENABLED=1 go test -race "${packages[@]}"
  go test ./detect/language/...
  test_modules
}
# The bridge is attacked in each way for two seconds, by itself: other tests beside it would be attackers too.
run_siege() {
  step the bridge under siege
  BRIDGE_SIEGE_SECONDS=2 go test -count=1 -run '^TestSiege$' ./probe/bridge
}
# CodeQL reads what is built here: the modules from which users get something.
run_build() {
  step build
  local module
  for module in . $modules; do (cd "$module" && go build -o /dev/null ./...); done
  build
}
# build makes dist/buildpack, and release dist/release, once.
built=false released=false
build() {
  $built || scripts/build.sh
  built=true
}
release() {
  $released || scripts/release.sh
  released=true
}
run_core() {
  step the core of the integration tests
  build
  # shellcheck disable=SC2086 # a list
  these . $core
}
run_linters() {
  step linters
  await linters
  local module
  for module in . integration integration/sample $modules; do
    (cd "$module" && "$tools/golangci-lint" run ./...)
  done
  "$tools/actionlint" # .github/workflows
  ! command -v shellcheck >/dev/null || shellcheck scripts/*.sh .ci/run
}
# Each fuzz test starts from its corpus; a few hundred runs here find what a change breaks. A workflow runs them longer.
run_fuzz() {
  step fuzz
  scripts/fuzz.sh
}
# These types import half of Kubernetes: too much for a linter, and go test runs vet on them.
run_schemas() {
  step "examples against the platforms' types"
  go -C integration/schemas test -count=1 ./...
}
run_peers() {
  step "probes against servers of other makers"
  if ! CGO_ENABLED=1 go -C integration test -race -count=1 -v ./peers >"$logs/peers.log" 2>&1; then
    cat "$logs/peers.log"
    exit 1
  fi
  grep -E '^ok|--- SKIP|need the Debian packages' "$logs/peers.log"
}
run_release() {
  step release
  rm -rf dist/vulncheck # it tells of other programs
  release
  # What this needs was compiled for the release, with the same settings.
  local platform packages
  for platform in $(platforms); do
    packages=./cmd/grpc_health_probe
    case $platform in
    linux/*) packages='./cmd/grpc_health_probe ./cmd/grpc_health_probe_full ./cmd/grpc_health_bridge ./probe/lean' ;;
    esac
    # shellcheck disable=SC2086 # a list
    GOOS=${platform%/*} GOARCH=${platform#*/} GOARM=6 go vet $packages
  done
  go -C integration test -count=1 ./peers/release
  [ -n "$(git status --porcelain)" ] || release_elsewhere
}
# The same commit gives the same release, wherever and whenever it is made: from a clone in another folder, whose files
# are years old, with another umask, in another time zone, with the tools of busybox instead of GNU's. Only the clock
# and the machine are the same. It is made beside the integration tests, which wait for Docker more than they work.
release_elsewhere() {
  local path=$PATH tool program
  elsewhere=$(mktemp -d)
  git clone -q . "$elsewhere/clone"
  find "$elsewhere/clone" -exec touch -h -t 200102030405.06 {} +
  if command -v busybox >/dev/null; then
    path=$elsewhere/bin
    mkdir "$path"
    for tool in $(busybox --list); do ln -s "$(command -v busybox)" "$path/$tool"; done
    for program in bash git go; do ln -sf "$(command -v "$program")" "$path/$program"; done
  fi
  # shellcheck disable=SC2016 # the inner shell has the variables
  background release-again bash -euc 'umask 077; cd "$1"; export PACK=$2/pack TZ=Asia/Tokyo PATH=$3
    scripts/release.sh; scripts/demo.sh -h' - "$elsewhere/clone" "$tools" "$path"
}
compare_releases() {
  step "release again, elsewhere"
  await release-again
  diff dist/release/checksums.txt "$elsewhere/clone/dist/release/checksums.txt"
}
run_integration() {
  step integration tests
  await debian
  build
  release
  # The other tiers name tests of this part.
  # shellcheck disable=SC2086 # lists
  exist . $core $cosign $oldest $policy
  # An emulated machine needs a processor, and its deadlines hold at a low priority too.
  background cgroup2 go -C integration test -count=1 -timeout 30m ./cgroup2
  local package failed=false
  # One package at a time: of several at once go test prints nothing until one ends.
  for package in $(go -C integration list -f '{{if or .TestGoFiles .XTestGoFiles}}{{.ImportPath}}{{end}}' ./...); do
    case $package in */cgroup2 | */cluster | */documents | */peers* | */picture) continue ;; esac
    # shellcheck disable=SC2086 # lists
    integration_tests "$package" -skip "$(pattern $cosign $oldest $policy)" || failed=true
  done
  if $failed; then exit 1; fi
  await cgroup2
}
run_cosign() {
  step signing
  build
  release
  # shellcheck disable=SC2086 # a list
  these . $cosign
}
run_oldest() {
  step the oldest lifecycle
  build
  # shellcheck disable=SC2086 # a list
  these . $oldest
}
run_policy() {
  step "the policies, with Kyverno's command line"
  # shellcheck disable=SC2086 # a list
  these . $policy
}
# Pods wait more than they work.
run_cluster() {
  $has_cluster || return 0
  step a Kubernetes cluster, with the examples for it
  await_cluster
  build
  # TestCompare makes a section of docs/benchmarks.txt, by hand.
  # shellcheck disable=SC2086 # a list
  integration_tests ./cluster -parallel 16 -skip "$(pattern TestCompare $platform_tests)"
}
run_platforms() {
  $has_cluster || return 0
  step kpack, Tekton and Skaffold on a cluster
  await_cluster
  build
  # shellcheck disable=SC2086 # a list
  these ./cluster $platform_tests
}
await_cluster() {
  if [ -f "$logs/cluster.pid" ]; then await cluster; fi
}

for part in $parts; do
  # What is compiled in the background is compiled once: the first part that needs it waits for it.
  case " $needs_tools " in
  *" $part "*) if [ -f "$logs/tools.pid" ]; then await tools; fi ;;
  esac
  "run_$part"
done
if [ -n "$elsewhere" ]; then compare_releases; fi
