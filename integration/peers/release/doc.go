// Package release tests what scripts/release.sh makes: each probe and each bridge is executed, if this machine or
// QEMU can, against real gRPC servers. The tests read dist/release.
package release
