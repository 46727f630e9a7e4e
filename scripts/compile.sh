#!/usr/bin/env bash
# Compiles programs as a release has them, whatever your Go settings. ARCH alone is for linux. SYMBOLS=true keeps the
# symbol table, which no release has. Several programs go into the folder OUTPUT, which has to exist. A PACKAGE that is
# a module of its own goes alone.
#
#   scripts/compile.sh [OS/]ARCH OUTPUT PACKAGE...
. "$(dirname "$0")/lib.sh"

# The programs' version and commit come from git, if this folder is a checkout that git can read.
stamp=false
if is_checkout; then stamp=true; fi
case $1 in
*/*) os=${1%/*} arch=${1#*/} ;;
*) os=linux arch=$1 ;;
esac
output=$2 module=.
case $output in /*) ;; *) output=$PWD/$output ;; esac
shift 2
strip='-s -w'
if [ "${SYMBOLS:-}" = true ]; then strip=''; fi
echo "compiling $* for $os/$arch"
if [ -f "$1/go.mod" ]; then
  module=$1
  set -- .
fi
# What the oldest processors have: of ARM, the first Raspberry Pi's, as grpc-health-probe does.
CGO_ENABLED=0 GOOS=$os GOARCH=$arch GO386=sse2 GOAMD64=v1 GOARM=6 GOARM64=v8.0 GOPPC64=power8 GORISCV64=rva20u64 \
  GOFLAGS=-mod=readonly GOFIPS140=off GOEXPERIMENT='' \
  go -C "$module" build -trimpath -buildvcs=$stamp -ldflags="$strip" -o "$output" "$@"
