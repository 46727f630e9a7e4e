// Package release tests the output of scripts/release.sh: each probe and each bridge is executed, if this machine or
// QEMU can, against real gRPC servers. The tests read dist/release.
package release
