#!/usr/bin/env bash
# Looks the buildpack and the probes for all platforms up in Go's vulnerability database, which needs the network.
# Maintainers run it before a release and after each release of Go. Like scanners, it reads in the programs what they
# link, and beyond that which functions: it fails if one of these is vulnerable. For vulnerable modules that they link
# without those functions, it writes dist/vulncheck/openvex.json, a document for scanners (OpenVEX), which
# scripts/release.sh puts beside the programs. GOVULNDB is the address of another database, such as file:///path.
. "$(dirname "$0")/lib.sh"
needs_go

# The programs are those that are shipped, and keep their symbol tables, without which their functions are not known.
out=dist/vulncheck
rm -rf "$out"
mkdir -p "$out"
programs=()
look() { # PLATFORM PROGRAM
  programs+=("$out/$2-${1%/*}-${1#*/}")
  SYMBOLS=true scripts/compile.sh "$1" "$out/$2-${1%/*}-${1#*/}" "./cmd/$2"
}
for platform in $(platforms); do
  look "$platform" grpc_health_probe
  case $platform in linux/*) look "$platform" grpc_health_probe_full && look "$platform" grpc_health_bridge ;; esac
done
for platform in linux/amd64 linux/arm64; do look "$platform" buildpack && look "$platform" grpc_health_inspect; done
GOBIN=$PWD/dist/tools GOFLAGS='' go install golang.org/x/vuln/cmd/govulncheck@v1.8.0
go run ./scripts/vulncheck -govulncheck dist/tools/govulncheck -db "${GOVULNDB:-https://vuln.go.dev}" \
  -o "$out/openvex.json" "${programs[@]}"
# The plugin is another product for scanners, since it has a module of its own.
programs=()
for platform in linux/amd64 windows/amd64; do look "$platform" kubectl-grpc_probes; done
go run ./scripts/vulncheck -govulncheck dist/tools/govulncheck -db "${GOVULNDB:-https://vuln.go.dev}" \
  -o "$out/plugin.openvex.json" "${programs[@]}"
