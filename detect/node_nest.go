package detect

import (
	"bytes"
	"regexp"
)

var (
	nodeMicroservice = regexp.MustCompile(`\b(?:create|connect)Microservice\s*(?:<[^()]*?>)?\(`)
	nodeTransport    = regexp.MustCompile(`\bTransport\.(?P<name>\w+)`)
	// nodeNestClient is what takes options to call with, not to serve with.
	nodeNestClient = regexp.MustCompile(`\bClientsModule\.register(?:Async)?\(|@Client\(|` +
		`\bClientProxyFactory\.create\(|\bnew\s+(?:[\w$]+\.)*ClientGrpc(?:Proxy)?\(`)
	// nodeNestClientOptions are types of options that are a client's alone. ClientOptions is not: NestJS's own sample
	// serves with them.
	nodeNestClientOptions = regexp.MustCompile(`\bClients?(?:ModuleOptionsFactory|` +
		`Provider\w*Options|ProvidersModuleOptions|ModuleOptions|Provider)\b`)
	nodeCompared      = regexp.MustCompile(`(?:\bcase|==)\s*(?:[\w$]+\.)*$`)
	nodeURL           = regexp.MustCompile(`\burl\s*:\s*`)
	nodeHealthPackage = regexp.MustCompile(`["'](?P<name> *)["']|\bGRPC_HEALTH_V1_PACKAGE_NAME\b`)
)

// nodeNestPort is where NestJS listens when it is not told (GRPC_DEFAULT_URL in packages/microservices/constants.ts).
const nodeNestPort = 5000

// nest takes NestJS's microservices: the call that makes one, if its options or others of the file say Transport.GRPC.
func (r *nodeReader) nest() {
	if !bytes.Contains(r.code, []byte("Transport.GRPC")) && !bytes.Contains(r.code, []byte("Microservice")) {
		return
	}
	clients := r.calls(nodeNestClient)
	servers := r.calls(nodeMicroservice)
	grpc, others := r.transports(clients)
	var unknown []span
	for _, server := range servers {
		switch {
		case nodeAny(grpc, server):
			r.nestServer(server)
		case !nodeAny(others, server) && !r.says(server, "strategy"):
			unknown = append(unknown, server)
		}
	}
	elsewhere := nodeOutside(grpc, servers)
	switch {
	case len(unknown) > 0 && len(elsewhere) > 0:
		r.add(sign{kind: constructs, framework: "nestjs"}, unknown[0])
	case len(unknown) > 0 && len(nodeOutside(others, servers)) == 0 && !r.bundled:
		r.add(sign{kind: nodeNestServes, framework: "nestjs"}, unknown[0])
	}
	r.nestOptions(elsewhere)
	if len(grpc) > 0 {
		r.nestHealth(clients)
	}
}

// calls returns the calls that a pattern finds, from their names to their last brackets.
func (r *nodeReader) calls(pattern *regexp.Regexp) []span {
	var spans []span
	for _, m := range pattern.FindAllIndex(r.code, -1) {
		_, all := r.arguments(m[1])
		spans = append(spans, span{m[0], all.to})
	}
	return spans
}

// transports returns where the file names Transport.GRPC and others, outside of clients' options and of comparisons.
func (r *nodeReader) transports(clients []span) (grpc, others []int) {
	for _, m := range nodeTransport.FindAllSubmatchIndex(r.code, -1) {
		if nodeIn(clients, m[0]) || nodeCompared.Match(r.code[max(0, m[0]-60):m[0]]) {
			continue
		}
		if r.part(nodeTransport, m, "name") == "GRPC" {
			grpc = append(grpc, m[0])
		} else {
			others = append(others, m[0])
		}
	}
	return grpc, others
}

// nestServer takes a microservice whose options are written in the call.
func (r *nodeReader) nestServer(call span) {
	r.add(sign{kind: constructs, framework: "nestjs"}, call)
	if url, ok := r.member(call, nodeURL); ok {
		r.port(listens, url)
	} else if !r.says(call, "...") && !r.says(call, "url") {
		r.signs = append(r.signs, sign{kind: listens, port: nodeNestPort})
	}
}

// nestOptions takes options that a variable or a function holds.
func (r *nodeReader) nestOptions(at []int) {
	if len(at) == 0 || nodeNestClientOptions.Match(r.code) {
		return
	}
	r.signs = append(r.signs, sign{kind: nodeNestOptions, line: r.line(at[0])})
	for _, from := range at {
		_, all := r.arguments(from)
		if url, ok := r.member(all, nodeURL); ok {
			r.port(listens, url)
		}
	}
}

// nestHealth takes the name of the health service's package in a server's options.
func (r *nodeReader) nestHealth(clients []span) {
	for _, m := range nodeHealthPackage.FindAllSubmatchIndex(r.code, -1) {
		name, quoted := r.group(nodeHealthPackage, m, "name")
		if (!quoted || name == "grpc.health.v1") && !nodeIn(clients, m[0]) {
			r.add(sign{kind: health}, span{m[0], m[1]})
			return
		}
	}
}

func (r *nodeReader) says(part span, word string) bool {
	return bytes.Contains(r.code[part.from:part.to], []byte(word))
}

func nodeIn(spans []span, at int) bool {
	for _, s := range spans {
		if s.holds(at) {
			return true
		}
	}
	return false
}

func nodeAny(at []int, part span) bool { return len(at) > len(nodeOutside(at, []span{part})) }

func nodeOutside(at []int, spans []span) []int {
	var outside []int
	for _, a := range at {
		if !nodeIn(spans, a) {
			outside = append(outside, a)
		}
	}
	return outside
}
