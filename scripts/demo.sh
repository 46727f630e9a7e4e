#!/usr/bin/env bash
# Shows the product at work.
#
#   scripts/demo.sh [-docker=auto|always|never]
#   scripts/demo.sh FOLDER
#
# Without a folder: builds the buildpack, builds an image of the sample gRPC app with it, and probes the running image:
# SERVING, then NOT_SERVING, then stopped. Needs Go. Uses Docker if it answers (-docker says whether to), and then the
# pack on the PATH, if that is new enough; otherwise pack is compiled, which takes minutes, once.
#
# With the folder of an app: says what a build would find in it, which is its gRPC servers with their lines, health
# services and ports, and prints the exec probe for it. Needs nothing but Go. The build's settings apply, so
# BP_LOG_LEVEL=DEBUG lists all evidence. Exit codes: 0 the image would get a probe, 1 it would get none, as for an app
# without a server, 2 the folder cannot be read or a setting is wrong.
set -euo pipefail
from=$PWD
cd "$(dirname "$0")/.."

case ${1:-} in
-h | --help) exec scripts/help.sh "$0" ;;
-* | '')
  scripts/build.sh
  echo "compiling the demo"
  exec go -C integration run ./demo "$@"
  ;;
esac

if [ $# -ne 1 ]; then
  echo "scripts/demo.sh: name one folder; scripts/demo.sh --help says more" >&2
  exit 2
fi
folder=$1
case $folder in
/*) ;;
*) folder=$from/$folder ;;
esac
inspect=dist/tools/inspect
[ -x "$inspect" ] || echo "compiling what detection needs (once)"
CGO_ENABLED=0 go build -trimpath -buildvcs=false -o "$inspect" ./scripts/inspect || exit 2
exec "$inspect" buildpack.toml "$folder"
