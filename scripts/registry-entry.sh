#!/usr/bin/env bash
# Prints the entry of the version that scripts/publish.sh published last, as the index of the buildpack registry has it.
#
#   scripts/registry-entry.sh [INDEX]
#   scripts/registry-entry.sh --request [--print]
#
# INDEX is a clone of an index, such as https://github.com/buildpacks/registry-index: the script adds the entry there to
# the buildpack's file. `pack config registries add` takes the URL of any index, so a company can have its own.
#
# --request asks the public registry for the entry instead: it opens an issue, from which the registry makes the entry.
# It registers no pre-release. It needs gh, GitHub's command line, and a GH_TOKEN of a user who may register
# buildpacks of the namespace grpc-cnb. --print prints the issue, its title in the first line, instead of opening it.
set -euo pipefail
cd "$(dirname "$0")/.."
case ${1:-} in -h | --help) exec scripts/help.sh "$0" ;; esac
trap 'exit 130' INT

index=''
case "$#$*" in
0 | 1--request | '2--request --print') ;;
1[!-]*) index=$(cd "$1" && pwd) ;;
*)
  echo "usage: scripts/registry-entry.sh [INDEX | --request [--print]]" >&2
  exit 1
  ;;
esac
id=$(sed -n 's/^id = "\(.*\)"$/\1/p' buildpack.toml | head -n 1)
if [ "${1:-}" != --request ]; then
  if ! image=$(cat dist/publish/health-probe.digest); then
    echo "scripts/registry-entry.sh: nothing is published from here: run scripts/publish.sh REGISTRY/NAME" >&2
    exit 1
  fi
  publish=$(scripts/tool.sh publish)
  exec "$publish" -id "$id" entry "$image" ${index:+"$index"}
fi

images=$(scripts/published.sh)
image=${images%%$'\n'*}
name=${image%%@*}
version=${name##*:}
title="ADD $id@$version"
body=$(printf 'id = "%s"\nversion = "%s"\naddr = "%s@%s"' "$id" "$version" "${name%:*}" "${image##*@}")
case $version in
*-*)
  echo "$version is a pre-release: not asking the registry to take it up"
  exit
  ;;
esac
if [ "${2:-}" = --print ]; then
  printf '%s\n%s\n' "$title" "$body"
  exit
fi
gh issue create --repo buildpacks/registry-index --title "$title" --body "$body"
