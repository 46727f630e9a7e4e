#!/usr/bin/env bash
# Compiles a program for linux as it is shipped, whatever the settings of whoever does it are.
#
#   scripts/compile.sh ARCH OUTPUT PACKAGE
set -euo pipefail
cd "$(dirname "$0")/.."
case ${1:-} in -h | --help) exec scripts/help.sh "$0" ;; esac

# The programs' version and commit come from git, where this folder is a checkout that git may read.
stamp=false
if [ "$(git rev-parse --show-toplevel 2>/dev/null)" = "$(pwd -P)" ] && git rev-parse -q --verify HEAD >/dev/null; then
  stamp=true
fi
echo "compiling $3 for linux/$1"
CGO_ENABLED=0 GOOS=linux GOARCH=$1 GOAMD64=v1 GOARM64=v8.0 GOPPC64=power8 GORISCV64=rva20u64 \
  GOFLAGS=-mod=readonly GOFIPS140=off GOEXPERIMENT='' \
  go build -trimpath -buildvcs=$stamp -ldflags='-s -w' -o "$2" "$3"
