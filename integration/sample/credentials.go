package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/tap"
)

var (
	tlsCert  = flag.String("tls-cert", "", "file with the certificate to serve TLS with")
	tlsKey   = flag.String("tls-key", "", "file with the key of -tls-cert")
	clientCA = flag.String("tls-client-ca", "",
		"file with the CA certificates that a client's certificate must be from")
	authorization = flag.String("authorization-file", "", "file with the authorization header that each call must have")
)

// serverOptions returns the flags' requirements of clients: nothing by default.
func serverOptions() ([]grpc.ServerOption, error) {
	var options []grpc.ServerOption
	if *tlsCert != "" || *clientCA != "" {
		config, err := tlsConfig()
		if err != nil {
			return nil, err
		}
		options = append(options, grpc.Creds(credentials.NewTLS(config)))
	}
	if *authorization != "" {
		options = append(options, grpc.InTapHandle(authorize))
	}
	return options, nil
}

func tlsConfig() (*tls.Config, error) {
	pair, err := tls.LoadX509KeyPair(*tlsCert, *tlsKey)
	if err != nil {
		return nil, fmt.Errorf("loading the certificate: %w", err)
	}
	config := &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}
	if *clientCA == "" {
		return config, nil
	}
	pem, err := os.ReadFile(*clientCA)
	if err != nil {
		return nil, fmt.Errorf("reading the clients' CA: %w", err)
	}
	config.ClientCAs = x509.NewCertPool()
	if !config.ClientCAs.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("reading the clients' CA: no certificate in %q", *clientCA)
	}
	config.ClientAuth = tls.RequireAndVerifyClientCert
	return config, nil
}

// authorize refuses a call without the header. Each call reads the file, since a mounted file may change.
func authorize(ctx context.Context, call *tap.Info) (context.Context, error) {
	want, err := os.ReadFile(*authorization)
	if err != nil {
		return nil, status.Errorf(codes.Internal, "reading the authorization: %v", err)
	}
	if !slices.Contains(call.Header.Get("authorization"), strings.TrimSpace(string(want))) {
		return nil, status.Error(codes.Unauthenticated, "the authorization is missing or wrong")
	}
	return ctx, nil
}
