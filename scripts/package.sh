#!/usr/bin/env bash
# Makes dist/health-probe-linux-amd64.cnb and dist/health-probe-linux-arm64.cnb, the buildpack as files for
# `pack build -b FILE`. $PACK names the pack program; without it, the one of integration/go.mod is compiled.
set -euo pipefail
cd "$(dirname "$0")/.."

if [ -z "${PACK:-}" ]; then
  PACK=$PWD/dist/tools/pack
  echo "compiling pack"
  CGO_ENABLED=0 go -C integration build -o "$PACK" github.com/buildpacks/pack
fi

rm -rf dist/package
targets=()
for arch in amd64 arm64; do
  scripts/build.sh "$arch" "dist/package/linux/$arch"
  targets+=(--target "linux/$arch")
done
cp buildpack.toml dist/package/

# What the package is, for registries and scanners (OCI image spec, Pre-Defined Annotation Keys).
label() { labels+=(--label "org.opencontainers.image.$1=$2"); }
value() { sed -n "s/^$1 = \"\(.*\)\"\$/\1/p" buildpack.toml | head -n 1; }
labels=()
label title "$(value name)"
label description "$(value description)"
label version "$(value version)"
label licenses Apache-2.0
label url "$(value homepage)"
label source "$(value homepage)"
if [ "$(git rev-parse --show-toplevel 2>/dev/null)" = "$(pwd -P)" ] && commit=$(git rev-parse -q --verify HEAD); then
  label revision "$commit"
fi
"$PACK" buildpack package dist/health-probe.cnb --format file --path dist/package "${targets[@]}" "${labels[@]}"
ls -l dist/health-probe-linux-*.cnb
