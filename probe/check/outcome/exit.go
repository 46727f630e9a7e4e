package outcome

// ExitCode is the exit code of the process. The values are those of grpc-health-probe v0.4.56, for users that rely on
// its exit codes.
type ExitCode int

const (
	// ExitServing means that the answer is SERVING.
	ExitServing ExitCode = 0
	// ExitUsage means that the flags or the configuration are wrong. Nothing was sent.
	ExitUsage ExitCode = 1
	// ExitConnection means that there was no usable connection within -connect-timeout.
	ExitConnection ExitCode = 2
	// ExitRPC means that the RPC failed or did not end within -rpc-timeout.
	ExitRPC ExitCode = 3
	// ExitNotServing means that the server answered with another status than SERVING.
	ExitNotServing ExitCode = 4
	// ExitSPIFFE means that the SPIFFE Workload API gave no credentials.
	ExitSPIFFE ExitCode = 20
)
