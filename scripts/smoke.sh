#!/usr/bin/env bash
# Tries the published images: builds an image of the sample app with the published buildpack, runs it, and checks the
# app with the probe in it and with the published image of the probe, and reads its probes with that of the plugin.
# scripts/published.sh, or the arguments, name the images. Needs Go and Docker.
#
#   scripts/smoke.sh [--builder IMAGE] [--pull-policy POLICY] [BUILDPACK PROBE PLUGIN]
#
# --builder is the builder (default: docker.io/paketobuildpacks/builder-jammy-base). It has to have a buildpack that
# reads the file Procfile. --pull-policy is pack's for the builder and its images (default: if-not-present); the script
# always pulls the published images. $PACK names the pack program; without it, it compiles the one of
# integration/go.mod.
. "$(dirname "$0")/lib.sh"

builder=docker.io/paketobuildpacks/builder-jammy-base
policy=if-not-present
while :; do
  case ${1:-} in
  --builder) builder=${2:?name the builder} ;;
  --pull-policy) policy=${2:?name the policy} ;;
  *) break ;;
  esac
  shift 2
done
case $# in
0)
  images=$(scripts/published.sh)
  # shellcheck disable=SC2086 # a list
  set -- $images
  ;;
3) ;;
*)
  usage "[--builder IMAGE] [--pull-policy POLICY] [BUILDPACK PROBE PLUGIN]"
  ;;
esac
buildpack=$1 probe=$2 plugin=$3
# The digest alone, which no tag can move. There is no docker:// before it, with which pack takes no port.
if [[ $buildpack =~ ^(.+):[^:/@]+(@sha256:.+)$ ]]; then
  buildpack=${BASH_REMATCH[1]}${BASH_REMATCH[2]}
fi
path=/layers/grpc-cnb_health-probe/probe/bin/grpc_health_probe

pack=$(scripts/tool.sh pack)

folder=$(mktemp -d)
name=health-probe-smoke-$$
finish() {
  docker rm --force "$name" >/dev/null 2>&1 || true
  docker image rm --force "$name" >/dev/null 2>&1 || true
  rm -rf "$folder"
}
trap finish EXIT
chmod 755 "$folder" # the lifecycle reads the app as another user
CGO_ENABLED=0 GOOS=linux go -C integration/sample build -trimpath -o "$folder/server" .
cp integration/sample/Procfile "$folder/"

echo "building an app with $buildpack"
docker pull --quiet "$buildpack"
"$pack" build "$name" --path "$folder" --builder "$builder" --buildpack from=builder --buildpack "$buildpack" \
  --pull-policy "$policy"
docker run --detach --name "$name" "$name" >/dev/null

echo "checking the app with the probe in its image"
docker exec "$name" "$path" -addr=localhost:5000 -wait=30s
echo "checking it with $probe"
docker pull --quiet "$probe"
docker run --rm --network "container:$name" "$probe" -addr=localhost:5000
# A check that cannot fail says nothing: this service is not there, which is exit code 3.
code=0
docker exec "$name" "$path" -addr=localhost:5000 -service=missing >/dev/null 2>&1 || code=$?
if [ "$code" != 3 ]; then
  fail "the check of a service that is not there ended with $code, not 3"
fi
echo "reading its probes with $plugin"
docker pull --quiet "$plugin"
docker save --output "$folder/image.tar" "$name"
chmod 644 "$folder/image.tar" # the plugin reads it as another user
docker run --rm --volume "$folder:/app:ro" "$plugin" print --kind=exec /app/image.tar | grep -F "$path"
echo "the published images work"
