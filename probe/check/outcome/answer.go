package outcome

import (
	"errors"
	"fmt"
	"strconv"
)

// Answer is the result of one call of Check: a status, or an error. The error is a *[RPCError], or a *check.DialError
// if the connection proved unusable.
type Answer struct {
	Service string
	Status  Status
	Err     error
}

// Status is grpc.health.v1.HealthCheckResponse.ServingStatus.
type Status int32

// The values of ServingStatus, from grpc/health/v1/health.proto.
const (
	StatusUnknown        Status = 0
	StatusServing        Status = 1
	StatusNotServing     Status = 2
	StatusServiceUnknown Status = 3
)

// String returns the name in health.proto, or the number of a status without a name.
func (s Status) String() string {
	switch s {
	case StatusUnknown:
		return "UNKNOWN"
	case StatusServing:
		return "SERVING"
	case StatusNotServing:
		return "NOT_SERVING"
	case StatusServiceUnknown:
		return "SERVICE_UNKNOWN"
	}
	return strconv.Itoa(int(s))
}

// IsUnknownService reports whether the server itself answers that the service is unknown.
func (a Answer) IsUnknownService() bool {
	failed, ok := errors.AsType[*RPCError](a.Err)
	return ok && failed.Answered && failed.Code == CodeNotFound
}

// JSON returns an answer with its status, or its error.
func (a Answer) JSON() []byte {
	var o object
	o.string("service", a.Service)
	if a.Err != nil {
		o.string("error", Printable(a.Err.Error()))
	} else {
		o.string("status", a.Status.String())
	}
	return o.end()
}

// Subject returns the words of messages for a service.
func Subject(service string) string {
	if service == "" {
		return "the whole server"
	}
	return fmt.Sprintf("service %q", service)
}
