#!/usr/bin/env bash
# Makes the buildpack as files for `pack build -b FILE`, dist/health-probe-linux-amd64.cnb and one for arm64, and beside
# each a .tgz of the buildpack's folder, which is the only file that Spring Boot takes. $PACK names the pack program;
# without it, the one of integration/go.mod is compiled.
set -euo pipefail
cd "$(dirname "$0")/.."
case ${1:-} in -h | --help) exec scripts/help.sh "$0" ;; esac

if [ -z "${PACK:-}" ]; then
  PACK=$PWD/dist/tools/pack
  echo "compiling pack"
  CGO_ENABLED=0 go -C integration build -trimpath -o "$PACK" github.com/buildpacks/pack
fi

rm -rf dist/package
targets=()
for arch in amd64 arm64; do
  scripts/build.sh "$arch" "dist/package/linux/$arch"
  targets+=(--target "linux/$arch")
done
cp buildpack.toml dist/package/

# The archives are made first, since pack removes the folders' own buildpack.toml.
for arch in amd64 arm64; do
  go run ./scripts/release archive "dist/package/linux/$arch" "dist/health-probe-linux-$arch.tgz"
done

labels=()
while IFS= read -r label; do
  labels+=(--label "$label")
done < <(scripts/labels.sh)
"$PACK" buildpack package dist/health-probe.cnb --format file --path dist/package "${targets[@]}" "${labels[@]}"
ls -l dist/health-probe-linux-*
