package node

import (
	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/oldaddress"
	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
	"github.com/grpc-cnb/health-probe/internal/plan"
)

// serverCredentials are the functions of ServerCredentials of grpc-js, which all frameworks on it take
// (packages/grpc-js/src/server-credentials.ts). The third argument of createSsl is whether clients have to show a
// certificate; it is false by default.
var serverCredentials = analyzer.Credentials{
	Plaintext: lazyregexp.New(`\bcreateInsecure\(`),
	TLS:       lazyregexp.New(`\bcreateSsl\(`),
	Asks: func(t *source.Text, arguments int) bool {
		asks, _ := t.Argument(arguments, 2)
		return t.Slice(asks) == "true"
	},
}

// reportCredentials reports what expressions for the credentials of a server say together.
func (p *pass) reportCredentials(of *finding.Site, credentials ...source.Span) {
	var stated []analyzer.Stated
	for _, c := range credentials {
		stated = append(stated, serverCredentials.In(p.variables(), c)...)
	}
	if stated != nil {
		p.found = append(p.found, analyzer.StatedSecurity(p.variables(), stated, of))
	}
}

var (
	credentialsProperty = lazyregexp.New(`\bcredentials\s*:\s*`)
	// secureHTTP2 makes a server of HTTP/2 with TLS, and fastifyTLS is an option of Fastify that does. requestsClient
	// is an option of Node's TLS.
	secureHTTP2    = lazyregexp.New(`\bcreateSecureServer\(`)
	fastifyTLS     = lazyregexp.New(`\bhttps\s*:\s*`)
	plainHTTP2     = lazyregexp.New(`\bhttp2\s*\.\s*createServer\(`)
	requestsClient = lazyregexp.New(`\brequestCert\s*:\s*`)
)

// findHTTP2Security reports whether the HTTP/2 that Connect's handlers are served by has TLS: http2.createSecureServer,
// or Fastify's option https (docs/Reference/Server.md). Node takes no connection without a client certificate if
// requestCert is true, unless rejectUnauthorized is false (doc/api/tls.md).
func (p *pass) findHTTP2Security() {
	var stated []analyzer.Stated
	for _, m := range p.FindAll(secureHTTP2, maxServers) {
		stated = append(stated, analyzer.Stated{At: m[0], Says: p.http2Security(m[1])})
	}
	for _, m := range p.FindAll(plainHTTP2, maxServers) {
		stated = append(stated, analyzer.Stated{At: m[0], Says: plan.Security{Transport: plan.Plaintext}})
	}
	if p.Imports.From(fastifyModule) {
		for _, m := range p.FindAll(fastifyTLS, 1) {
			stated = append(stated, p.fastifySecurity(p.Element(m[1])))
		}
	}
	if stated != nil {
		p.found = append(p.found, httpSecurity{analyzer.StatedSecurity(p.variables(), stated, nil)})
	}
}

// maxServers is how many servers of one source are looked at.
const maxServers = 16

// http2Security returns what the options of a server with TLS say, from their offset.
func (p *pass) http2Security(options int) plan.Security {
	says := analyzer.Certificates(p.Text)
	_, all := p.Arguments(options)
	asks, _ := p.Property(all, requestsClient)
	switch code := p.Slice(asks); code {
	case "", "false":
		says.Authority = ""
	case "true":
		says.Transport = plan.MutualTLS
	default:
		says.Setting = source.Excerpt([]byte(code))
	}
	return says
}

// fastifySecurity returns what the option https of Fastify says.
func (p *pass) fastifySecurity(https source.Span) analyzer.Stated {
	s := analyzer.Stated{At: https.From}
	switch code := p.Slice(https); {
	case code != "" && code[0] == '{':
		s.Says = p.http2Security(https.From + 1)
	case code == "null", code == "undefined", code == "false":
		s.Says.Transport = plan.Plaintext
	default:
		s.Says.Setting = source.Excerpt([]byte(code))
	}
	return s
}

// reportNestCredentials reports the credentials among the options of a microservice. Without any it serves plaintext
// (packages/microservices/server/server-grpc.ts), unless there are others that are not seen.
func (p *pass) reportNestCredentials(options source.Span, areAll bool) {
	credentials, ok := p.Property(options, credentialsProperty)
	if !ok {
		if !areAll {
			p.found = append(p.found, finding.Security{Site: finding.At(p.Text, options).Quiet()})
		}
		return
	}
	if m := spreadIf.FindSubmatch(p.Code[options.From:credentials.From]); m != nil {
		says := plan.Security{Setting: source.Excerpt(m[1])}
		if variables := address.Variables(m[1]); len(variables) > 0 {
			says.Setting = "$" + variables[0]
		}
		p.found = append(p.found, finding.Security{Site: finding.At(p.Text, credentials).Quiet(), Says: says})
		return
	}
	p.reportCredentials(nil, credentials)
}

// spreadIf is the condition of options that are there or not: ...(process.env.TLS && { credentials, the last of them.
var spreadIf = lazyregexp.New(`\.\.\.\(?\s*([^?&{}]+?)\s*(?:\?|&&)\s*\{[^{}]*$`)
