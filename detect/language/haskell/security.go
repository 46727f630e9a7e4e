package haskell

import (
	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/oldaddress"
	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
	"github.com/grpc-cnb/health-probe/internal/plan"
)

var (
	// grapesyConfig is the configuration of one of grapesy's servers: it runs the one without TLS, the one with it, or
	// both (grapesy/src/Network/GRPC/Server/Run.hs). Without names of fields its first arguments are host and port.
	grapesyConfig = lazyregexp.New(`\b(?:(InsecureConfig)|(InsecureUnix)|SecureConfig)\b(\s*\{)?`)
	grapesyPort   = lazyregexp.New(`\b(?:insecure|secure)Port\s*=\s+`)
	grapesyHost   = lazyregexp.New(`\b(?:insecure|secure)Host\s*=\s+`)
	grapesyPath   = lazyregexp.New(`\binsecurePath\s*=\s+`)
	publicCert    = lazyregexp.New(`\bsecurePubCert\s*=\s+`)
	// serverConfig is where both configurations are given.
	serverConfig = lazyregexp.New(`\bServerConfig\b`)
)

// grapesy adds the listener of grapesy's configuration, and its security. Of a server with TLS and one without it, a
// probe asks the one without.
func (p *portReader) grapesy() {
	var insecure, secure [][]int
	for _, m := range p.FindAll(grapesyConfig, address.MaxListeners) {
		if m[2] >= 0 || m[4] >= 0 {
			insecure = append(insecure, m)
		} else {
			secure = append(secure, m)
		}
	}
	made, transport := insecure, plan.Plaintext
	if len(insecure) == 0 {
		made, transport = secure, plan.TLS
	}
	for _, m := range made {
		says := plan.Security{Transport: transport}
		if conditions := p.ConditionsAround(m[0], p.configuration(m[0])); len(conditions) > 0 && len(secure) > 0 {
			says = plan.Security{Setting: analyzer.Setting(p.Names, conditions)}
		}
		if transport == plan.TLS {
			says.Certificate = p.certificate(m)
		}
		p.add(p.configured(m))
		p.found = append(p.found, finding.SecurityAt(p.Line(m[0]), says))
	}
}

// configuration returns where the configuration of the whole server begins that a place is in.
func (p *portReader) configuration(at int) int {
	begin := 0
	for _, m := range p.FindAll(serverConfig, address.MaxListeners) {
		if m[0] < at {
			begin = m[0]
		}
	}
	return begin
}

// configured returns the address that a configuration states, by its fields or by its arguments.
func (p *portReader) configured(match []int) address.Value {
	var host, port, path source.Span
	if match[6] >= 0 {
		host, port = p.field(match[1], grapesyHost), p.field(match[1], grapesyPort)
		path = p.field(match[1], grapesyPath)
	} else if arguments := p.applied(match[1], 2); len(arguments) == 2 {
		host, port = arguments[0], arguments[1]
	} else if len(arguments) == 1 {
		path = arguments[0]
	}
	switch {
	case match[4] >= 0 && path.From < path.To:
		return p.SocketAt(path)
	case port.From < port.To:
		return p.portOn(host, port)
	}
	return p.Nothing(match[0])
}

// field returns the value of a field of a record whose fields begin at an offset.
func (p *portReader) field(from int, name *lazyregexp.Regexp) source.Span {
	end := p.Until(from, "")
	m := name.FindIndex(p.Code[from:end])
	if m == nil {
		return source.Span{}
	}
	return p.Trim(source.Span{From: from + m[1], To: p.Until(from+m[1], ",\n")})
}

// certificate returns the file with the certificate of a secure configuration, if it is written there.
func (p *portReader) certificate(match []int) string {
	if files := p.Strings([]source.Span{p.field(match[1], publicCert)}); len(files) == 1 {
		return files[0]
	}
	return ""
}

var (
	// grpcHaskellTLS is in the options of a server of grpc-haskell that has TLS, and requiresClients in those that
	// require a client certificate (core/src/Network/GRPC/LowLevel/Server.hs).
	grpcHaskellTLS  = lazyregexp.New(`\bServerSSLConfig\b|\b(?:sslConfig|optSSLConfig)\s*=\s*(?:Just\b|[a-z])`)
	requiresClients = lazyregexp.New(`\b\w*RequestAndRequireClientCert\w*`)
	// warpTLS runs an application of Warp with TLS, and warpPlain without it (warp-grpc/src/Network/GRPC/Server.hs,
	// grpc/server/src/Mu/GRpc/Server.hs).
	warpTLS   = lazyregexp.New(`\b(?:runTLS|runTLSSocket|runGrpc|runGRpcAppTLS)\b`)
	warpPlain = lazyregexp.New(`\b(?:run|runEnv|runSettings|runGRpcApp|runGRpcAppTrans|runGRpcAppSettings)\b`)
	// asksClients makes Warp ask for a client certificate. Whether it is required is up to a hook.
	asksClients = lazyregexp.New(`\btlsWantClientCert\s*=\s*True\b`)
)

// security adds the security of frameworks whose servers are told by a function or an option.
func (p *portReader) security(uses map[string]bool) {
	if uses[grpcHaskell] {
		for _, m := range p.FindAll(grpcHaskellTLS, 1) {
			says := plan.Security{Transport: plan.TLS}
			if conditions := p.ConditionsAround(m[0], 0); len(conditions) > 0 || !p.Matches(serverSSL) {
				says = plan.Security{Setting: analyzer.Setting(p.Names, conditions)}
			} else if p.Matches(requiresClients) {
				says.Transport = plan.MutualTLS
			}
			p.found = append(p.found, finding.SecurityAt(p.Line(m[0]), says))
		}
	}
	if !uses[warpGRPC] && !uses[muHaskell] {
		return
	}
	for _, m := range p.FindAll(warpTLS, address.MaxListeners) {
		says := plan.Security{Transport: plan.TLS, Setting: analyzer.Setting(p.Names, p.ConditionsAround(m[0], 0))}
		if p.Matches(asksClients) || says.Setting != "" {
			says.Transport = plan.UnknownTransport
		}
		p.found = append(p.found, finding.SecurityAt(p.Line(m[0]), says))
	}
	for _, m := range p.FindAll(warpPlain, address.MaxListeners) {
		p.found = append(p.found, finding.SecurityAt(p.Line(m[0]), plan.Security{Transport: plan.Plaintext}))
	}
}

// serverSSL is the configuration of TLS itself.
var serverSSL = lazyregexp.New(`\bServerSSLConfig\b`)
