#!/usr/bin/env bash
# Makes everything that a release needs in dist/release. Everyone who runs it on the same commit gets the same files:
#
#   health-probe-linux-ARCH.cnb            the buildpack, for amd64 and arm64
#   health-probe-linux-ARCH.tgz            its folder, for Spring Boot
#   grpc_health_probe-OS-ARCH[.exe]        the probe alone, for all that grpc-health-probe is released for
#   grpc_health_probe_full-linux-ARCH      the full variant for linux; for darwin and windows, the probe is the full one
#   grpc_health_bridge-linux-ARCH          the bridge alone
#   grpc_health_inspect-OS-ARCH            says what a build would find in an app, for linux and darwin
#   NAME.cdx.json, NAME.spdx.json          the SBOM of each of these programs, and of those in the buildpack
#   health-probe.openvex.json              what scripts/vulncheck.sh found, for scanners; the database of the day tells
#   checksums.txt                          the SHA-256 digests of all of these
#   notes.md                               how to get and verify this version, its changes, digests, lines to copy
#
# The version is that of buildpack.toml. Tag the commit with it (v1.2.3) first: the programs take theirs from the tag.
# The notes and the document for scanners name the images that scripts/publish.sh has published before.
set -euo pipefail
cd "$(dirname "$0")/.."
case ${1:-} in -h | --help) exec scripts/help.sh "$0" ;; esac
trap 'exit 130' INT
scripts/needs-go.sh scripts/release.sh

version=$(sed -n 's/^version = "\(.*\)"$/\1/p' buildpack.toml)
out=dist/release
if ! git tag --points-at HEAD | grep -qx "v$version"; then
  echo "warning: this commit has no tag v$version: the programs will name the commit as their version" >&2
fi
if [ -n "$(git status --porcelain)" ]; then
  echo "warning: this folder has uncommitted changes: the programs will say so" >&2
fi

if ! grep -qE "^## $version( |\$)" CHANGELOG.md; then
  echo "scripts/release.sh: CHANGELOG.md has no section for $version" >&2
  exit 1
fi

rm -rf "$out"
mkdir -p "$out"
for platform in $(scripts/platforms.sh); do
  name=${platform%/*}-${platform#*/}
  case $platform in
  linux/*)
    for program in grpc_health_probe_full grpc_health_bridge; do
      scripts/compile.sh "$platform" "$out/$program-$name" "./cmd/$program"
    done
    ;;
  windows/*) name=$name.exe ;;
  esac
  case $platform in
  */amd64 | */arm64) # what developers have; on Windows it runs in WSL
    [ "${platform%/*}" = windows ] ||
      scripts/compile.sh "$platform" "$out/grpc_health_inspect-$name" ./cmd/grpc_health_inspect
    ;;
  esac
  scripts/compile.sh "$platform" "$out/grpc_health_probe-$name" ./cmd/grpc_health_probe
done
scripts/package.sh "$out"
echo "writing SBOMs"
go run ./scripts/sbom "$out"/grpc_health_*
go run ./scripts/release vex "$out"
go run ./scripts/release checksums "$out"
go run ./scripts/release notes "$out"
