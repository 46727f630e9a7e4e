package outcome

import (
	"fmt"
	"strconv"
)

// Code is a gRPC status code, as github.com/grpc/grpc/doc/statuscodes.md numbers them.
type Code uint32

// The codes with a hint or a special treatment in the probe.
const (
	CodeDeadlineExceeded  Code = 4
	CodeNotFound          Code = 5
	CodePermissionDenied  Code = 7
	CodeResourceExhausted Code = 8
	CodeUnimplemented     Code = 12
	CodeUnauthenticated   Code = 16
)

var codeNames = [...]string{
	"OK", "CANCELLED", "UNKNOWN", "INVALID_ARGUMENT", "DEADLINE_EXCEEDED", "NOT_FOUND", "ALREADY_EXISTS",
	"PERMISSION_DENIED", "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION", "ABORTED", "OUT_OF_RANGE", "UNIMPLEMENTED",
	"INTERNAL", "UNAVAILABLE", "DATA_LOSS", "UNAUTHENTICATED",
}

// String returns the name of the code, or the number of a code without a name.
func (c Code) String() string {
	if int(c) < len(codeNames) {
		return codeNames[c]
	}
	return strconv.Itoa(int(c))
}

// RPCError is the error of a call that ended without an answer of the health service.
type RPCError struct {
	// Code is the status of the server, or of the client.
	Code Code
	// Message is the text with the status. The server chooses the text, so the text is untrusted.
	Message string
	// Answered means that the server itself sent the status. Answered is false if the client has chosen the status: for
	// a deadline, a lost connection, or an answer other than gRPC.
	Answered bool
}

// Error returns the code and the message, if any.
func (e *RPCError) Error() string {
	if e.Message == "" {
		return e.Code.String()
	}
	return fmt.Sprintf("%v: %s", e.Code, e.Message)
}
