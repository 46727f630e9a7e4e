// Package probetest runs probe programs against true servers: gRPC servers of
// every make that matters to a probe, and servers that are none. Begin reading
// at [Scripts], which runs scripts of rogpeppe/go-internal/testscript for a
// program; the servers are of [Start].
package probetest
