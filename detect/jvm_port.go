package detect

import "regexp"

// jvmListens is a call whose arguments say where a server listens.
var jvmListens = regexp.MustCompile(`\b(?:(?:Netty|OkHttp|Xds|Alts|Vertx)?ServerBuilder\s*\.\s*(?:forPort|forAddress)|` +
	`newServerBuilderForPort|GrpcServers\s*\.\s*(?:forPort|forAddress)|new\s+ProtocolConfig)\s*\(`)

// jvmDeclared is how a name gets its value: int port = 1; val port: Int = 1. A constant is reached through its class too.
var jvmDeclared = []*regexp.Regexp{
	regexp.MustCompile(`\b(?P<name>[A-Za-z_]\w*)\s*(?::\s*Int(?:eger)?\??\s*)?=\s*(?:[^=\s])??`),
	regexp.MustCompile(`\b(?P<field>[A-Z][A-Z0-9_]*)\s*(?::\s*Int(?:eger)?\??\s*)?=\s*(?:[^=\s])??`),
}

// jvmEnds are the bytes that end a declaration.
var jvmEnds = map[string]string{".java": ";", ".kt": "\n;", ".scala": "\n;"}

// jvmPorts returns the port of each listener of a source.
func jvmPorts(s *source, ext string) []sign {
	var found []sign
	var names *values
	for _, m := range jvmListens.FindAllIndex(s.code, maxListens) {
		if names == nil {
			names = s.values(jvmEnds[ext], jvmDeclared...)
		}
		arguments, _ := s.arguments(m[1])
		found = append(found, sign{kind: listens, line: s.line(m[0]), port: names.firstPort(arguments)})
	}
	return found
}

// firstPort returns the port of the first argument that states one: a host may come before it, credentials after.
func (v *values) firstPort(arguments []span) int {
	for _, a := range arguments {
		if port := v.port(a); port != noPort {
			return port
		}
	}
	return noPort
}
