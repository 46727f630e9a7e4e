#!/usr/bin/env bash
# Makes the buildpack as files for `pack build -b FILE`, dist/health-probe-linux-amd64.cnb and one for arm64, and beside each
# a .tgz of the buildpack's folder, which is the only file that Spring Boot takes. $PACK names the pack program; without
# it, the one of integration/go.mod is compiled.
set -euo pipefail
cd "$(dirname "$0")/.."
case ${1:-} in -h | --help) exec scripts/help.sh "$0" ;; esac

if [ -z "${PACK:-}" ]; then
  PACK=$PWD/dist/tools/pack
  echo "compiling pack"
  CGO_ENABLED=0 go -C integration build -trimpath -o "$PACK" github.com/buildpacks/pack
fi

rm -rf dist/package
targets=()
for arch in amd64 arm64; do
  scripts/build.sh "$arch" "dist/package/linux/$arch"
  targets+=(--target "linux/$arch")
done
cp buildpack.toml dist/package/

# The archives come first: pack removes the folders' own buildpack.toml. Whoever makes an archive makes the same one: names
# in order, no owner, pack's date. They have no ./ before them: Spring Boot looks for buildpack.toml by just that name.
for arch in amd64 arm64; do
  folder=dist/package/linux/$arch
  (cd "$folder" && printf '%s\n' *) | LC_ALL=C sort |
    tar --create --directory "$folder" --files-from - --sort=name --format=ustar --numeric-owner --owner=0 --group=0 \
      --mode=u=rwX,go=rX --mtime=1980-01-01T00:00:01Z | gzip --no-name >"dist/health-probe-linux-$arch.tgz"
done

# What the package is, for registries and scanners (OCI image spec, Pre-Defined Annotation Keys).
label() { labels+=(--label "org.opencontainers.image.$1=$2"); }
value() { sed -n "s/^$1 = \"\(.*\)\"\$/\1/p" buildpack.toml | head -n 1; }
labels=()
label title "$(value name)"
label description "$(value description)"
label version "$(value version)"
label licenses Apache-2.0
label url "$(value homepage)"
label source "$(value homepage)"
if [ "$(git rev-parse --show-toplevel 2>/dev/null)" = "$(pwd -P)" ] && commit=$(git rev-parse -q --verify HEAD); then
  label revision "$commit"
fi
"$PACK" buildpack package dist/health-probe.cnb --format file --path dist/package "${targets[@]}" "${labels[@]}"
ls -l dist/health-probe-linux-*
