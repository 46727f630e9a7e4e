#!/usr/bin/env bash
# Prints the entry of the version that scripts/publish.sh published last, as the index of the buildpack registry has it.
#
#   scripts/registry-entry.sh [INDEX]
#
# INDEX is a clone of an index, such as https://github.com/buildpacks/registry-index: the entry is added there to the
# buildpack's file. `pack config registries add` takes the URL of any index, so a company can have its own.
set -euo pipefail
cd "$(dirname "$0")/.."
case ${1:-} in -h | --help) exec scripts/help.sh "$0" ;; esac
trap 'exit 130' INT

index=${1:-}
if [ -n "$index" ]; then
  index=$(cd "$index" && pwd)
fi
if ! image=$(cat dist/publish/health-probe.digest); then
  echo "scripts/registry-entry.sh: nothing is published from here: run scripts/publish.sh REGISTRY/NAME" >&2
  exit 1
fi
id=$(sed -n 's/^id = "\(.*\)"$/\1/p' buildpack.toml | head -n 1)
publish=$(scripts/tool.sh publish)
"$publish" -id "$id" entry "$image" ${index:+"$index"}
