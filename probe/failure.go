package probe

import (
	"cmp"
	"errors"
	"slices"
)

// Failure is an outcome that does not pass.
type Failure struct {
	// Code is what the process exits with.
	Code ExitCode
	// Err is the cause, on one line.
	Err error
	// Hint says what the user can do about it; empty where that is nothing.
	Hint Hint

	class class // empty where it follows from Code
}

// Hint is advice for the user, on one line. Package messages finds every hint by this type, for the test of the
// documents: a hint is a constant, or a fmt.Sprintf with a constant format.
type Hint string

// Error returns the cause without the hint.
func (f *Failure) Error() string { return f.Err.Error() }

// Unwrap returns the cause.
func (f *Failure) Unwrap() error { return f.Err }

// misuse returns the failure for a mistake of the user that is found before anything is sent.
func misuse(err error, hint Hint) error {
	return &Failure{Code: ExitUsage, Err: err, Hint: hint}
}

// class is the kind of a failure, as -o=json prints it.
type class string

const (
	classUsage      class = "usage"
	classLookup     class = "lookup"
	classConnect    class = "connect"
	classTLS        class = "tls" // ALTS as well
	classProtocol   class = "protocol"
	classTimeout    class = "timeout"
	classRPC        class = "rpc"
	classNotServing class = "not_serving"
	classSPIFFE     class = "spiffe"
)

// kind returns the class. Where none is set, it follows from the exit code.
func (f *Failure) kind() class {
	if f.class != "" {
		return f.class
	}
	switch f.Code {
	case ExitConnection:
		return classConnect
	case ExitRPC:
		return classRPC
	case ExitNotServing:
		return classNotServing
	case ExitSPIFFE:
		return classSPIFFE
	}
	return classUsage
}

// failures are the failures of the services that were asked for together. There is at least one.
type failures []*Failure

// failuresOf returns the failures in an outcome, and none for nil.
func failuresOf(err error) failures {
	if err == nil {
		return nil
	}
	if all, ok := errors.AsType[failures](err); ok {
		return all
	}
	if f, ok := errors.AsType[*Failure](err); ok {
		return failures{{Code: f.Code, class: f.class, Err: err, Hint: f.Hint}}
	}
	return failures{{Code: ExitUsage, Err: err}}
}

// worst returns the failure that decides the exit code. From 0 over 4 and 3 to 2 it gets worse, because not to get an
// answer is worse than to get a bad one.
func (f failures) worst() *Failure {
	return slices.MinFunc(f, func(a, b *Failure) int { return cmp.Compare(a.Code, b.Code) })
}

// Error returns the worst cause.
func (f failures) Error() string { return f.worst().Error() }

// Unwrap returns the worst failure.
func (f failures) Unwrap() error { return f.worst() }
