package probe

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

// call is one call of the health service, for messages about its end.
type call struct {
	doing string // such as "listing services"
	// missing is the hint for UNIMPLEMENTED.
	missing string
}

// explainCheck turns an answer's error into the failure it is.
func explainCheck(ctx context.Context, o *Options, a Answer) *Failure {
	return call{"checking " + subject(a.Service), missingService(o)}.explain(ctx, o, a.Err)
}

// explainList turns the error of a connection's List into the outcome.
func explainList(ctx context.Context, o *Options, err error) error {
	return call{"listing services",
		"not every health service has List, and not every server a health service: name the services with -service"}.outcome(ctx, o, err)
}

// explainWatch turns the error of a connection's Watch into the outcome.
func explainWatch(ctx context.Context, o *Options, service string, err error) error {
	return call{"watching " + subject(service),
		"not every health service has Watch, and not every server a health service: leave out -watch"}.outcome(ctx, o, err)
}

// outcome is explain for a call that may have found the connection unusable.
func (c call) outcome(ctx context.Context, o *Options, err error) error {
	if _, unusable := errors.AsType[*DialError](err); unusable {
		return explainDial(ctx, o, err)
	}
	return c.explain(ctx, o, err)
}

func (c call) explain(ctx context.Context, o *Options, err error) *Failure {
	failed, ok := errors.AsType[*RPCError](err)
	if !ok {
		failed = &RPCError{Message: err.Error()}
	}
	f := &Failure{Code: ExitRPC, Err: failed, Hint: c.hint(failed.Code)}
	if !failed.Answered && strings.Contains(failed.Message, "HTTP status") {
		f.Hint = httpHint(o, failed.Message)
	}
	if failed.Code == CodeDeadlineExceeded {
		f = waited(ctx, o, o.RPCTimeout, "an answer", "raise -rpc-timeout if the server is slow to answer")
		f.Code = ExitRPC
	}
	f.Err = fmt.Errorf("%s: %w", c.doing, f.Err)
	return f
}

func (c call) hint(code Code) string {
	switch code {
	case CodeUnimplemented:
		return c.missing
	case CodeNotFound:
		return "the health service has no status for that name; -service= (empty) is the whole server"
	case CodeUnauthenticated, CodePermissionDenied:
		return "exempt the health service from authentication, or send credentials with -rpc-header"
	}
	return ""
}

// httpHint is for what answers with HTTP's own errors, in place of a gRPC server: a web server, or a proxy before one.
func httpHint(o *Options, message string) string {
	if strings.Contains(message, "400") && o.TLS && o.TLSClientCert == "" {
		return "a proxy that wants a client certificate says so: set -tls-client-cert and -tls-client-key"
	}
	return "no gRPC server answered, but a web server or a proxy: name the gRPC port of the server itself with -addr"
}

func missingService(o *Options) string {
	if o.GZIP {
		return "is grpc.health.v1.Health registered in the server? If it is, leave out -gzip: not every server can decompress"
	}
	return "register the standard health service, grpc.health.v1.Health, in the server"
}

// waited is the failure of waiting for what until its own time was over, with
// the hint for that, or until that of everything was.
func waited(ctx context.Context, o *Options, own time.Duration, what, hint string) *Failure {
	err := fmt.Errorf("waited %v for %s", own, what)
	if overdue(ctx) {
		flag, limit := o.limit()
		err = fmt.Errorf("waited for %s until the end of %s=%v", what, flag, limit)
		hint = fmt.Sprintf("raise %s if the server needs longer", flag)
	}
	return &Failure{Code: ExitConnection, class: classTimeout, Err: err, Hint: hint}
}
