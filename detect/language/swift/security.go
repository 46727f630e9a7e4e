package swift

import (
	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/oldaddress"
	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
	"github.com/grpc-cnb/health-probe/internal/plan"
)

// verifiesClients is in a configuration of TLS that requires a client certificate: of grpc-swift 2
// (Sources/GRPCNIOTransportHTTP2Posix/Config+TLS.swift of grpc-swift-nio-transport) and of grpc-swift 1
// (Sources/GRPC/GRPCTLSConfiguration.swift).
var verifiesClients = lazyregexp.New(`\.mTLS\b|\.(?:noHostname|full)Verification\b`)

var (
	// transportSecurity is the argument after the address of a server's transport in grpc-swift 2.
	transportSecurity = lazyregexp.New(`\baddress\s*:\s*(?:[\w.]+\s*)(?:\([^()]*(?:\([^()]*\)[^()]*)*\))?\s*,\s*` +
		`transportSecurity\s*:\s*`)
	credentials = analyzer.Credentials{
		Plaintext: lazyregexp.New(`\.plaintext\b`),
		TLS:       lazyregexp.New(`\.(?:tls|mTLS)\b`),
		Requires:  verifiesClients,
	}
)

var (
	// configuredTLS is what gives the configuration of a server its TLS in grpc-swift 1.
	configuredTLS = lazyregexp.New(`\.\s*tls(?:Configuration)?\s*=\s|\btls(?:Configuration)?\s*:\s`)
	configuration = analyzer.Credentials{
		Plaintext: lazyregexp.New(`^\s*nil\s*$`),
		TLS:       lazyregexp.New(`\bmakeServerConfiguration\w*\s*\(|\bTLS\s*\(|\.init\s*\(\s*certificateChain`),
		Requires:  verifiesClients,
	}
	insecureServer = lazyregexp.New(`\bServer\.insecure\s*\(`)
	// secureServer makes a server with TLS, under its older name too (Sources/GRPC/ServerBuilder.swift), and the group
	// "given" is a configuration that says more.
	secureServer  = lazyregexp.New(`\bServer\.(?:usingTLS\w*|secure)\s*\(\s*(?:(?P<given>with\s*:\s*))?`)
	verifyClients = lazyregexp.New(`\.\s*withTLS\s*\(\s*certificateVerification\s*:`)
	hasConfig     = lazyregexp.New(`\bServer\.Configuration\b`)
)

// security returns what carries the calls of the servers in a text. Those of grpc-swift 2 have to be told.
func security(names *address.Names, servers []finding.Server) []finding.Finding {
	s := securityReader{Names: names}
	for _, m := range names.FindAll(transportSecurity, address.MaxListeners) {
		s.add(m[0], credentials.Of(names, s.value(m[1]), m[0]))
	}
	for _, server := range servers {
		if server.Framework == grpcSwift && s.found == nil {
			s.found = append(s.found, finding.Security{Site: server.Quiet()})
		}
	}
	if names.Matches(hasConfig) {
		for _, m := range names.FindAll(configuredTLS, address.MaxListeners) {
			s.add(m[0], configuration.Of(names, s.value(m[1]), 0))
		}
	}
	s.made()
	return s.found
}

// made adds the security of servers of grpc-swift 1, which the calls that make them state. What decides which call is
// made is the setting.
func (s *securityReader) made() {
	secure := s.FindAll(secureServer, address.MaxListeners)
	if len(secure) == 0 {
		return
	}
	insecure := s.FindAll(insecureServer, address.MaxListeners)
	for _, m := range insecure {
		setting := analyzer.Setting(s.Names, s.ConditionsAround(m[0], 0))
		s.add(m[0], plan.Security{Transport: plan.Plaintext, Setting: setting})
	}
	for _, m := range secure {
		says := s.secure(m)
		if len(insecure) > 0 && says.Setting == "" {
			says.Setting = analyzer.Setting(s.Names, s.ConditionsAround(m[0], 0))
		}
		s.add(m[0], says)
	}
}

type securityReader struct {
	*address.Names
	found []finding.Finding
}

func (s *securityReader) add(at int, says plan.Security) {
	s.found = append(s.found, finding.SecurityAt(s.Line(at), says))
}

// value returns the argument, or the rest of the statement, that begins at an offset.
func (s *securityReader) value(from int) source.Span {
	return s.Trim(source.Span{From: from, To: s.Until(from, ",\n")})
}

// secure returns the security of a server that is made with TLS.
func (s *securityReader) secure(match []int) plan.Security {
	switch {
	case match[2] >= 0:
		says := configuration.Of(s.Names, s.value(match[1]), 0)
		if says.Transport == plan.Plaintext {
			says = plan.Security{}
		}
		return says
	case s.Matches(verifyClients) && !s.Matches(verifiesClients):
		return plan.Security{}
	case s.Matches(verifyClients):
		return plan.Security{Transport: plan.MutualTLS}
	}
	return plan.Security{Transport: plan.TLS}
}
