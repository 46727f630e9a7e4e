// Package discover describes the listening sockets of a container: the protocol and the TLS of each socket, the health
// of the services, and the probes to paste. The package is for users who do not know, so, unlike a probe, it leaves no
// socket out and has no verdict.
//
// The options of a probe go in: TLS, metadata and time count, the address does not. Begin with [Run].
package discover

import (
	"crypto/tls"
	"errors"
	"fmt"
	"maps"
	"math"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/grpc-cnb/health-probe/probe/check"
	"github.com/grpc-cnb/health-probe/probe/check/address"
	"github.com/grpc-cnb/health-probe/probe/check/metadata"
	"github.com/grpc-cnb/health-probe/probe/check/options"
	"github.com/grpc-cnb/health-probe/probe/check/outcome"
	"github.com/grpc-cnb/health-probe/probe/sockets"
)

// Report is the result of a discovery.
type Report struct {
	Sockets []*outcome.Socket
	// Note is a remark on the list of sockets, "" for none.
	Note string
}

const (
	nothing  = "this container listens on nothing"
	ofThePod = "whose these sockets are cannot be told from here: they are all that listen in this pod's network"
	ofPath   = "; a command has this container's path of the probe, and another container may have it elsewhere"
)

// Run finds the sockets of this container and asks all of them, several at the same time, so that the silence of some
// does not add up. Without a socket known to be the container's own, as in a debug container, Run asks the sockets of
// the whole network namespace.
func Run(t check.Transport, o *options.Options) (*Report, error) {
	o.Budget.Start()
	headers, err := metadata.Read(o.FixedHeaders, o.MountedHeaders, options.Pauses(o.Budget.Read()))
	if err != nil {
		return nil, err
	}
	o.Headers = headers
	r := &Report{}
	found, err := ask(sockets.Own())
	if len(found) == 0 {
		if found, err = ask(sockets.All()); len(found) > 0 {
			r.Note = ofThePod
		}
	}
	if err != nil {
		return nil, outcome.NoConnection(outcome.ClassLookup, fmt.Errorf("listing sockets: %w", err), "")
	}
	r.Sockets = check.AskEach(found, func(s *sockets.Socket) *outcome.Socket { return describe(t, o, *s) })
	if len(found) == 0 {
		r.Note = nothing
	}
	r.propose(found, o)
	return r, nil
}

func ask(listed []sockets.Socket, err error) ([]sockets.Socket, error) {
	if err != nil {
		return nil, err
	}
	return sockets.Ask(listed, sockets.Everyone, time.Now().Add(patience))
}

// patience bounds the silence of the sockets, the connection for a TLS handshake, and the handshake.
const patience = time.Second

func describe(t check.Transport, o *options.Options, s sockets.Socket) *outcome.Socket {
	d := &outcome.Socket{Address: s.Addr, Own: string(s.Owner), Speaks: s.Speaks}
	own := *o
	own.Addr, own.Address = s.Addr, s.Address
	if s.Speaks.MayHaveTLS() {
		if d.Certificate = certificate(&own); d.Certificate == nil {
			return d
		}
		d.Speaks = outcome.TLS
		if !own.TLS {
			own.TLS, own.TLSNoVerify = true, true
		}
	} else if s.Speaks != outcome.HTTP2 {
		return d
	}
	own.Budget = options.Budget{ConnectTimeout: o.Budget.ConnectTimeout, RPCTimeout: o.Budget.RPCTimeout}
	d.Answers, d.Err = health(t, &own)
	failed, ok := errors.AsType[*outcome.RPCError](d.Err)
	d.GRPC = d.Err == nil || ok && failed.Answered
	return d
}

// health returns the statuses of a server's services, at most maxServices, or the status of the whole server if the
// server does not list services.
func health(t check.Transport, o *options.Options) ([]outcome.Answer, error) {
	conn, err := t.Dial(o)
	if err != nil {
		return nil, err
	}
	defer func() { _ = conn.Close() }() // the calls are over
	statuses, err := conn.List()
	if err != nil {
		o.Budget = options.Budget{ConnectTimeout: o.Budget.ConnectTimeout, RPCTimeout: o.Budget.RPCTimeout}
		again, err := t.Dial(o)
		if err != nil {
			return nil, err
		}
		defer func() { _ = again.Close() }()
		answer := again.Check([]string{""})[0]
		if answer.Err != nil {
			return nil, answer.Err
		}
		return []outcome.Answer{answer}, nil
	}
	var answers []outcome.Answer
	for _, service := range slices.Sorted(maps.Keys(statuses)) {
		if len(answers) < maxServices {
			answers = append(answers, outcome.Answer{
				Service: metadata.Hide(service, o.Headers), Status: statuses[service],
			})
		}
	}
	return answers, nil
}

// maxServices bounds the named services of a server.
const maxServices = 50

// certificate returns the certificate of the server in a TLS handshake, or nil without a certificate.
func certificate(o *options.Options) *outcome.Certificate {
	network, at := "tcp", ""
	switch e := o.Address.Endpoints[0].(type) {
	case address.IPEndpoint:
		at = netip.AddrPort(e).String()
	case address.UnixEndpoint:
		network, at = "unix", string(e)
	}
	conn, err := net.DialTimeout(network, at, patience)
	if err == nil {
		defer func() { _ = conn.Close() }() // nothing was sent that counts
		err = conn.SetDeadline(time.Now().Add(patience))
	}
	if err != nil {
		return nil
	}
	cert := &outcome.Certificate{}
	secure := tls.Client(conn, &tls.Config{
		InsecureSkipVerify: true, // the certificate is described, and nothing is sent
		ServerName:         o.ServerName(),
		NextProtos:         []string{"h2"},
		VerifyConnection: func(state tls.ConnectionState) error {
			leaf := state.PeerCertificates[0]
			cert.Names, cert.Ends = slices.Clone(leaf.DNSNames), leaf.NotAfter
			for _, ip := range leaf.IPAddresses {
				cert.Names = append(cert.Names, ip.String())
			}
			return nil
		},
		GetClientCertificate: func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
			cert.Client = true
			return &tls.Certificate{}, nil
		},
	})
	_ = secure.Handshake() // a server may show a certificate, and then fail for want of a client certificate
	if cert.Ends.IsZero() {
		return nil
	}
	return cert
}

// propose adds the probes to each gRPC server with a health service. Kubernetes' own probe does for a server in plain
// text within the kubelet's reach, unless metadata are sent. Among several servers a command names the address, and
// then also the flags for TLS.
func (r *Report) propose(found []sockets.Socket, o *options.Options) {
	servers := 0
	for _, d := range r.Sockets {
		if d.GRPC {
			servers++
		}
	}
	for i, d := range r.Sockets {
		if !d.GRPC || len(d.Answers) == 0 {
			continue
		}
		p := outcome.Probe{Port: found[i].Port}
		if !found[i].Pod || d.Certificate != nil || len(o.Headers) > 0 {
			p.Command = []string{program()}
			p.TimeoutSeconds = int(math.Ceil(o.Budget.Longest().Seconds())) + 1
			if r.Note != "" {
				r.Note = ofThePod + ofPath
			}
			if servers > 1 || r.Note != "" {
				p.Command = append(p.Command, "-addr="+d.Address)
				if d.Certificate != nil {
					p.Command = append(p.Command, "-tls", "-tls-no-verify")
				}
			}
		}
		readiness, liveness := services(d.Answers)
		d.Readiness = withService(p, readiness)
		if liveness != "" {
			d.Liveness = withService(p, liveness)
		}
	}
}

func withService(p outcome.Probe, service string) *outcome.Probe {
	p.Service = service
	if p.Command != nil && service != "" {
		p.Command = append(slices.Clone(p.Command), "-service="+service)
	}
	return &p
}

// services returns the services to ask for readiness and for liveness, "" for none: the names that Kubernetes advises,
// if the server has them, in any case.
func services(answers []outcome.Answer) (readiness, liveness string) {
	for _, a := range answers {
		switch strings.ToLower(a.Service) {
		case "readiness":
			readiness = a.Service
		case "liveness":
			liveness = a.Service
		}
	}
	return readiness, liveness
}

func program() string {
	if path, err := os.Executable(); err == nil {
		return path
	}
	return filepath.Clean(os.Args[0])
}

// Text returns the report for users.
func (r *Report) Text() string {
	var text strings.Builder
	if r.Note != "" {
		text.WriteString(r.Note + "\n")
	}
	for _, s := range r.Sockets {
		text.WriteString(s.Line() + "\n")
		if s.Readiness != nil {
			fmt.Fprintf(&text, "  readinessProbe: %s\n", s.Readiness.JSON())
		}
		if s.Liveness != nil {
			fmt.Fprintf(&text, "  livenessProbe: %s\n", s.Liveness.JSON())
		}
	}
	return text.String()
}

// JSON returns the report as one line of JSON.
func (r *Report) JSON() []byte { return outcome.SocketsJSON(r.Sockets, r.Note) }
