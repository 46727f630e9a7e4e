package probe

// ExitCode is what the process tells its caller. The values are those of
// grpc-health-probe v0.4.56, so that what was written for it stays right.
type ExitCode int

const (
	// ExitServing: the answer is SERVING.
	ExitServing ExitCode = 0
	// ExitUsage: the flags or the configuration are wrong, nothing was sent.
	ExitUsage ExitCode = 1
	// ExitConnection: no usable connection within -connect-timeout.
	ExitConnection ExitCode = 2
	// ExitRPC: the RPC failed or did not end within -rpc-timeout.
	ExitRPC ExitCode = 3
	// ExitNotServing: the server answered with another status than SERVING.
	ExitNotServing ExitCode = 4
	// ExitSPIFFE: no credentials from the SPIFFE Workload API.
	ExitSPIFFE ExitCode = 20
)
