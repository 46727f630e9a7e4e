#!/usr/bin/env bash
# Verifies the signatures that scripts/sign.sh made: of the images that scripts/published.sh names, as they
# are in their registry, and of dist/release/checksums.txt.
#
#   scripts/verify.sh [--key FILE]
#
# Without --key the release workflow has to be who signed, for the tag of the version. With it, FILE is the public key.
set -euo pipefail
cd "$(dirname "$0")/.."
case ${1:-} in -h | --help) exec scripts/help.sh "$0" ;; esac
trap 'exit 130' INT

images=$(scripts/published.sh)
checksums=dist/release/checksums.txt
program=$(scripts/tool.sh cosign)
cosign() { "$program" "$@" >/dev/null; } # on standard error it says what it checked
if [ "${1:-}" = --key ]; then
  for image in $images; do
    cosign verify --key "${2:?name the public key}" --insecure-ignore-tlog "$image"
  done
  cosign verify-blob --key "$2" --insecure-ignore-tlog --bundle "$checksums.sigstore.json" "$checksums"
  exit
elif [ $# -gt 0 ]; then
  echo "usage: scripts/verify.sh [--key FILE]" >&2
  exit 1
fi

version=$(sed -n 's/^version = "\(.*\)"$/\1/p' buildpack.toml)
workflow=https://github.com/grpc-cnb/health-probe/.github/workflows/release.yml@refs/tags/v$version
issuer=https://token.actions.githubusercontent.com
for image in $images; do
  cosign verify --certificate-identity "$workflow" --certificate-oidc-issuer "$issuer" "$image"
done
cosign verify-blob --certificate-identity "$workflow" --certificate-oidc-issuer "$issuer" \
  --bundle "$checksums.sigstore.json" "$checksums"
