#!/usr/bin/env bash
# Publishes the buildpack as an image in a registry: an index of linux/amd64 and linux/arm64 with the tags X.Y.Z, X.Y, X
# and latest. The version is that of buildpack.toml; a pre-release gets no tag but its own. With --probe it publishes
# an image of the probe and the bridge alone, for Dockerfiles, image volumes, sidecars and docker run.
#
#   scripts/publish.sh [--probe] REGISTRY/NAME [--force]
#
# A version that is published with other content is only replaced with --force. After an error run it again: it goes on
# from there, and until then no tag points to what is not complete. The same commit gives the same digest, wherever it
# is made; its tag vX.Y.Z has to be there too, from which the programs take their version. The login is that of docker
# login. $PACK names the pack program, as for scripts/package.sh. dist/publish/health-probe.digest, and for the probe
# dist/publish/grpc-health-probe.digest, say what was published: NAME:X.Y.Z@sha256:DIGEST.
set -euo pipefail
cd "$(dirname "$0")/.."
case ${1:-} in -h | --help) exec scripts/help.sh "$0" ;; esac

probe=false force='' repository=''
for argument in "$@"; do
  case $argument in
  --probe) probe=true ;;
  --force) force=-force ;;
  -*) repository='' && break ;;
  *) [ -z "$repository" ] && repository=$argument || { repository='' && break; } ;;
  esac
done
if [ -z "$repository" ]; then
  echo "usage: scripts/publish.sh [--probe] REGISTRY/NAME [--force]" >&2
  exit 1
fi

version=$(sed -n 's/^version = "\(.*\)"$/\1/p' buildpack.toml)
if ! git tag --points-at HEAD | grep -qxF "v$version"; then
  echo "warning: this commit has no tag v$version: the programs will name the commit as their version" >&2
fi
if [ -n "$(git status --porcelain)" ]; then
  echo "warning: there are changes that are not committed: the programs will say so" >&2
fi
mkdir -p dist/publish
publish() { # NAME ARGUMENTS... of the Go program
  local record=$PWD/dist/publish/$1.digest
  shift
  rm -f "$record"
  go -C scripts/publish build -trimpath -o "$PWD/dist/tools/publish" .
  dist/tools/publish ${force:+"$force"} -record "$record" "$@"
}

if ! $probe; then
  scripts/package.sh
  publish health-probe buildpack "$repository" "$PWD"/dist/health-probe-linux-*.cnb
  exit
fi

# The platforms of the probe's image, as OCI names them, and the programs in it. There is none for Windows, whose images
# need one of Microsoft's base images for each release of Windows: the files of a release have the program.
platforms='amd64 arm64 386 arm/v6 arm/v7 ppc64le s390x riscv64'
rm -rf dist/probe-image
for platform in $platforms; do
  folder=dist/probe-image/linux/$platform
  folders+=("$folder")
  for program in grpc_health_probe grpc_health_bridge; do
    scripts/compile.sh "${platform%%/*}" "$folder/$program" "./cmd/$program"
  done
done
echo "writing SBOMs"
go run ./scripts/sbom "${folders[@]}"
while IFS= read -r label; do
  labels+=(-label "$label")
done < <(scripts/labels.sh "gRPC Health Probe" "Asks a gRPC server for its health, for exec probes and health checks")
publish grpc-health-probe "${labels[@]}" probe "$repository" "$PWD/dist/probe-image"
