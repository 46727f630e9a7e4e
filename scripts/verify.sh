#!/usr/bin/env bash
# Verifies a release before you make it public: dist/release has the files of its checksums.txt and no others; the
# images that scripts/published.sh names have the names of this project and the digests that the release's notes state;
# and what scripts/sign.sh signed: the images as they are in their registry, with a provenance that names this commit
# and an SBOM that is the one in dist/publish, and checksums.txt.
#
#   scripts/verify.sh [--key FILE] [BUILDPACK PROBE PLUGIN]
#
# Without --key the release workflow must have signed, for the tag of the version. With it, FILE is the public key.
# BUILDPACK, PROBE and PLUGIN are the names of the images, REGISTRY/NAME, if you publish them elsewhere than this
# project does.
. "$(dirname "$0")/lib.sh"

version=$(product version)
repository=https://github.com/grpc-cnb/health-probe
workflow=$repository/.github/workflows/release.yml@refs/tags/v$version
signer=(--certificate-identity "$workflow" --certificate-oidc-issuer https://token.actions.githubusercontent.com)
if [ "${1:-}" = --key ]; then
  signer=(--key "${2:?name the public key}" --insecure-ignore-tlog)
  shift 2
fi
case $# in
0) set -- ghcr.io/grpc-cnb/{health-probe,grpc-health-probe,kubectl-grpc_probes} ;;
3) ;;
*)
  usage "[--key FILE] [BUILDPACK PROBE PLUGIN]"
  ;;
esac

images=$(scripts/published.sh)
checksums=dist/release/checksums.txt
go run ./scripts/release verify dist/release "$@"
program=$(scripts/tool.sh cosign)
cosign() { "$program" "$@" >/dev/null; } # on standard error it says what it checked

# What the attestations have to say, in Rego, where what is missing is not equal to anything.
policies=$(mktemp -d)
trap 'rm -rf "$policies"' EXIT
cat >"$policies/provenance.rego" <<END
package signature
allow {
  definition := input.predicate.buildDefinition
  definition.externalParameters.workflow.repository == "$repository"
  definition.externalParameters.workflow.ref == "refs/tags/v$version"
  definition.resolvedDependencies[_].digest.gitCommit == "$(git rev-parse HEAD)"
}
END
for image in $images; do
  cosign verify "${signer[@]}" "$image"
  cosign verify-attestation "${signer[@]}" --type slsaprovenance1 --policy "$policies/provenance.rego" "$image"
  record=$(grep -lxF "$image" dist/publish/*.digest)
  printf 'package signature\nallow { input.predicate == %s }\n' "$(cat "${record%.digest}.cdx.json")" \
    >"$policies/sbom.rego"
  cosign verify-attestation "${signer[@]}" --type cyclonedx --policy "$policies/sbom.rego" "$image"
done
cosign verify-blob "${signer[@]}" --bundle "$checksums.sigstore.json" "$checksums"
