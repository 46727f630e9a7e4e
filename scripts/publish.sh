#!/usr/bin/env bash
# Publishes the buildpack as an image in a registry: an index of linux/amd64 and linux/arm64 with the tags X.Y.Z, X.Y, X
# and latest. The version is that of buildpack.toml; a pre-release gets no tag but its own. With --probe it publishes
# an image of the probe and the bridge alone, for Dockerfiles, image volumes, sidecars and docker run; with --plugin one
# of the plugin for kubectl, a function of kustomize and kpt.
#
#   scripts/publish.sh [--probe|--plugin] REGISTRY/NAME [--force]
#
# It replaces a published version with other content only with --force. After an error run it again: it goes on from
# there, and until then no tag points to what is not complete. The same commit gives the same digest, wherever it
# is made; its tags have to be there too, from which the programs take their version (scripts/check-tag.sh). The login
# is that of docker login. $PACK names the pack program, as for scripts/package.sh. dist/publish/health-probe.digest,
# grpc-health-probe.digest for the probe and kubectl-grpc_probes.digest for the plugin say what was published last:
# NAME:X.Y.Z@sha256:DIGEST. Beside each is the SBOM of the index, such as health-probe.cdx.json, which scripts/sign.sh
# attests.
. "$(dirname "$0")/lib.sh"

refuse() {
  printf 'scripts/publish.sh: %s\nusage: scripts/publish.sh [--probe|--plugin] REGISTRY/NAME [--force]\n' "$*" >&2
  exit 1
}
image=buildpack force='' repository=''
for argument in "$@"; do
  case $argument in
  --probe | --plugin) image=${argument#--} ;;
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

needs_go

warn_of_version

# Everything is made in a folder of this run's own, so that two at once have nothing in common but the registry.
mkdir -p dist/publish
new=$(mktemp -d "$PWD/dist/publish/new.XXXXXX")
trap 'rm -rf "$new" "$new".*' EXIT
publish=$(scripts/tool.sh publish)

if [ "$image" = buildpack ]; then
  scripts/package.sh "$new"
  for arch in amd64 arm64; do
    mkdir "$new/$arch"
    gzip -dc "$new/health-probe-linux-$arch.tgz" | tar -xf - -C "$new/$arch"
  done
  go run ./scripts/sbom -index "$new" "$new/amd64" "$new/arm64"
  "$publish" ${force:+"$force"} -record "$PWD/dist/publish/health-probe.digest" \
    buildpack "$repository" "$new"/health-probe-linux-*.cnb
  mv -f "$new.cdx.json" dist/publish/health-probe.cdx.json
  exit
fi

# The platforms of the image, as OCI names them, and the programs in it. There is none for Windows, whose images need
# one of Microsoft's base images for each release of Windows: the files of a release have the programs.
case $image in
probe)
  name=grpc-health-probe platforms='amd64 arm64 386 arm/v6 arm/v7 ppc64le s390x riscv64'
  programs=(./cmd/grpc_health_probe ./cmd/grpc_health_bridge)
  labels=("gRPC Health Probe" "Asks a gRPC server for its health, for exec probes and health checks")
  ;;
plugin) # runs with kustomize and kpt
  name=kubectl-grpc_probes platforms='amd64 arm64'
  programs=(./cmd/kubectl-grpc_probes)
  labels=("gRPC Health Probes for manifests" "Writes the probes of images into the manifests that run them")
  ;;
esac
for platform in $platforms; do
  folder=$new/linux/$platform
  folders+=("$folder")
  mkdir -p "$folder"
  scripts/compile.sh "${platform%%/*}" "$folder" "${programs[@]}"
done
echo "writing SBOMs"
go run ./scripts/sbom -index "$new" "${folders[@]}"
go run ./scripts/sbom "${folders[@]}"
while IFS= read -r label; do
  options+=(-label "$label")
done < <(labels "${labels[@]}")
"$publish" ${force:+"$force"} -record "$PWD/dist/publish/$name.digest" "${options[@]}" "$image" "$repository" "$new"
mv -f "$new.cdx.json" "dist/publish/$name.cdx.json"
