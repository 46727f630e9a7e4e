#!/usr/bin/env bash
# Shows the product at work.
#
#   scripts/demo.sh [-docker=auto|always|never]
#   scripts/demo.sh FOLDER
#
# Without a folder: builds the buildpack, builds an image of the sample gRPC app with it, and probes the running image:
# SERVING, then NOT_SERVING, then stopped. Needs Go. Uses Docker if it answers (-docker says whether to), and the pack
# on the PATH if that is new enough; otherwise the lifecycle's creator builds in Docker, as pack would run it.
# Without Docker it needs root, or a kernel that lets users make user namespaces. Compiling takes a minute or two, once.
#
# With the folder of an app: says what a build would find in it (its gRPC servers with their lines, health services and
# ports), and prints the exec probe for it. Needs nothing but Go. The build's settings apply, so
# BP_LOG_LEVEL=DEBUG lists all evidence. Exit codes: 0 the image would get a probe, 1 it would get none, as for an app
# without a server, 2 the folder cannot be read or a setting is wrong.
#
# Both end with exit code 2 if the arguments are wrong, or if the script needs something that is missing.
from=$PWD
. "$(dirname "$0")/lib.sh"

fail() { # with another exit code than that of scripts/lib.sh
  echo "scripts/demo.sh: $*" >&2
  exit 2
}
[ $# -le 1 ] || fail "name one folder, or one of -docker=auto, -docker=always, -docker=never"

docker=auto folder=''
case ${1:-} in
'') ;;
-docker=* | --docker=*) docker=${1#*=} ;;
-*) fail "'$1' is not an option: use -docker=auto, -docker=always or -docker=never" ;;
/*) folder=$1 ;;
*) folder=$from/$1 ;;
esac
[ -z "$folder" ] || [ -d "$folder" ] || fail "'$1' is not a folder: name the folder that you would give to pack build"
case $docker in
always)
  docker version >/dev/null 2>&1 || fail "-docker=always needs Docker, and none answers ('docker version' says why)"
  ;;
auto)
  docker version >/dev/null 2>&1 || docker=never
  ;;
never) ;;
*) fail "-docker=$docker is not allowed: use auto, always or never" ;;
esac
needs_go

# Without inlining and debug information, which take a fifth of the time; Go's own packages as everybody has them. Only
# the probe is compiled as a release has it.
export CGO_ENABLED=0
compile() { # MODULE OUTPUT PACKAGE
  go -C "$1" build -trimpath -buildvcs=false -gcflags=all='-l -dwarf=false' -gcflags=std= -ldflags='-s -w' \
    -o "$PWD/$2" "$3"
}
if [ -n "$folder" ]; then
  inspect=dist/tools/grpc_health_inspect
  [ -x "$inspect" ] || echo "compiling what detection needs (once)"
  compile . "$inspect" ./cmd/grpc_health_inspect || exit 2
  exec "$inspect" "$folder"
fi
if [ "$docker" = never ] && [ "$(uname)" != Linux ]; then
  fail "without Docker this needs Linux"
fi
if [ "$docker" = never ] && [ "$(id -u)" != 0 ] && ! unshare --user --map-root-user true 2>/dev/null; then
  fail "needs Docker, or root, or a kernel that lets users make user namespaces"
fi

# The buildpack with nothing but what this image gets: scripts/build.sh adds the bridge, the full probe and the source.
arch=$(go env GOHOSTARCH) buildpack=dist/demo/buildpack
rm -rf "$buildpack"
mkdir -p "$buildpack/bin"
cp buildpack.toml "$buildpack/"
echo "compiling ./cmd/buildpack"
GOOS=linux GOARCH=$arch compile . "$buildpack/bin/main" ./cmd/buildpack
ln -s main "$buildpack/bin/detect"
ln -s main "$buildpack/bin/build"
scripts/compile.sh "$arch" "$buildpack/probes/linux-$arch/grpc_health_probe" ./cmd/grpc_health_probe
echo "compiling the demo"
compile integration dist/tools/demo ./demo # the lifecycle gets the same options from integration/harness
cd integration
exec ../dist/tools/demo -docker="$docker" -buildpack="../$buildpack"
