package php

import (
	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/oldaddress"
	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
	"github.com/grpc-cnb/health-probe/internal/plan"
)

// serverCredentials are those of the grpc extension, which ask clients for no certificate
// (src/php/ext/grpc/server_credentials.c of grpc).
var serverCredentials = analyzer.Credentials{
	Plaintext: lazyregexp.New(`^null$`),
	TLS:       lazyregexp.New(`\bServerCredentials::createSsl\(`),
}

// http2Port is the call that makes the server of the grpc extension listen.
var http2Port = lazyregexp.New(`->add(?P<secure>Secure)?Http2Port\(\s*`)

// listeners returns the addresses of the servers of the grpc extension, and the security of them.
func (p *pass) listeners() []finding.Finding {
	var found []finding.Finding
	var stated []analyzer.Stated
	for _, m := range p.FindAll(http2Port, address.MaxListeners) {
		each, _ := p.Arguments(m[1])
		found = append(found, finding.ListenerAt(p.Value(each[0])))
		switch {
		case m[2] < 0:
			stated = append(stated, analyzer.Stated{At: m[0], Says: plan.Security{Transport: plan.Plaintext}})
		case len(each) > 1:
			stated = append(stated, serverCredentials.In(p.Names, each[1])...)
		}
	}
	if stated != nil {
		found = append(found, analyzer.StatedSecurity(p.Names, stated, nil))
	}
	return found
}

var (
	// swooleTLS is the flag of a socket with TLS, of Swoole and OpenSwoole, and verifiesClients the setting that
	// requires certificates of clients (their documentation of ssl_verify_peer).
	swooleTLS       = lazyregexp.New(`\bSWOOLE_SSL\b|\bConstant::SSL\b|\|\s*(?:\\?\w+\\?)*::SSL\b`)
	verifiesClients = lazyregexp.New(`\bssl_verify_peer['"]\s*=>\s*true\b`)
)

// swooleSecurity returns the security of the server whose options are in a span, if they ask for TLS.
func (p *pass) swooleSecurity(options source.Span) []finding.Finding {
	m := swooleTLS.FindIndex(p.Code[options.From:options.To])
	if m == nil {
		return nil
	}
	says := analyzer.Certificates(p.Text)
	if verifiesClients.Match(p.Raw) {
		says.Transport = plan.MutualTLS
	}
	return []finding.Finding{finding.SecurityAt(p.Line(options.From+m[0]), says)}
}
