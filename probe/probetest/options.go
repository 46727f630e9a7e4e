package probetest

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spiffe/go-spiffe/v2/proto/spiffe/workload"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
)

// options are those of the command server:
//
//	net=tcp4|tcp6|unix:PATH|unix-abstract:NAME  where it listens, tcp4 without
//	status=SERVICE:STATUS   a status to answer with, more than once; SERVING for "" without
//	san=NAME,...            TLS with a certificate for these names and IPs; the CA is in NAME/ca.pem
//	clientauth=required     asks for a client certificate; one is in NAME/client.pem and NAME/client-key.pem
//	agent=PATH              is in a SPIFFE trust domain, whose Workload API listens on the socket PATH
//	tls=1.2                 the newest version of TLS it speaks
//	header=NAME:VALUE       refuses calls without this metadata
//	health=none             has no health service
//	health=hangs            never answers
//	speaks=PROTOCOL         is no gRPC server: one of the keys of rawProtocols, or nothing at all: "bound"
var options = map[string]func(*setup, string) error{
	"net":        (*setup).setNetwork,
	"status":     (*setup).setStatus,
	"san":        (*setup).setNames,
	"clientauth": (*setup).setClientAuth,
	"agent":      (*setup).startAgent,
	"tls":        func(s *setup, _ string) error { s.config.TLS.MaxVersion = tls.VersionTLS12; return nil },
	"header":     func(s *setup, value string) error { s.config.Header = value; return nil },
	"health":     func(s *setup, value string) error { s.config.Health = value; return nil },
	"speaks":     func(s *setup, value string) error { s.config.Speaks = value; return nil },
}

// setup is a config under construction, with the CA and the folder of a server.
type setup struct {
	config Config
	dir    string
	ca     *authority
	stop   []func() // what to stop after the server
}

func parseOptions(name, dir string, words []string) (*setup, error) {
	ca, err := newAuthority("CA of " + name)
	if err != nil {
		return nil, err
	}
	s := &setup{dir: dir, ca: ca, config: Config{Network: "tcp4", Address: "127.0.0.1:0"}}
	for _, word := range words {
		key, value, _ := strings.Cut(word, "=")
		option := options[key]
		if option == nil {
			return nil, fmt.Errorf("unknown option %q", word)
		}
		if err := option(s, value); err != nil {
			return nil, fmt.Errorf("using option %q: %w", word, err)
		}
	}
	return s, nil
}

func (s *setup) setNetwork(value string) error {
	switch network, name, _ := strings.Cut(value, ":"); network {
	case "tcp6":
		s.config.Network, s.config.Address = "tcp6", "[::1]:0"
	case "unix":
		s.config.Network, s.config.Address = "unix", name
	case "unix-abstract":
		s.config.Network, s.config.Address = "unix", "@"+name
	default:
		return fmt.Errorf("unknown network %q", network)
	}
	return nil
}

func (s *setup) setStatus(value string) error {
	service, name, _ := strings.Cut(value, ":")
	status, ok := healthpb.HealthCheckResponse_ServingStatus_value[name]
	if !ok {
		return fmt.Errorf("unknown status %q", name)
	}
	if s.config.Statuses == nil {
		s.config.Statuses = map[string]healthpb.HealthCheckResponse_ServingStatus{}
	}
	s.config.Statuses[service] = healthpb.HealthCheckResponse_ServingStatus(status)
	return nil
}

func (s *setup) setNames(value string) error {
	cert, err := s.ca.issue(strings.Split(value, ",")...)
	if err != nil {
		return err
	}
	s.config.TLS = &tls.Config{Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS12}
	return s.write("ca.pem", s.ca.pem)
}

func (s *setup) setClientAuth(string) error {
	client, err := s.ca.issue("client")
	if err != nil {
		return err
	}
	s.config.TLS.ClientAuth, s.config.TLS.ClientCAs = tls.RequireAndVerifyClientCert, s.ca.pool()
	cert, key, err := encode(client)
	if err != nil {
		return err
	}
	if err := s.write("client.pem", cert); err != nil {
		return err
	}
	return s.write("client-key.pem", key)
}

// startAgent runs the Workload API for the probe's side, and gives the server
// an identity of the same trust domain.
func (s *setup) startAgent(path string) error {
	const id = "spiffe://example.org/probe"
	client, err := s.ca.issue(id)
	if err != nil {
		return err
	}
	key, err := x509.MarshalPKCS8PrivateKey(client.PrivateKey)
	if err != nil {
		return err
	}
	svid := &workload.X509SVID{SpiffeId: id, X509Svid: client.Certificate[0], X509SvidKey: key, Bundle: s.ca.cert.Raw}
	stop, err := agent{svid: svid}.start(path)
	if err != nil {
		return err
	}
	s.stop = append(s.stop, stop)
	if err := s.setNames("spiffe://example.org/server"); err != nil {
		return err
	}
	return s.setClientAuth("required")
}

func (s *setup) write(name string, data []byte) error {
	if err := os.MkdirAll(s.dir, 0o755); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(s.dir, name), data, 0o600)
}
