package peers

import (
	"context"
	"errors"
	"io"
	"log"
	"net/http"
	"testing"

	"connectrpc.com/connect"
	"connectrpc.com/grpchealth"
	"google.golang.org/grpc"
)

// startNetHTTP runs grpc-go's handler on net/http.
func startNetHTTP(t *testing.T) map[string]string {
	return startHTTP(t, newGRPC(), grpc.NewServer())
}

// startConnect runs connect-go's health service on net/http.
func startConnect(t *testing.T) map[string]string {
	mux := http.NewServeMux()
	mux.Handle(grpchealth.NewHandler(connectHealth{}))
	return startHTTP(t, mux, http.NewServeMux())
}

// connectHealth is what connect-go's health service asks.
type connectHealth struct{}

// Check implements grpchealth.Checker.
func (connectHealth) Check(ctx context.Context, request *grpchealth.CheckRequest) (*grpchealth.CheckResponse, error) {
	switch request.Service {
	case "":
		return &grpchealth.CheckResponse{Status: grpchealth.StatusServing}, nil
	case "down":
		return &grpchealth.CheckResponse{Status: grpchealth.StatusNotServing}, nil
	case "slow":
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return nil, connect.NewError(connect.CodeNotFound, errors.New("unknown service"))
}

// startHTTP serves health, and bare for what has no health service, with HTTP/2 in plain text and over TLS.
func startHTTP(t *testing.T, health, bare http.Handler) map[string]string {
	return map[string]string{
		"plain": serveHTTP(t, &http.Server{Handler: health}),
		"tls":   serveHTTP(t, &http.Server{Handler: health, TLSConfig: serverTLS(t, false)}),
		"mtls":  serveHTTP(t, &http.Server{Handler: health, TLSConfig: serverTLS(t, true)}),
		"bare":  serveHTTP(t, &http.Server{Handler: bare}),
		"tight": serveHTTP(t, &http.Server{Handler: health, HTTP2: &http.HTTP2Config{
			MaxConcurrentStreams: 1, MaxDecoderHeaderTableSize: 1, MaxEncoderHeaderTableSize: 1,
			MaxReceiveBufferPerStream: 1,
		}}),
	}
}

// serveHTTP runs server until the end of the test and returns its address.
func serveHTTP(t *testing.T, server *http.Server) string {
	t.Helper()
	server.ErrorLog = log.New(io.Discard, "", 0) // failed handshakes are what some rows are about
	server.Protocols = new(http.Protocols)
	server.Protocols.SetHTTP2(true)
	server.Protocols.SetUnencryptedHTTP2(true)
	listener := listen(t)
	over := make(chan error, 1)
	go func() {
		if server.TLSConfig != nil {
			over <- server.ServeTLS(listener, "", "")
		} else {
			over <- server.Serve(listener)
		}
	}()
	t.Cleanup(func() {
		server.Close()
		if err := <-over; !errors.Is(err, http.ErrServerClosed) {
			t.Errorf("serving: %v", err)
		}
	})
	return listener.Addr().String()
}
