#!/usr/bin/env bash
# Runs all checks and tests: format, vet, linter, unit tests under the race detector, a short run of each fuzz test, the
# examples against the types of platforms that are not run here, the probes against gRPC servers of other makers, and the
# integration tests with the real pack, lifecycle and Docker. Needs Go and a C compiler. What else is missing is left out
# and said to be: Docker, the other makers' servers, which are Debian packages, and debootstrap, which takes root and a
# Debian (.ci/run installs all of it). With CI=true nothing may be missing.
#
#   scripts/test.sh [--kubelet]
#
# --kubelet goes on with a real kubelet, containerd and runc, on a node that is made for the tests and removed. It takes
# root, Docker, and the programs of the Debian packages containerd, runc, iproute2 and containernetworking-plugins. To
# compile the kubelet takes five minutes, once.
set -euo pipefail
cd "$(dirname "$0")/.."
case ${1:-} in -h | --help) exec scripts/help.sh "$0" ;; esac

kubelet=false
case $* in
'') ;;
--kubelet) kubelet=true ;;
*)
  echo "usage: scripts/test.sh [--kubelet]" >&2
  exit 1
  ;;
esac

# What vet, the linter, tests, tools and programs share is compiled once, if all are compiled alike.
export CGO_ENABLED=0 GOFLAGS=-trimpath

step() { printf '\n== %s\n' "$*"; }

# The kubelet is compiled into Go's build cache with what the steps before its own leave of the processors.
elsewhere=''
compiling=''
finish() {
  [ -z "$compiling" ] || kill "$compiling" 2>/dev/null || true
  rm -rf "$elsewhere"
}
trap finish EXIT
if $kubelet; then
  nice -n 19 go -C integration/kubelet/tool list -deps -export k8s.io/kubernetes/cmd/kubelet >/dev/null &
  compiling=$!
fi

step format
unformatted=$(find . -name '*.go' -not -path './dist/*' -print0 | xargs -0 gofmt -l)
if [ -n "$unformatted" ]; then
  echo "not formatted, run gofmt -w on:" >&2
  echo "$unformatted" >&2
  exit 1
fi

for module in . integration integration/peers integration/sample; do
  step "vet $module"
  go -C "$module" vet ./...
done

step staticcheck
go -C integration build -o "$PWD/dist/tools/staticcheck" honnef.co/go/tools/cmd/staticcheck
for module in . integration integration/peers integration/sample; do
  (cd "$module" && "$OLDPWD/dist/tools/staticcheck" ./...)
done

step unit tests
CGO_ENABLED=1 go test -race ./...
go test -run '^TestRepetitive' ./detect # left out under the race detector, which has nothing to find and takes minutes

# Each fuzz test starts from its corpus; a few hundred runs here find what a change breaks, long runs are done by hand. They
# are counted, since at the end of a time go test may call a test that was still running failed.
step fuzz
fuzz=$PWD/dist/fuzz
packages=$(grep -rl --include='*_test.go' '^func Fuzz' build cmd detect probe | xargs -n 1 dirname | sort -u)
for package in $packages; do
  mkdir -p "$fuzz/$package"
  go test -c -fuzz=Fuzz -o "$fuzz/$package/program" "./$package"
  for target in $(sed -n 's/^func \(Fuzz[A-Za-z0-9_]*\)(.*/\1/p' "$package"/*_test.go); do
    echo "$package $target"
    (cd "$package" && "$fuzz/$package/program" -test.run=NONE -test.fuzz="^$target\$" -test.fuzzcachedir="$fuzz/$package" \
      -test.fuzztime=300x -test.fuzzminimizetime=1x 2>&1) | grep -vE '^(fuzz: |PASS)' || [ "${PIPESTATUS[0]}" = 0 ]
  done
done

# These types draw in half of Kubernetes: too much for a linter, and go test has vet look.
step "examples against the platforms' types"
go -C integration/schemas test ./...

step "probes against servers of other makers"
mkdir -p dist
if ! CGO_ENABLED=1 go -C integration/peers test -race -count=1 -v ./... >dist/peers.log 2>&1; then
  cat dist/peers.log
  exit 1
fi
grep -E '^ok|--- SKIP|need the Debian packages' dist/peers.log

step build and release
scripts/build.sh
scripts/release.sh

# The same commit gives the same release, wherever and whenever it is made: from a clone in another folder, whose files are
# years old, with another umask, in another time zone. The clock and the machine are these.
step release again, elsewhere
if [ -z "$(git status --porcelain)" ]; then
  elsewhere=$(mktemp -d)
  git clone -q . "$elsewhere/clone"
  find "$elsewhere/clone" -exec touch -h -d 2001-02-03T04:05:06Z {} +
  (umask 077 && cd "$elsewhere/clone" && PACK=$OLDPWD/dist/tools/pack TZ=Asia/Tokyo scripts/release.sh >/dev/null)
  diff dist/release/checksums.txt "$elsewhere/clone/dist/release/checksums.txt"
elif [ "${CI:-}" = true ]; then
  echo "there are changes that are not committed" >&2
  exit 1
else
  echo "left out: there are changes that are not committed"
fi

step integration tests
docker version >/dev/null 2>&1 || echo "Docker does not answer: what needs it is left out, each test with a line (SKIP)"
[ "$(id -u)" = 0 ] && command -v debootstrap >/dev/null || echo "no root or no debootstrap: TestApps is left out (SKIP)"
# What passes is not worth a line.
quietly() { grep --line-buffered -vE '^ *(=== |--- PASS|PASS$)|_test.go:[0-9]+: left out'; }
# One package at a time: of several at once go test prints nothing until one ends.
packages=$(go -C integration list -f '{{if or .TestGoFiles .XTestGoFiles}}{{.ImportPath}}{{end}}' ./...)
failed=false
for package in $packages; do
  case $package in */kubelet) continue ;; esac
  # Most wait for Docker: twice as many at once as the machine has processors.
  go -C integration test -v -count=1 -timeout 20m -parallel "$((2 * $(nproc)))" "$package" | quietly || failed=true
done
if $failed; then exit 1; fi

if $kubelet; then
  step "kubelet, with the pods of examples/kubernetes"
  wait "$compiling"
  compiling=''
  # Pods wait more than they work: all of them at once.
  go -C integration test -v -count=1 -timeout 20m -parallel 40 ./kubelet | quietly
fi
