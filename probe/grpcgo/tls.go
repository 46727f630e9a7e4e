package grpcgo

import (
	"context"
	"crypto/tls"
	"net"

	"google.golang.org/grpc/credentials"
)

// tlsCredentials are the TLS credentials of grpc-go with another handshake of the client: grpc-go refuses a server that
// negotiates no protocol by ALPN, and a probe has to ask such servers too.
type tlsCredentials struct {
	credentials.TransportCredentials
	config *tls.Config
}

func newTLS(config *tls.Config) credentials.TransportCredentials {
	return tlsCredentials{credentials.NewTLS(config), config}
}

// ClientHandshake implements credentials.TransportCredentials.
func (c tlsCredentials) ClientHandshake(ctx context.Context, serverName string, raw net.Conn) (net.Conn,
	credentials.AuthInfo, error,
) {
	config := c.config.Clone()
	config.NextProtos = []string{"h2"}
	if config.ServerName == "" {
		config.ServerName = serverName
	}
	conn := tls.Client(raw, config)
	if err := conn.HandshakeContext(ctx); err != nil {
		return nil, nil, err
	}
	info := credentials.TLSInfo{
		State:          conn.ConnectionState(),
		CommonAuthInfo: credentials.CommonAuthInfo{SecurityLevel: credentials.PrivacyAndIntegrity},
	}
	return conn, info, nil
}
