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

// Failure is an outcome other than SERVING.
type Failure struct {
	// Code is what the process exits with.
	Code ExitCode
	// Err is the cause, on one line.
	Err error
	// Hint says what the user can do about it; empty where that is nothing.
	Hint string
}

// Error returns the cause without the hint.
func (f *Failure) Error() string { return f.Err.Error() }

// Unwrap returns the cause.
func (f *Failure) Unwrap() error { return f.Err }

// misuse is a failure of the user's own making, found before anything is sent.
func misuse(err error, hint string) error {
	return &Failure{Code: ExitUsage, Err: err, Hint: hint}
}
