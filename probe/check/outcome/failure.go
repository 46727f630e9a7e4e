package outcome

import (
	"cmp"
	"errors"
	"slices"
)

// Failure is an outcome that does not pass.
type Failure struct {
	// Code is the exit code of the process.
	Code ExitCode
	// Err is the cause, on one line.
	Err error
	// Hint is advice for the user; empty if the user can do nothing.
	Hint Hint

	// Class is the kind of the failure; empty if Code implies the kind.
	Class Class
	// Speaks is the answer of a server without gRPC.
	Speaks Protocol
}

// Hint is advice for the user, on one line. The test of the documents finds every hint by this type: a hint is a
// constant, or a fmt.Sprintf with a constant format.
type Hint string

// Error returns the cause without the hint.
func (f *Failure) Error() string { return f.Err.Error() }

// Unwrap returns the cause.
func (f *Failure) Unwrap() error { return f.Err }

// IsRefused reports whether nothing was there to connect to.
func (f *Failure) IsRefused() bool { return f.Code == ExitConnection && f.kind() == ClassConnect }

// Misuse returns the failure for a mistake of the user, found before anything is sent.
func Misuse(err error, hint Hint) error {
	return &Failure{Code: ExitUsage, Err: err, Hint: hint}
}

// Class is the kind of a failure, as -o=json prints it.
type Class string

// The classes of failures.
const (
	ClassUsage      Class = "usage"
	ClassLookup     Class = "lookup"
	ClassConnect    Class = "connect"
	ClassTLS        Class = "tls" // ALTS as well
	ClassProtocol   Class = "protocol"
	ClassTimeout    Class = "timeout"
	ClassRPC        Class = "rpc"
	ClassNotServing Class = "not_serving"
	ClassSPIFFE     Class = "spiffe"
)

// kind returns the class. Without a class, the exit code decides.
func (f *Failure) kind() Class {
	if f.Class != "" {
		return f.Class
	}
	switch f.Code {
	case ExitConnection:
		return ClassConnect
	case ExitRPC:
		return ClassRPC
	case ExitNotServing:
		return ClassNotServing
	case ExitSPIFFE:
		return ClassSPIFFE
	}
	return ClassUsage
}

// Failures are the failures of services asked for together. There is at least one failure.
type Failures []*Failure

// FailuresOf returns the failures in an outcome, and none for nil.
func FailuresOf(err error) Failures {
	if err == nil {
		return nil
	}
	if all, ok := errors.AsType[Failures](err); ok {
		return all
	}
	if f, ok := errors.AsType[*Failure](err); ok {
		return Failures{{Code: f.Code, Class: f.Class, Err: err, Hint: f.Hint, Speaks: f.Speaks}}
	}
	return Failures{{Code: ExitUsage, Err: err}}
}

// Worst returns the failure that decides the exit code. Codes get worse from 0 over 4 and 3 to 2, because no answer is
// worse than a bad answer.
func (f Failures) Worst() *Failure {
	return slices.MinFunc(f, func(a, b *Failure) int { return cmp.Compare(a.Code, b.Code) })
}

// Error returns the worst cause.
func (f Failures) Error() string { return f.Worst().Error() }

// Unwrap returns the worst failure.
func (f Failures) Unwrap() error { return f.Worst() }

// OutOfDescriptors is the hint for a process that may open no more files.
const OutOfDescriptors Hint = "raise the limit of open files (ulimit -n): a plain probe needs five, each may need ten"

// NoConnection returns the failure for a connection that could not be made.
func NoConnection(kind Class, cause error, hint Hint) *Failure {
	return &Failure{Code: ExitConnection, Class: kind, Err: cause, Hint: hint}
}
