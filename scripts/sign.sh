#!/usr/bin/env bash
# Signs what scripts/publish.sh and scripts/release.sh made: the images that scripts/published.sh names, with
# all that their indexes hold, in their registry, and dist/release/checksums.txt, with all that it lists, in
# dist/release/checksums.txt.sigstore.json. It attests in the registry how the images were made, by SLSA, and what is in
# them, by the SBOM that scripts/publish.sh wrote: policies of clusters read both there. It lists all that it signs in
# dist/publish/subjects.txt, in the form of sha256sum: the release workflow attests their provenance at GitHub too.
#
#   scripts/sign.sh [--key FILE]
#
# The release workflow has no key: its identity signs, and Sigstore's public log has the signatures. --key signs with a
# key that cosign made (COSIGN_PASSWORD is its password), and sends nothing to that log. The provenance names the run of
# the workflow, by the variables GITHUB_* of GitHub's runner.
. "$(dirname "$0")/lib.sh"

options=(--yes)
if [ "${1:-}" = --key ] && [ $# -lt 3 ]; then
  # Sigstore's services are what the signing configuration names.
  options+=(--key "${2:?name the key}" --use-signing-config=false --tlog-upload=false)
elif [ $# -gt 0 ]; then
  usage "[--key FILE]"
fi
images=$(scripts/published.sh)
checksums=dist/release/checksums.txt
subjects=$(
  cat "$checksums"
  for image in $images; do
    name=${image%%@*}
    echo "${image##*@sha256:}  ${name%:*}" # the tag may move: provenance is that of the digest
  done
)

# SLSA's predicate for a workflow of GitHub: https://actions.github.io/buildtypes/workflow/v1
repository=$GITHUB_SERVER_URL/$GITHUB_REPOSITORY
cat >dist/publish/provenance.json <<END
{
  "buildDefinition": {
    "buildType": "https://actions.github.io/buildtypes/workflow/v1",
    "externalParameters": {
      "workflow": {"repository": "$repository", "ref": "$GITHUB_REF", "path": ".github/workflows/release.yml"}
    },
    "internalParameters": {
      "github": {
        "event_name": "$GITHUB_EVENT_NAME",
        "repository_id": "$GITHUB_REPOSITORY_ID",
        "repository_owner_id": "$GITHUB_REPOSITORY_OWNER_ID"
      }
    },
    "resolvedDependencies": [{"uri": "git+$repository@$GITHUB_REF", "digest": {"gitCommit": "$GITHUB_SHA"}}]
  },
  "runDetails": {
    "builder": {"id": "$GITHUB_SERVER_URL/$GITHUB_WORKFLOW_REF"},
    "metadata": {"invocationId": "$repository/actions/runs/$GITHUB_RUN_ID/attempts/$GITHUB_RUN_ATTEMPT"}
  }
}
END

cosign=$(scripts/tool.sh cosign)
for image in $images; do
  echo "signing $image"
  "$cosign" sign "${options[@]}" --recursive "$image"
  echo "attesting provenance and SBOM of $image"
  "$cosign" attest "${options[@]}" --type slsaprovenance1 --predicate dist/publish/provenance.json "$image"
  record=$(grep -lxF "$image" dist/publish/*.digest)
  "$cosign" attest "${options[@]}" --type cyclonedx --predicate "${record%.digest}.cdx.json" "$image"
done
echo "signing $checksums"
"$cosign" sign-blob "${options[@]}" --bundle "$checksums.sigstore.json" "$checksums"
printf '%s\n' "$subjects" | tee dist/publish/subjects.txt
