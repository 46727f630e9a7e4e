# shellcheck shell=bash
# What the scripts have in common. Each begins with its description, a comment, and then with this file, which goes to
# the repository's folder, prints the description for -h, and has the script end at the first error and with Ctrl-C.
set -euo pipefail
script=scripts/${0##*/}
cd "$(dirname "$0")/.."
describe() { sed -n '2,${/^#/!q;s/^# \{0,1\}//p;}' "$script"; }
case ${1:-} in -h | --help) describe && exit ;; esac
trap 'exit 130' INT

fail() {
  printf '%s: %s\n' "$script" "$*" >&2
  exit 1
}
usage() { # ARGUMENTS
  echo "usage: $script $*" >&2
  exit 1
}

# needs_go ends the script if Go is missing, or older than go.mod asks for.
needs_go() {
  local needed version minor here='none is on the PATH'
  needed=$(sed -n 's/^go 1\.\([0-9]*\).*/\1/p' go.mod)
  # A Go that may fetch a newer one does so here, and then names that one.
  version=$(go env GOVERSION 2>/dev/null || true)
  minor=${version##*go1.} minor=${minor%%[!0-9]*}
  if [ -z "$minor" ] || [ "$minor" -lt "$needed" ]; then
    version=$(GOTOOLCHAIN=local go env GOVERSION 2>/dev/null || echo another program)
    ! command -v go >/dev/null || here="here is $version"
    fail "needs Go 1.$needed, and $here: https://go.dev/dl"
  fi
}

# product prints a value of the buildpack, which stands in buildpack.toml: its id, name, version, description, homepage.
product() { # KEY
  sed -n "1,/^\[\[/s/^$1 = \"\(.*\)\"\$/\1/p" buildpack.toml
}

# warn_of_version says if programs that are compiled here would not have the version of buildpack.toml.
warn_of_version() {
  if ! git tag --points-at HEAD | grep -qxF "v$(product version)"; then
    echo "warning: this commit has no tag v$(product version): the programs will name the commit as their version" >&2
  fi
  if [ -n "$(git status --porcelain)" ]; then
    echo "warning: this folder has uncommitted changes: the programs will say so" >&2
  fi
}

# platforms prints those of the probe's releases, which are those of grpc-health-probe: OS/ARCH, one per line.
platforms() {
  printf 'linux/%s\n' 386 amd64 arm arm64 ppc64le s390x riscv64
  printf '%s\n' darwin/amd64 darwin/arm64 windows/amd64 windows/arm64
}

# labels prints those that say what an image is, for registries and scanners, KEY=VALUE, one per line (OCI image spec,
# Pre-Defined Annotation Keys).
labels() { # TITLE DESCRIPTION
  label() { printf 'org.opencontainers.image.%s=%s\n' "$1" "$2"; }
  label title "$1"
  label description "$2"
  label version "$(product version)"
  label licenses Apache-2.0
  label url "$(product homepage)"
  label source "$(product homepage)"
  if is_checkout; then
    label revision "$(git rev-parse HEAD)"
    # The commit's time, so that everyone who makes the image gives it the same.
    label created "$(TZ=UTC0 git log -1 --date=format-local:%Y-%m-%dT%H:%M:%SZ --format=%cd)"
  fi
}

# is_checkout tells whether this folder is a checkout that git can read.
is_checkout() {
  [ "$(git rev-parse --show-toplevel 2>/dev/null)" = "$(pwd -P)" ] && git rev-parse -q --verify HEAD >/dev/null
}
