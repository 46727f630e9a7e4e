#!/usr/bin/env bash
# Verifies a release before you make it public: dist/release has the files of its checksums.txt and no others; the
# images that scripts/published.sh names have the names of this project and the digests that the release's notes state;
# and the signatures that scripts/sign.sh made, of the images as they are in their registry, and of checksums.txt.
#
#   scripts/verify.sh [--key FILE] [BUILDPACK PROBE]
#
# Without --key the release workflow must have signed, for the tag of the version. With it, FILE is the public key.
# BUILDPACK and PROBE are the names of the images, REGISTRY/NAME, if you publish them elsewhere than this project does.
set -euo pipefail
cd "$(dirname "$0")/.."
case ${1:-} in -h | --help) exec scripts/help.sh "$0" ;; esac
trap 'exit 130' INT

version=$(sed -n 's/^version = "\(.*\)"$/\1/p' buildpack.toml)
workflow=https://github.com/grpc-cnb/health-probe/.github/workflows/release.yml@refs/tags/v$version
issuer=https://token.actions.githubusercontent.com
key=''
if [ "${1:-}" = --key ]; then
  key=${2:?name the public key}
  shift 2
fi
case $# in
0) set -- ghcr.io/grpc-cnb/health-probe ghcr.io/grpc-cnb/grpc-health-probe ;;
2) ;;
*)
  echo "usage: scripts/verify.sh [--key FILE] [BUILDPACK PROBE]" >&2
  exit 1
  ;;
esac

images=$(scripts/published.sh)
checksums=dist/release/checksums.txt
go run ./scripts/release verify dist/release "$1" "$2"
program=$(scripts/tool.sh cosign)
cosign() { "$program" "$@" >/dev/null; } # on standard error it says what it checked
if [ -n "$key" ]; then
  for image in $images; do
    cosign verify --key "$key" --insecure-ignore-tlog "$image"
  done
  cosign verify-blob --key "$key" --insecure-ignore-tlog --bundle "$checksums.sigstore.json" "$checksums"
  exit
fi
for image in $images; do
  cosign verify --certificate-identity "$workflow" --certificate-oidc-issuer "$issuer" "$image"
done
cosign verify-blob --certificate-identity "$workflow" --certificate-oidc-issuer "$issuer" \
  --bundle "$checksums.sigstore.json" "$checksums"
