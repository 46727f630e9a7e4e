#!/usr/bin/env bash
# Makes the buildpack as files for `pack build -b FILE`, health-probe-linux-amd64.cnb and one for arm64, and beside each
# a .tgz of the buildpack's folder, which is the only file that Spring Boot takes, and the SBOM of its programs.
#
#   scripts/package.sh [FOLDER]
#
# FOLDER is where to make them (by default dist). $PACK names the pack program; without it, the script compiles
# the one of integration/go.mod.
. "$(dirname "$0")/lib.sh"

if [ $# -gt 1 ] || [[ ${1:-} = -* ]]; then
  usage "[FOLDER]"
fi
folder=${1:-dist}
needs_go
pack=$(scripts/tool.sh pack)

# New files are made beside the old ones and then take their places, so a script that fails or runs twice at
# once leaves none that is incomplete.
mkdir -p "$folder"
new=$(mktemp -d "$folder/package.XXXXXX")
trap 'rm -rf "$new"' EXIT
targets=()
for arch in amd64 arm64; do
  scripts/build.sh "$arch" "$new/package/linux/$arch"
  targets+=(--target "linux/$arch")
done
cp buildpack.toml "$new/package/"

echo "writing SBOMs"
go run ./scripts/sbom "$new/package/linux/amd64" "$new/package/linux/arm64"
for arch in amd64 arm64; do
  for format in cdx spdx; do
    mv "$new/package/linux/$arch.$format.json" "$new/health-probe-linux-$arch.$format.json"
  done
done

# The archives come first, because pack removes the folders' own buildpack.toml.
for arch in amd64 arm64; do
  go run ./scripts/release archive "$new/package/linux/$arch" "$new/health-probe-linux-$arch.tgz"
done

labels=()
while IFS= read -r label; do
  labels+=(--label "$label")
done < <(labels "$(product name)" "$(product description)")
"$pack" buildpack package "$new/health-probe.cnb" --format file --path "$new/package" "${targets[@]}" "${labels[@]}"
mv -f "$new"/health-probe-linux-* "$folder/"
ls -l "$folder"/health-probe-linux-*
