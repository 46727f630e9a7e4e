#!/usr/bin/env bash
# Prints the path of a program that other scripts run, after compiling it: pack (half a minute the first time), cosign
# (minutes), or publish, the program of scripts/publish.sh. $PACK and $COSIGN name one to take instead.
#
#   scripts/tool.sh pack|cosign|publish
. "$(dirname "$0")/lib.sh"

given='' settings=(-trimpath '-gcflags=all=-l -dwarf=false' -gcflags=std=) # as integration/harness, which says why
case ${1:-} in
pack) given=${PACK:-} module=integration package=github.com/buildpacks/pack ;;
cosign) given=${COSIGN:-} module=integration/cosign package=github.com/sigstore/cosign/v3/cmd/cosign ;;
publish) module=scripts/publish package=. settings=(-trimpath) ;;
*)
  usage "pack|cosign|publish"
  ;;
esac
if [ -n "$given" ]; then
  echo "$given"
  exit
fi
# It is compiled elsewhere and then takes its place, because another script may be running the one that is there.
mkdir -p dist/tools
new=$(mktemp -d "dist/tools/$1.XXXXXX")
trap 'rm -rf "$new"' EXIT
echo "compiling $1" >&2
CGO_ENABLED=0 go -C "$module" build "${settings[@]}" -o "$PWD/$new/$1" "$package"
mv -f "$new/$1" "dist/tools/$1"
echo "$PWD/dist/tools/$1"
