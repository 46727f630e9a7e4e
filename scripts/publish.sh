#!/usr/bin/env bash
# Publishes the buildpack as an image in a registry: an index of linux/amd64 and linux/arm64 with the tags X.Y.Z, X.Y, X
# and latest. The version is that of buildpack.toml; a pre-release gets no tag but its own. With --probe it publishes
# an image of the probe and the bridge alone, for Dockerfiles, image volumes, sidecars and docker run.
#
#   scripts/publish.sh [--probe] REGISTRY/NAME [--force]
#
# It replaces a published version with other content only with --force. After an error run it again: it goes on from
# there, and until then no tag points to what is not complete. The same commit gives the same digest, wherever it
# is made; its tag vX.Y.Z has to be there too, from which the programs take their version. The login is that of docker
# login. $PACK names the pack program, as for scripts/package.sh. dist/publish/health-probe.digest, and for the probe
# dist/publish/grpc-health-probe.digest, say what was published last: NAME:X.Y.Z@sha256:DIGEST.
set -euo pipefail
cd "$(dirname "$0")/.."
case ${1:-} in -h | --help) exec scripts/help.sh "$0" ;; esac
trap 'exit 130' INT

refuse() {
  printf 'scripts/publish.sh: %s\nusage: scripts/publish.sh [--probe] REGISTRY/NAME [--force]\n' "$*" >&2
  exit 1
}
probe=false force='' repository=''
for argument in "$@"; do
  case $argument in
  --probe) probe=true ;;
  --force) force=-force ;;
  -*) refuse "'$argument' is not an option" ;;
  *) [ -z "$repository" ] && repository=$argument || refuse "'$repository' and '$argument' are two names" ;;
  esac
done
# The grammar of names in registries (OCI distribution spec), of which the first part is a host. A tag is none of it.
[ -n "$repository" ] || refuse "it names no repository"
host='(localhost|[A-Za-z0-9][A-Za-z0-9-]*(\.[A-Za-z0-9-]+)+|[A-Za-z0-9][A-Za-z0-9.-]*:[0-9]+)'
component='[a-z0-9]+((\.|_|__|-+)[a-z0-9]+)*'
[[ $repository =~ ^$host(/$component)+$ ]] ||
  refuse "'$repository' is not REGISTRY/NAME, such as registry.example.com/team/health-probe, without a tag"

scripts/needs-go.sh scripts/publish.sh

version=$(sed -n 's/^version = "\(.*\)"$/\1/p' buildpack.toml)
if ! git tag --points-at HEAD | grep -qxF "v$version"; then
  echo "warning: this commit has no tag v$version: the programs will name the commit as their version" >&2
fi
if [ -n "$(git status --porcelain)" ]; then
  echo "warning: this folder has uncommitted changes: the programs will say so" >&2
fi

# Everything is made in a folder of this run's own, so that two at once have nothing in common but the registry.
mkdir -p dist/publish
new=$(mktemp -d "$PWD/dist/publish/new.XXXXXX")
trap 'rm -rf "$new"' EXIT
publish=$(scripts/tool.sh publish)

if ! $probe; then
  scripts/package.sh "$new"
  "$publish" ${force:+"$force"} -record "$PWD/dist/publish/health-probe.digest" \
    buildpack "$repository" "$new"/health-probe-linux-*.cnb
  exit
fi

# The platforms of the probe's image, as OCI names them, and the programs in it. There is none for Windows, whose images
# need one of Microsoft's base images for each release of Windows: the files of a release have the program.
platforms='amd64 arm64 386 arm/v6 arm/v7 ppc64le s390x riscv64'
for platform in $platforms; do
  folder=$new/linux/$platform
  folders+=("$folder")
  mkdir -p "$folder"
  scripts/compile.sh "${platform%%/*}" "$folder" ./cmd/grpc_health_probe ./cmd/grpc_health_bridge
done
echo "writing SBOMs"
go run ./scripts/sbom "${folders[@]}"
while IFS= read -r label; do
  labels+=(-label "$label")
done < <(scripts/labels.sh "gRPC Health Probe" "Asks a gRPC server for its health, for exec probes and health checks")
"$publish" ${force:+"$force"} -record "$PWD/dist/publish/grpc-health-probe.digest" "${labels[@]}" \
  probe "$repository" "$new"
