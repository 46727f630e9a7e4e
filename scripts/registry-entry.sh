#!/usr/bin/env bash
# Prints the entry of the version that scripts/publish.sh published last, as the index of the buildpack registry has it
# (RFC 0022 of the CNB project).
#
#   scripts/registry-entry.sh [INDEX]
#   scripts/registry-entry.sh --request [--print]
#
# INDEX is a clone of an index, such as https://github.com/buildpacks/registry-index: the script adds the entry there to
# the buildpack's file. `pack config registries add` takes the URL of any index, so a company can have its own.
#
# --request asks the public registry for the entry instead: it opens an issue, from which the registry makes the entry,
# and fails if the registry refuses it or does not answer within 20 minutes. It registers no pre-release. It needs a
# GH_TOKEN of a user who may register buildpacks of the namespace grpc-cnb. --print prints the issue, its title in the
# first line, instead of opening it.
. "$(dirname "$0")/lib.sh"

index=''
case "$#$*" in
0 | 1--request | '2--request --print') ;;
1[!-]*) index=$(cd "$1" && pwd) ;;
*)
  usage "[INDEX | --request [--print]]"
  ;;
esac
id=$(product id)
image=$(scripts/published.sh buildpack)
tagged=${image%%@*} digest=${image##*@}
version=${tagged##*:} address=${tagged%:*}@$digest

namespace=${id%%/*} name=${id#*/}
entry=$(printf '{"ns":"%s","name":"%s","version":"%s","yanked":false,"addr":"%s"}' \
  "$namespace" "$name" "$version" "$address")
# An index has folders by the first four letters of a name.
path=${name:0:2}/${name:2:2}/${namespace}_$name

if [ "${1:-}" != --request ]; then
  file=$index/$path
  if [ -z "$index" ]; then
    printf '%s\n' "$entry"
  elif grep -qxF "$entry" "$file" 2>/dev/null; then
    echo "$file has $id@$version already"
  elif grep -qE "\"version\": *\"${version//./\\.}\"" "$file" 2>/dev/null; then
    fail "$file has $id@$version with another image: raise the version in buildpack.toml"
  else
    mkdir -p "$(dirname "$file")"
    printf '%s\n' "$entry" >>"$file"
    echo "added $id@$version to $file"
  fi
  exit
fi

case $version in
*-*)
  echo "$version is a pre-release: not asking the registry to take it up"
  exit
  ;;
esac
title="ADD $id@$version"
body=$(printf 'id = "%s"\nversion = "%s"\naddr = "%s"' "$id" "$version" "$address")
if [ "${2:-}" = --print ]; then
  printf '%s\n%s\n' "$title" "$body"
  exit
fi
go run ./scripts/release register "$path" "$entry" "$title" "$body"
