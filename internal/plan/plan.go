// Package plan is what the detect phase tells the build phase: the gRPC server that an app holds, as metadata of the
// build plan's entry for the probe (buildpack spec, Build Plan). It imports nothing of this module, so that neither
// phase needs the other.
//
// Begin with [Server]. [Server.Metadata] writes it into the plan and [ServerFromMetadata] reads it back.
package plan

// Entry is the name of the probe's entry in the build plan.
const Entry = "grpc-health-probe"
