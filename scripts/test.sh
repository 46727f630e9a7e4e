#!/usr/bin/env bash
# Runs all checks and tests: format, vet, linter, unit tests under the race detector, a short run of each fuzz test, the
# probes against gRPC servers of other makers, and the integration tests with the real pack, lifecycle and Docker. Needs
# Go and a C compiler. What else is missing is left out and said to be: Docker, the other makers' servers, which are
# Debian packages, and debootstrap, which takes root and a Debian (.ci/run installs all of it). With CI=true nothing may
# be missing.
set -euo pipefail
cd "$(dirname "$0")/.."

step() { printf '\n== %s\n' "$*"; }

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
go test -race ./...

# Each fuzz test starts from its corpus; a few hundred runs here find what a change breaks, long runs are done by hand. They
# are counted, since at the end of a time go test may call a test that was still running failed.
step fuzz
for package in ./build/archive ./build/github ./detect ./probe ./probe/lean; do
  for target in $(go test -list '^Fuzz' "$package" | grep ^Fuzz); do
    echo "$package $target"
    go test -run=NONE -fuzz="^$target\$" -fuzztime=300x -fuzzminimizetime=1x "$package" | grep -vE '^(fuzz: |PASS|ok)' || [ "${PIPESTATUS[0]}" = 0 ]
  done
done

step "probes against servers of other makers"
mkdir -p dist
if ! go -C integration/peers test -race -count=1 -v ./... >dist/peers.log 2>&1; then
  cat dist/peers.log
  exit 1
fi
grep -E '^ok|--- SKIP|need the Debian packages' dist/peers.log

step build and release
scripts/build.sh
scripts/release.sh

# The same commit gives the same release, wherever and whenever it is made.
step release again, elsewhere
if [ -z "$(git status --porcelain)" ]; then
  elsewhere=$(mktemp -d)
  trap 'rm -rf "$elsewhere"' EXIT
  git clone -q . "$elsewhere/clone"
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
go -C integration test -v -count=1 -timeout 20m ./... | grep -vE '^ *(=== |--- PASS|PASS$)|_test.go:[0-9]+: left out'
