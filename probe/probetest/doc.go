// Package probetest runs probe programs against real servers: every kind of gRPC server that matters to a probe, and
// servers without gRPC. Begin reading at [Scripts], which runs scripts of rogpeppe/go-internal/testscript against a
// program. [Start] starts the servers.
package probetest
