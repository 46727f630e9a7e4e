package check

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/grpc-cnb/health-probe/probe/check/options"
	"github.com/grpc-cnb/health-probe/probe/check/outcome"
)

// call is a call of the health service, in the words of messages about its end.
type call struct {
	doing string // such as "listing services"
	// missing is the hint for UNIMPLEMENTED.
	missing outcome.Hint
}

func explainCheck(o *options.Options, a outcome.Answer) *outcome.Failure {
	return call{"checking " + outcome.Subject(a.Service), missingServiceHint(o)}.explain(o, a.Err)
}

func explainList(o *options.Options, err error) error {
	listing := call{
		"listing services",
		"not every health service has List, and not every server a health service: name the services with -service",
	}
	return listing.outcome(o, err)
}

func explainWatch(o *options.Options, service string, err error) error {
	watching := call{
		"watching " + outcome.Subject(service),
		"not every health service has Watch, and not every server a health service: leave out -watch",
	}
	return watching.outcome(o, err)
}

// outcome is explain for a call that may have found the connection unusable.
func (c call) outcome(o *options.Options, err error) error {
	if _, unusable := errors.AsType[*DialError](err); unusable {
		return explainDial(o, err)
	}
	return c.explain(o, err)
}

func (c call) explain(o *options.Options, err error) *outcome.Failure {
	failed, ok := errors.AsType[*outcome.RPCError](err)
	if !ok {
		failed = &outcome.RPCError{Message: err.Error()}
	}
	f := &outcome.Failure{Code: outcome.ExitRPC, Err: failed, Hint: c.hint(failed)}
	if !failed.Answered && strings.Contains(failed.Message, "HTTP status") {
		f.Hint, f.Speaks = httpHint(o, failed.Message), outcome.Web
	}
	if !failed.Answered && lacksStatus(failed.Message) {
		f.Speaks = outcome.Web
	}
	if failed.Code == outcome.CodeDeadlineExceeded {
		f = waited(o, o.Budget.RPCTimeout, "an answer", "raise -rpc-timeout if the server is slow to answer")
		f.Code = outcome.ExitRPC
	}
	f.Err = fmt.Errorf("%s: %w", c.doing, f.Err)
	return f
}

func (c call) hint(failed *outcome.RPCError) outcome.Hint {
	switch failed.Code {
	case outcome.CodeUnimplemented:
		return c.missing
	case outcome.CodeNotFound:
		return "the health service has no status for that name; -service= (empty) is the whole server"
	case outcome.CodeUnauthenticated, outcome.CodePermissionDenied:
		return "exempt the health service from authentication, or send credentials with -rpc-header"
	case outcome.CodeResourceExhausted:
		if failed.Answered {
			return "the server, or a proxy in front of it, is at a limit: exempt the health service from limits of " +
				"calls and of connections, or probe less often"
		}
	}
	return ""
}

// httpHint returns the hint for an HTTP error in place of a gRPC answer, from a web server or from a proxy in front of
// the gRPC server.
func httpHint(o *options.Options, message string) outcome.Hint {
	switch status := httpStatus(message); {
	case status == "400" && o.TLS && o.TLSClientCert == "":
		return "a proxy that wants a client certificate answers like this: set -tls-client-cert and -tls-client-key"
	case status == "401", status == "403":
		return "the probe is not allowed to ask: exempt the health service in the server and in the proxies " +
			"in front of it, or send credentials with -rpc-header"
	case status == "429":
		return "the server, or a proxy in front of it, limits how often clients may ask: exempt the health service, " +
			"or probe less often"
	}
	return "a web server or a proxy answered, not a gRPC server: name the gRPC port of the server itself with -addr"
}

// lacksStatus reports whether a server has ended a call in order and without a status, in the words of both transports.
// A gRPC server always sends a status; a web server that repeats the request's content type sends none.
func lacksStatus(message string) bool {
	return message == "server ended the call without a status" ||
		message == "server closed the stream without sending trailers"
}

// httpStatus returns the first number after the words of both transports about an HTTP status.
func httpStatus(message string) string {
	_, after, _ := strings.Cut(message, "HTTP status")
	after = strings.TrimLeftFunc(after, func(r rune) bool { return r < '0' || r > '9' })
	return after[:min(3, len(after))]
}

func missingServiceHint(o *options.Options) outcome.Hint {
	if o.GZIP {
		return "is grpc.health.v1.Health registered in the server? If it is, leave out -gzip: " +
			"not every server can decompress"
	}
	return "register the standard health service, grpc.health.v1.Health, in the server"
}

// waited returns the failure of waiting for something with its own timeout. The hint is for that timeout; if the end of
// everything came first, the failure names the flag for the end.
func waited(o *options.Options, own time.Duration, what string, hint outcome.Hint) *outcome.Failure {
	err := fmt.Errorf("waited %v for %s", own, what)
	if o.Budget.Overdue() {
		flag, limit := o.Budget.Limit()
		err = fmt.Errorf("waited for %s until the end of %s=%v", what, flag, limit)
		hint = outcome.Hint(fmt.Sprintf("raise %s if the server needs longer", flag))
	}
	return &outcome.Failure{Code: outcome.ExitConnection, Class: outcome.ClassTimeout, Err: err, Hint: hint}
}
