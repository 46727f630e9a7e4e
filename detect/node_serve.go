package detect

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
)

// nodeAddToServer is HealthImplementation's method, whose name minifiers keep. Reflection has one too: the name of the
// health service has to be in the file.
var nodeAddToServer = regexp.MustCompile(`\.addToServer\(`)

func (r *nodeReader) bundledHealth() {
	at := nodeAddToServer.FindIndex(r.code)
	if r.bundled && at != nil && bytes.Contains(r.text, []byte("grpc.health.v1.Health")) {
		r.add(sign{kind: health}, span{at[0] + 1, at[1]})
	}
}

var (
	nodeAddService = regexp.MustCompile(`\.addService\(\s*(?P<service>[^;\n,][^;,]{0,200}?)\s*,`)
	// nodeHealthName is how a service of grpc.health.v1 is named: health.service (grpc-health-check), Health.service (a
	// loaded .proto), HealthService (generated), Health, or what the package's name leads to.
	nodeHealthName = regexp.MustCompile(`(?:^|[.\]'"])Health(?:['"]\])?\.service$|` +
		`^(?:[\w$]+\.)*HealthService(?:Definition)?$|^(?i:\w*health\w*)\.service$|grpc\.health\.v1`)
	nodeGRPCWord    = regexp.MustCompile(`(?i)grpc`)
	nodeServiceName = regexp.MustCompile(`\.service$|\['service'\]$|^(?:[\w$]+\.)*\w+(?:Service|Definition)$`)
)

// services takes server.addService(proto.Greeter.service, implementation).
func (r *nodeReader) services() {
	grpc, imported := nodeGRPCWord.Match(r.text), r.names.any(nodeGRPC)
	for _, m := range nodeAddService.FindAllSubmatchIndex(r.code, -1) {
		switch service := r.part(nodeAddService, m, "service"); {
		case nodeHealthName.MatchString(service):
			r.add(sign{kind: health}, span{m[0] + 1, m[1]})
		case !r.bundled && nodeServiceName.MatchString(service) &&
			(strings.HasSuffix(service, ".service") && grpc || imported):
			r.add(sign{kind: registers, framework: "grpc-js"}, span{m[0] + 1, m[1]})
		}
	}
}

var (
	nodeBind        = regexp.MustCompile(`\.(?P<at>bind(?:Async)?)\(`)
	nodeCredentials = regexp.MustCompile(`\bServerCredentials\b|\bcreate(?:Insecure|Ssl)\b`)
	nodePlainly     = regexp.MustCompile(`^\(*(?:\d,\s*)?[\w$.]*\bServerCredentials\.create`)
)

// binds takes server.bindAsync(address, credentials, callback), and bind of the older grpc. In a bundle the address and
// the credentials have to be stated there: the frameworks' own calls take them from their options. LDAP binds, too: the
// credentials or an import have to be gRPC's.
func (r *nodeReader) binds() {
	for _, m := range nodeBind.FindAllSubmatchIndex(r.code, -1) {
		each, all := r.arguments(m[1])
		if len(each) < 2 {
			continue
		}
		credentials := bytes.TrimSpace(r.code[each[1].from:each[1].to])
		if !nodeCredentials.Match(credentials) && !(m[3]-m[2] > len("bind") && r.names.any(nodeGRPC)) ||
			r.bundled && (!nodePlainly.Match(credentials) || bytes.HasPrefix(r.code[each[0].from:], []byte("this."))) {
			continue
		}
		r.add(sign{kind: registers, framework: "grpc-js"}, span{m[2], min(all.to, len(r.code))})
		r.port(listens, each[0])
	}
}

var nodeDaprServer = regexp.MustCompile(`\bnew\s+(?P<name>` + nodeDotted + `)\(`)

// dapr takes new DaprServer({ communicationProtocol: CommunicationProtocolEnum.GRPC }); its default is HTTP.
func (r *nodeReader) dapr() {
	if !bytes.Contains(r.code, []byte("DaprServer")) {
		return
	}
	for _, m := range nodeDaprServer.FindAllSubmatchIndex(r.code, -1) {
		if dotted := r.part(nodeDaprServer, m, "name"); !strings.HasSuffix(dotted, "DaprServer") {
			continue
		}
		each, all := r.arguments(m[1])
		if !bytes.Contains(r.code[all.from:all.to], []byte("CommunicationProtocolEnum.GRPC")) {
			continue
		}
		r.add(sign{kind: constructs, framework: "dapr-js"}, span{m[0], m[1]})
		if port, ok := r.member(each[0], nodeServerPort); ok {
			r.port(listens, port)
		}
	}
}

var nodeServerPort = regexp.MustCompile(`\bserverPort\s*:\s*`)

// member returns the value of a member of an object.
func (r *nodeReader) member(object span, key *regexp.Regexp) (span, bool) {
	m := key.FindIndex(r.code[object.from:object.to])
	if m == nil {
		return span{}, false
	}
	each, _ := r.arguments(object.from + m[1])
	return each[0], true
}

// has reports whether a kind of sign was found.
func (r *nodeReader) has(k kind) bool {
	return slices.ContainsFunc(r.signs, func(s sign) bool { return s.kind == k })
}
