#!/usr/bin/env bash
# Prints the labels that say what an image is, for registries and scanners, KEY=VALUE, one per line (OCI image
# spec, Pre-Defined Annotation Keys). Without arguments they are those of the buildpack, with its name and description.
#
#   scripts/labels.sh [TITLE DESCRIPTION]
set -euo pipefail
cd "$(dirname "$0")/.."
case ${1:-} in -h | --help) exec scripts/help.sh "$0" ;; esac

label() { printf 'org.opencontainers.image.%s=%s\n' "$1" "$2"; }
value() { sed -n "s/^$1 = \"\(.*\)\"\$/\1/p" buildpack.toml | head -n 1; }
label title "${1:-$(value name)}"
label description "${2:-$(value description)}"
label version "$(value version)"
label licenses Apache-2.0
label url "$(value homepage)"
label source "$(value homepage)"
if [ "$(git rev-parse --show-toplevel 2>/dev/null)" = "$(pwd -P)" ] && commit=$(git rev-parse -q --verify HEAD); then
  label revision "$commit"
  # The commit's time, so that everyone who makes the image gives it the same.
  label created "$(TZ=UTC0 git log -1 --date=format-local:%Y-%m-%dT%H:%M:%SZ --format=%cd)"
fi
