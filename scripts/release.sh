#!/usr/bin/env bash
# Makes all that a release needs in dist/release. From a commit without changes anyone makes the same again:
#
#   health-probe-linux-ARCH.cnb            the buildpack, for amd64 and arm64
#   health-probe-linux-ARCH.tgz            its folder, for Spring Boot
#   grpc_health_probe[_full]-linux-ARCH    the probes alone, for these, ppc64le, s390x and riscv64
#   NAME.cdx.json, NAME.spdx.json          the SBOM of each probe
#   checksums.txt                          the SHA-256 digests of all of these
#   notes.md                               what CHANGELOG.md says of this version
#
# The version is that of buildpack.toml. Tag the commit with it (v1.2.3) first: the programs take theirs from the tag.
set -euo pipefail
cd "$(dirname "$0")/.."
case ${1:-} in -h | --help) exec scripts/help.sh "$0" ;; esac

version=$(sed -n 's/^version = "\(.*\)"$/\1/p' buildpack.toml)
out=dist/release
if ! git tag --points-at HEAD | grep -qx "v$version"; then
  echo "warning: this commit has no tag v$version: the programs will name the commit as their version" >&2
fi
if [ -n "$(git status --porcelain)" ]; then
  echo "warning: there are changes that are not committed: the programs will say so" >&2
fi

rm -rf "$out"
mkdir -p "$out"
awk -v version="$version" '/^## /{ inside = $2 == version; next } inside' CHANGELOG.md | sed '/./,$!d' >"$out/notes.md"
if [ ! -s "$out/notes.md" ]; then
  echo "scripts/release.sh: CHANGELOG.md has no section for $version" >&2
  exit 1
fi

for arch in amd64 arm64 ppc64le s390x riscv64; do
  for program in grpc_health_probe grpc_health_probe_full; do
    scripts/compile.sh "$arch" "$out/$program-linux-$arch" "./cmd/$program"
  done
done
scripts/package.sh
cp dist/health-probe-linux-* "$out/"
echo "writing SBOMs"
go run ./scripts/sbom "$out"/grpc_health_probe*
(cd "$out" && sha256sum -- health-probe-* grpc_health_probe* >checksums.txt)
cat "$out/checksums.txt"
