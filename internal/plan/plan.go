// Package plan carries the gRPC servers of an app from the detect phase to the build phase, as metadata of the build
// plan's entry for the probe (buildpack spec, Build Plan). The package imports neither phase, so that neither needs the
// other.
//
// Begin with [Server]. [Servers.Metadata] writes servers into the plan, and [ServersFromMetadata] reads them back.
package plan

// Entry is the name of the probe's entry in the build plan.
const Entry = "grpc-health-probe"
