#!/usr/bin/env bash
# Makes everything that a release needs in dist/release. Everyone who runs it on the same commit gets the same files:
#
#   health-probe-linux-ARCH.cnb            the buildpack, for amd64 and arm64
#   health-probe-linux-ARCH.tgz            its folder, for Spring Boot
#   grpc_health_probe-OS-ARCH[.exe]        the probe alone, for all that grpc-health-probe is released for
#   grpc_health_probe_full-linux-ARCH      the full variant for linux; for darwin and windows, the probe is the full one
#   grpc_health_bridge-linux-ARCH          the bridge alone
#   grpc_health_inspect-OS-ARCH            says what a build would find in an app, for linux and darwin
#   kubectl-grpc_probes-OS-ARCH.tgz        the plugin for kubectl with its licence, for linux, darwin and windows
#   grpc-probes.yaml                       the plugin for krew, which installs it by this file
#   NAME.cdx.json, NAME.spdx.json          the SBOM of each of these programs, and of those in the buildpack
#   health-probe.openvex.json              what scripts/vulncheck.sh found, for scanners; the database of the day tells
#   checksums.txt                          the SHA-256 digests of all of these
#   notes.md                               how to get and verify this version, its changes, digests, lines to copy
#
# The version is that of buildpack.toml. Tag the commit first (scripts/check-tag.sh): the programs take theirs from the
# tags.
# The notes and the document for scanners name the images that scripts/publish.sh has published before.
. "$(dirname "$0")/lib.sh"
needs_go

version=$(product version)
out=dist/release
warn_of_version

if ! grep -qE "^## $version( |\$)" CHANGELOG.md; then
  fail "CHANGELOG.md has no section for $version"
fi

rm -rf "$out"
mkdir -p "$out"
plugins=$(mktemp -d)
trap 'rm -rf "$plugins"' EXIT
for platform in $(platforms); do
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
    plugin=$plugins/kubectl-grpc_probes-${name%.exe}
    mkdir "$plugin"
    scripts/compile.sh "$platform" "$plugin" ./cmd/kubectl-grpc_probes
    ;;
  esac
  scripts/compile.sh "$platform" "$out/grpc_health_probe-$name" ./cmd/grpc_health_probe
done
scripts/package.sh "$out"
echo "writing SBOMs"
go run ./scripts/sbom "$out"/grpc_health_* "$plugins"/*/kubectl-grpc_probes*
for plugin in "$plugins"/*; do
  for format in cdx spdx; do mv "$plugin"/*".$format.json" "$out/${plugin##*/}.$format.json"; done
  cp LICENSE "$plugin/"
  go run ./scripts/release archive "$plugin" "$out/${plugin##*/}.tgz"
done
go run ./scripts/release krew "$out"
go run ./scripts/release vex "$out"
go run ./scripts/release checksums "$out"
go run ./scripts/release notes "$out"
