#!/usr/bin/env bash
# Makes the buildpack's folder for `pack build -b dist/buildpack`.
#
#   scripts/build.sh [ARCH [FOLDER]]
#
# ARCH is the architecture of the images and of the machine that builds them, amd64 or arm64 (by default this
# machine's). FOLDER is where to make it (by default dist/buildpack). pack copies the folder into a builder in each
# build with -b, so what few builds need is compressed in it: the full probe, and the source of all programs.
. "$(dirname "$0")/lib.sh"

arch=${1:-}
folder=${2:-dist/buildpack}
folder=${folder%/}
case $arch in
'' | amd64 | arm64) ;;
*)
  fail "architecture '$arch' is not a target of the buildpack: use amd64 or arm64"
  ;;
esac

if [ -e "$folder" ] && { [ ! -f "$folder/bin/main" ] || [ ! -d "$folder/probes" ] || [ -e "$folder/.git" ]; }; then
  fail "'$folder' exists and this script did not make it: name another folder"
fi

needs_go
arch=${arch:-$(go env GOHOSTARCH)}

# The new folder is made beside the old one and then takes its place, so a build that fails leaves the old one.
mkdir -p "$(dirname "$folder")"
new=$(mktemp -d "$folder.XXXXXX")
trap 'rm -rf "$new"' EXIT
chmod 755 "$new"
mkdir "$new/bin"
cp buildpack.toml LICENSE "$new/"
scripts/compile.sh "$arch" "$new/bin/main" ./cmd/buildpack
ln -s main "$new/bin/detect"
ln -s main "$new/bin/build"
programs='./cmd/grpc_health_probe ./cmd/grpc_health_probe_full ./cmd/grpc_health_bridge'
probes=$new/probes/linux-$arch
mkdir -p "$probes" "$new/full"
# shellcheck disable=SC2086 # a list
scripts/compile.sh "$arch" "$probes" $programs
mv "$probes/grpc_health_probe_full" "$new/full/"
go run ./scripts/release archive "$new/full" "$probes/grpc_health_probe_full.tgz"
# The probes' source, for BP_GRPC_HEALTH_PROBE_SOURCE=compile: only the packages that the probes import.
echo "gathering the probes' source"
source=$new/source
mkdir -p "$source"
cp go.mod go.sum "$source/"
go mod vendor -o "$source/vendor.all"
mkdir -p "$source/vendor"
cp "$source/vendor.all/modules.txt" "$source/vendor/"
for target in amd64 arm64; do
  # shellcheck disable=SC2086 # a list
  CGO_ENABLED=0 GOOS=linux GOARCH=$target GOFLAGS=-mod=readonly go list -deps \
    -f '{{if .Module}}{{if .Module.Main}}main{{else}}vendor{{end}} {{.ImportPath}}{{end}}' $programs
done | sort -u | while read -r kind package; do
  if [ "$kind" = main ]; then
    from=.${package#github.com/grpc-cnb/health-probe} to=$source/$from
  else
    from=$source/vendor.all/$package to=$source/vendor/$package
  fi
  files=()
  for file in "$from"/*; do
    if [ -f "$file" ] && [[ $file != *_test.go ]]; then files+=("$file"); fi
  done
  mkdir -p "$to"
  cp "${files[@]}" "$to/"
done
# The licence of each module, which is in a folder above its packages.
licences=(-name 'LICENSE*' -o -name 'COPYING*' -o -name 'NOTICE*' -o -name 'PATENTS*')
(cd "$source/vendor.all" && find . -type f '(' "${licences[@]}" ')') | while read -r file; do
  if [ -d "$source/vendor/${file%/*}" ]; then
    cp "$source/vendor.all/$file" "$source/vendor/$file"
  fi
done
rm -rf "$source/vendor.all"
go run ./scripts/release archive "$source" "$new/source.tgz"
rm -rf "$new/full" "$source"

rm -rf "$folder"
mv "$new" "$folder"
echo "made $folder for linux/$arch"
