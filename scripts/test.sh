#!/usr/bin/env bash
# Runs all checks and tests: format, vet, linters, unit tests under the race detector, then the integration tests with
# the real pack, lifecycle and Docker. Needs Go. Without Docker the integration tests take the lifecycle without it and
# say what they left out; with CI=true that fails.
set -euo pipefail
cd "$(dirname "$0")/.."

step() { printf '\n== %s\n' "$*"; }

step format
unformatted=$(gofmt -l .)
if [ -n "$unformatted" ]; then
  echo "not formatted, run gofmt -w on:" >&2
  echo "$unformatted" >&2
  exit 1
fi

for module in . integration integration/sample; do
  step "vet $module"
  go -C "$module" vet ./...
done

step staticcheck
go -C integration build -o "$PWD/dist/tools/staticcheck" honnef.co/go/tools/cmd/staticcheck
for module in . integration integration/sample; do
  (cd "$module" && "$OLDPWD/dist/tools/staticcheck" ./...)
done

step unit tests
go test -race ./...

step build and package
scripts/build.sh
scripts/package.sh

step integration tests
docker version >/dev/null 2>&1 || echo "Docker does not answer: what needs it is left out, each test with a line (SKIP)"
# What passes is not worth a line.
go -C integration test -v -count=1 -timeout 20m ./... | grep -vE '^ *(=== |--- PASS|PASS$)|_test.go:[0-9]+: left out'
