package probetest

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spiffe/go-spiffe/v2/proto/spiffe/workload"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
)

// options are the options of the command server:
//
//	net=tcp4|tcp6|unix:PATH|unix-abstract:NAME  the listener's address; default tcp4
//	status=SERVICE:STATUS   a status to answer with, repeatable; default SERVING for ""
//	san=NAME,...            TLS with a certificate for the names and IPs; the CA is in NAME/ca.pem
//	expired=NAME,...        like san, with a certificate that was valid in 2020
//	alpn=none|PROTOCOL,...  the protocols for TLS to negotiate, instead of h2
//	clientauth=required     asks for a client certificate; one is in NAME/client.pem and NAME/client-key.pem
//	clientauth=expired      like required, with a client certificate that was valid in 2020
//	agent=PATH              is in a SPIFFE trust domain, whose Workload API listens on the socket PATH
//	tls=1.1|1.2             the newest version of TLS
//	ciphers=old             accepts only ciphers that the probe does not offer
//	header=NAME:VALUE       refuses calls without the metadata
//	health=none             has no health service
//	health=nolist           has a health service of before Health/List
//	health=hanglist         has a health service whose List never answers
//	health=hangs            never answers
//	health=limited          refuses each call, because of a limit
//	health=echoes           refuses each call, and repeats the call's metadata
//	hangups=N               closes the first N connections
//	streams=N               takes N calls at once on a connection
//	window=N                is served by net/http, with windows of N bytes for requests
//	keepalive=strict        ends connections with more than two PINGs an hour
//	speaks=PROTOCOL         is no gRPC server: see Config.Speaks
var options = map[string]func(*setup, string) error{
	"net":        (*setup).setNetwork,
	"status":     (*setup).setStatus,
	"san":        (*setup).setNames,
	"expired":    (*setup).setExpiredNames,
	"alpn":       (*setup).setALPN,
	"clientauth": (*setup).setClientAuth,
	"agent":      (*setup).startAgent,
	"tls":        (*setup).setVersion,
	"ciphers":    (*setup).setOldCiphers,
	"header":     func(s *setup, value string) error { s.config.Header = value; return nil },
	"health":     func(s *setup, value string) error { s.config.Health = value; return nil },
	"hangups":    func(s *setup, value string) (err error) { s.config.Hangups, err = strconv.Atoi(value); return err },
	"streams":    func(s *setup, value string) (err error) { s.config.Streams, err = strconv.Atoi(value); return err },
	"window":     func(s *setup, value string) (err error) { s.config.Window, err = strconv.Atoi(value); return err },
	"keepalive":  func(s *setup, _ string) error { s.config.StrictKeepalive = true; return nil },
	"speaks":     func(s *setup, value string) error { s.config.Speaks = value; return nil },
}

// setup is a config in the making, with the CA and the folder of the server.
type setup struct {
	config Config
	dir    string
	ca     *authority
	stop   []func() // to stop after the server
}

// StartWith runs a server with the options of the command server until Close is called. The server's certificates are
// in dir.
func StartWith(name, dir string, words ...string) (*Server, error) {
	setup, err := parseOptions(name, dir, words)
	if err != nil {
		return nil, err
	}
	server, err := Start(setup.config)
	if err != nil {
		return nil, err
	}
	closeServer := server.Close
	server.Close = func() {
		closeServer()
		for _, stop := range setup.stop {
			stop()
		}
	}
	return server, nil
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

func (s *setup) setVersion(value string) error {
	s.config.TLS.MaxVersion = tls.VersionTLS12
	if value == "1.1" {
		s.config.TLS.MinVersion, s.config.TLS.MaxVersion = tls.VersionTLS11, tls.VersionTLS11
	}
	return nil
}

// setOldCiphers leaves a cipher without forward secrecy. Clients in Go do not offer the cipher.
func (s *setup) setOldCiphers(string) error {
	s.config.TLS.MaxVersion, s.config.TLS.CipherSuites = tls.VersionTLS12, []uint16{tls.TLS_RSA_WITH_AES_128_CBC_SHA}
	return nil
}

func (s *setup) setStatus(value string) error {
	service, status, err := parseStatus(value)
	if err != nil {
		return err
	}
	if s.config.Statuses == nil {
		s.config.Statuses = map[string]healthpb.HealthCheckResponse_ServingStatus{}
	}
	s.config.Statuses[service] = status
	return nil
}

func parseStatus(value string) (service string, status healthpb.HealthCheckResponse_ServingStatus, err error) {
	service, name, _ := strings.Cut(value, ":")
	number, ok := healthpb.HealthCheckResponse_ServingStatus_value[name]
	if !ok {
		return "", 0, fmt.Errorf("unknown status %q", name)
	}
	return service, healthpb.HealthCheckResponse_ServingStatus(number), nil
}

// expired is a time in the validity of a certificate that has expired.
var expired = time.Date(2020, time.May, 17, 12, 0, 0, 0, time.UTC)

func (s *setup) setNames(value string) error {
	return s.setCert(value, time.Now())
}

func (s *setup) setExpiredNames(value string) error {
	return s.setCert(value, expired)
}

func (s *setup) setALPN(value string) error {
	s.config.ALPN = strings.Split(value, ",")
	return nil
}

func (s *setup) setCert(names string, when time.Time) error {
	cert, err := s.ca.issue(when, strings.Split(names, ",")...)
	if err != nil {
		return err
	}
	s.config.TLS = &tls.Config{Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS12}
	return s.write("ca.pem", s.ca.pem)
}

func (s *setup) setClientAuth(value string) error {
	when := time.Now()
	if value == "expired" {
		when = expired
	}
	client, err := s.ca.issue(when, "client")
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

// startAgent runs the Workload API for the probe, and gives the server an identity of the same trust domain.
func (s *setup) startAgent(path string) error {
	const id = "spiffe://example.org/probe"
	client, err := s.ca.issue(time.Now(), id)
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
