package check

import (
	"crypto/tls"
	"time"

	"github.com/grpc-cnb/health-probe/probe/check/options"
	"github.com/grpc-cnb/health-probe/probe/check/tlsfiles"
)

// TLSConfig returns the client's side of TLS for the flags -tls-*. A server's request for a client certificate is noted
// in o.WantsCert, for the words about a failed handshake. TLSConfig waits for data from pipes until the deadline. The
// error is a *[outcome.Failure].
func TLSConfig(o *options.Options, deadline time.Time) (*tls.Config, error) {
	wantsCert := o.WantsCert
	wantsCert.Store(false)
	files := tlsfiles.Files{CACert: o.TLSCACert, ClientCert: o.TLSClientCert, ClientKey: o.TLSClientKey}
	config, err := files.Config(func() { wantsCert.Store(true) }, options.Pauses(deadline))
	if err != nil {
		return nil, err
	}
	config.ServerName, config.InsecureSkipVerify = o.ServerName(), o.TLSNoVerify
	return config, nil
}
