#!/usr/bin/env bash
# Looks the newest release up in Go's vulnerability database. If its programs are vulnerable and those of main are not,
# it proposes a patch release, the same release with the Go and the modules of main: it pushes a branch, rebuild-vX.Y.Z,
# to origin, and dist/proposal.md says what to do with it. It never changes a release. If a proposal is older than
# SECURITY.md promises, it fails. It needs the network, the tags, and the branch main of
# origin.
#
#   scripts/propose-rebuild.sh [--issue]
#
# --issue opens an issue with the proposal, and pushes with the rights of gh, GitHub's command line, and its GH_TOKEN.
. "$(dirname "$0")/lib.sh"

issue=false
case ${1:-} in
'') ;;
--issue) issue=true ;;
*)
  usage "[--issue]"
  ;;
esac

# Pre-releases have a hyphen. What is released is the highest version, not the latest tag.
tag=$(git tag --list 'v[0-9]*' --sort=version:refname | grep -v -e - | tail -n 1 || true)
if [ -z "$tag" ]; then
  echo "nothing is released yet: there is nothing to look up"
  exit
fi
next=${tag%.*}.$((${tag##*.} + 1))
branch=rebuild-$next
# SECURITY.md promises the release in this time after the proposal: the workflow fails each day from then on.
days=3
if [ -n "$(git ls-remote --heads origin "$branch")" ]; then
  git fetch --quiet origin "refs/heads/$branch"
  age=$((($(date +%s) - $(git log -1 --format=%ct FETCH_HEAD)) / 86400))
  if [ "$age" -ge "$days" ]; then
    fail "$next was proposed $age days ago, SECURITY.md promises $days: release it now"
  fi
  echo "$branch is already there: $next is proposed"
  exit
fi

folder=$(mktemp -d)
trap 'git worktree remove --force "$folder/tree" 2>/dev/null || true; rm -rf "$folder"' EXIT
git worktree add --quiet --detach "$folder/tree" "$tag"

# affected looks up the programs that the folder's Go makes of it. The same commit and Go give the released programs. A
# failure for another reason, such as no network, ends the script: it must not pass for an answer.
affected() {
  local code=0
  (cd "$folder/tree" && GOTOOLCHAIN=go$(cat .go-version) scripts/vulncheck.sh) >"$folder/log" 2>&1 || code=$?
  cat "$folder/log"
  [ $code != 0 ] || return 1
  grep -qE '^Vulnerability #|can execute code with' "$folder/log" || exit $code
}
echo "== $tag, as it was released"
if ! affected; then
  echo "$tag needs no rebuild"
  exit
fi
cp "$folder/log" "$folder/found"

echo "== $tag, with the Go and the modules of main"
git -C "$folder/tree" ls-files -- .go-version '*go.mod' '*go.sum' | while read -r file; do
  git cat-file -e "origin/main:$file" 2>/dev/null || continue # main has no such module any more
  git -C "$folder/tree" checkout --quiet origin/main -- "$file"
done
if affected; then
  fail "main is vulnerable too: merge the update of Go or of the module first"
fi

version=${next#v}
reason="Built again with newer Go or modules, since programs of ${tag#v} can execute code that is vulnerable."
awk -v section="## $version (unreleased)" -v reason="- $reason" '
  /^## / && !done { print section "\n\n" reason "\n"; done = 1 } { print }' \
  "$folder/tree/CHANGELOG.md" >"$folder/changelog"
cp "$folder/changelog" "$folder/tree/CHANGELOG.md"
(cd "$folder/tree" && scripts/prepare-release.sh "$version")
git -C "$folder/tree" commit --quiet --all --message "$next: built again with newer Go or modules

$reason"
commit=$(git -C "$folder/tree" rev-parse HEAD)

mkdir -p dist
{
  printf '%s\n\nThe branch %s is %s with the Go and the modules of main. ' "$reason" "$branch" "$tag"
  printf 'Look at it, and release it with its tags, which tests it first:\n\n'
  plugin=cmd/kubectl-grpc_probes/$next # the tag of its module
  printf '    git fetch origin %s\n    git tag %s %s\n    git tag %s %s\n    git push origin %s %s\n\n' \
    "$branch" "$next" "$commit" "$plugin" "$commit" "$next" "$plugin"
  printf 'Then merge its section of CHANGELOG.md into main.\n\n'
  printf 'The findings:\n\n'
  # An issue may have 65,536 characters.
  head -c 20000 "$folder/found" | sed 's/^/    /'
} >dist/proposal.md
if $issue; then gh auth setup-git; fi
git push origin "$commit:refs/heads/$branch"
cat dist/proposal.md
if $issue; then gh issue create --title "$tag is vulnerable: release $next" --body-file dist/proposal.md; fi
