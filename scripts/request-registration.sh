#!/usr/bin/env bash
# Asks the registry of buildpacks to take up the version that was published: opens the issue at its repository from
# which it makes its entry. scripts/published.sh names the image. A pre-release is not registered. Needs gh,
# GitHub's command line, and a GH_TOKEN of a user who may register buildpacks of the namespace grpc-cnb.
#
#   scripts/request-registration.sh [--print]
#
# --print prints the issue, its title in the first line, instead of opening it.
set -euo pipefail
cd "$(dirname "$0")/.."
case ${1:-} in -h | --help) exec scripts/help.sh "$0" ;; esac

images=$(scripts/published.sh)
image=${images%%$'\n'*}
name=${image%%@*}
version=${name##*:}
id=$(sed -n 's/^id = "\(.*\)"$/\1/p' buildpack.toml | head -n 1)
title="ADD $id@$version"
body=$(printf 'id = "%s"\nversion = "%s"\naddr = "%s@%s"' "$id" "$version" "${name%:*}" "${image##*@}")
case $version in
*-*)
  echo "$version is a pre-release: not asking the registry to take it up"
  exit
  ;;
esac
if [ "${1:-}" = --print ]; then
  printf '%s\n%s\n' "$title" "$body"
  exit
fi
gh issue create --repo buildpacks/registry-index --title "$title" --body "$body"
