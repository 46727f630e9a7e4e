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
	Hint string

	class class // where it says more than Code
}

// Error returns the cause without the hint.
func (f *Failure) Error() string { return f.Err.Error() }

// Unwrap returns the cause.
func (f *Failure) Unwrap() error { return f.Err }

// misuse is a failure of the user's own making, found before anything is sent.
func misuse(err error, hint string) error {
	return &Failure{Code: ExitUsage, Err: err, Hint: hint}
}

// class is what kind of failure it is, for -o json.
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

// kind returns the class, by the exit code where nothing more is known.
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

// failures are those of services that were asked for together, at least one.
type failures []*Failure

// failuresOf returns the failures that an outcome has, none for nil.
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

// worst is the one that decides the exit code: from 0 over 4 and 3 to 2 it gets
// worse, since not to be able to ask is worse than a bad answer.
func (f failures) worst() *Failure {
	return slices.MinFunc(f, func(a, b *Failure) int { return cmp.Compare(a.Code, b.Code) })
}

// Error returns the worst cause.
func (f failures) Error() string { return f.worst().Error() }

// Unwrap returns the worst failure.
func (f failures) Unwrap() error { return f.worst() }
