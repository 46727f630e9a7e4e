package outcome

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Socket is a finding of -discover.
type Socket struct {
	// Address has the form of -addr. Own is the evidence that the socket is the container's own.
	Address, Own string
	Speaks       Protocol
	// GRPC means that a gRPC server has answered.
	GRPC bool
	// Certificate is the certificate of the server; nil without TLS.
	Certificate *Certificate
	// Answers are the statuses of the services. Err is the reason for no answers.
	Answers []Answer
	Err     error
	// Readiness and Liveness are probes for the server.
	Readiness, Liveness *Probe
}

// Certificate is the certificate from the TLS handshake of a server. The certificate is not verified.
type Certificate struct {
	// Names are the hosts in the certificate.
	Names []string
	// Ends is the end of the validity.
	Ends time.Time
	// Client means that the server asks for a client certificate.
	Client bool
}

// Probe is a probe of Kubernetes (core/v1 Probe): an exec probe with a command, or else a grpc probe.
type Probe struct {
	Command        []string
	TimeoutSeconds int
	Port           uint16
	Service        string
}

// Line returns the line about the socket for users.
func (s *Socket) Line() string {
	line := s.Address + ": "
	switch {
	case !s.GRPC && s.Certificate == nil:
		line += string(s.Speaks)
	case s.Certificate == nil:
		line += "gRPC in plain text"
	default:
		if s.GRPC {
			line += "gRPC with "
		}
		line += fmt.Sprintf("TLS, certificate for %s, valid until %s", strings.Join(s.Certificate.Names, " "),
			s.Certificate.Ends.UTC().Format(time.RFC3339))
		if s.Certificate.Client {
			line += ", asks for a client certificate"
		}
	}
	said := []string{line}
	for _, a := range s.Answers {
		said = append(said, fmt.Sprintf("%s is %v", Subject(a.Service), a.Status))
	}
	if s.Err != nil {
		said = append(said, s.Err.Error())
	}
	return Printable(strings.Join(said, "; "))
}

// JSON returns the socket as an object.
func (s *Socket) JSON() []byte {
	var o object
	o.string("address", s.Address)
	o.string("own", s.Own)
	o.string("speaks", string(s.Speaks))
	o.raw("grpc", strconv.AppendBool(nil, s.GRPC))
	if c := s.Certificate; c != nil {
		var certificate object
		certificate.texts("names", c.Names)
		certificate.string("not_after", c.Ends.UTC().Format(time.RFC3339))
		certificate.raw("asks_for_client", strconv.AppendBool(nil, c.Client))
		o.raw("certificate", certificate.end())
	}
	report := Report{Answers: s.Answers}
	o.list("services", report.services())
	if s.Err != nil {
		o.string("error", Printable(s.Err.Error()))
	}
	if s.Readiness != nil {
		o.raw("readinessProbe", s.Readiness.JSON())
	}
	if s.Liveness != nil {
		o.raw("livenessProbe", s.Liveness.JSON())
	}
	return o.end()
}

// JSON returns the probe as an object of Kubernetes, which is YAML in one line as well.
func (p *Probe) JSON() []byte {
	var o, action object
	if p.Command != nil {
		action.texts("command", p.Command)
		o.raw("exec", action.end())
		o.int("timeoutSeconds", p.TimeoutSeconds)
		return o.end()
	}
	action.int("port", int(p.Port))
	if p.Service != "" {
		action.string("service", p.Service)
	}
	o.raw("grpc", action.end())
	return o.end()
}

// SocketsJSON returns sockets as one line of JSON. Note is any further fact about the sockets.
func SocketsJSON(sockets []*Socket, note string) []byte {
	var o object
	objects := make([][]byte, len(sockets))
	for i, s := range sockets {
		objects[i] = s.JSON()
	}
	o.list("sockets", objects)
	if note != "" {
		o.string("note", note)
	}
	return append(o.end(), '\n')
}
