package probe

import (
	"errors"
	"fmt"
)

// subject names what was asked for, in messages.
func subject(service string) string {
	if service == "" {
		return "the whole server"
	}
	return fmt.Sprintf("service %q", service)
}

// explainCheck turns the error of a connection's Check into the outcome.
func explainCheck(o *Options, err error) error {
	failed, ok := errors.AsType[*RPCError](err)
	if !ok {
		failed = &RPCError{Message: err.Error()}
	}
	return &Failure{Code: ExitRPC, Err: fmt.Errorf("checking %s: %w", subject(o.Service), rpcCause(o, failed)), Hint: rpcHint(o, failed.Code)}
}

func rpcCause(o *Options, e *RPCError) error {
	if e.Code == CodeDeadlineExceeded {
		return fmt.Errorf("waited %v for an answer", o.RPCTimeout)
	}
	return e
}

func rpcHint(o *Options, code Code) string {
	switch code {
	case CodeUnimplemented:
		if o.GZIP {
			return "is grpc.health.v1.Health registered in the server? If it is, leave out -gzip: not every server can decompress"
		}
		return "register the standard health service, grpc.health.v1.Health, in the server"
	case CodeNotFound:
		return "the health service has no status for that name; -service= (empty) is the whole server"
	case CodeDeadlineExceeded:
		return "raise -rpc-timeout if the server is slow to answer"
	case CodeUnauthenticated, CodePermissionDenied:
		return "exempt the health service from authentication, or send credentials with -rpc-header"
	}
	return ""
}
