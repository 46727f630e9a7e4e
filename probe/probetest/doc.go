// Package probetest runs probe programs against real servers: gRPC servers of every kind that matters to a probe, and
// servers that are not gRPC servers. Begin reading at [Scripts], which runs scripts of rogpeppe/go-internal/testscript
// against a program. [Start] starts the servers.
package probetest
