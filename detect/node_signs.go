package detect

import "regexp"

// The kinds of signs in Node.js sources that what lies around them makes general ones of, or nothing.
const (
	nodeConnects    kind = ownKinds + iota // connect's handlers are made: gRPC too, if over HTTP/2
	nodeHTTP2                              // HTTP/2 is served
	nodeNestServes                         // a NestJS microservice whose options stand elsewhere
	nodeNestOptions                        // NestJS options with Transport.GRPC, for a server or a client
	nodeListensHTTP                        // a port is named, for an HTTP server
)

// nodeUse is how a name is used.
type nodeUse int

const (
	nodeCalled   nodeUse = iota // name(...)
	nodeMade                    // new name(...)
	nodeExtended                // class ... extends name
)

// nodeAPI are the names that decide, by module. The health behaviour is the frameworks' own: nice-grpc
// (packages/nice-grpc/src/server/Server.ts), mali (lib/app.js), connect-node, dapr's js-sdk
// (src/implementation/Server/GRPCServer) and @nestjs/microservices (server-grpc.ts) add the app's services alone.
var nodeAPI = []struct {
	module *regexp.Regexp
	name   *regexp.Regexp
	use    nodeUse
	sign   sign
}{
	{nodeGRPC, exactly(`(?:grpc\.)?(?:Server|XdsServer)`), nodeMade, sign{kind: constructs, framework: "grpc-js"}},
	{nodeGRPC, exactly(`(?:grpc\.)?(?:Server|XdsServer)`), nodeExtended, sign{kind: registers, framework: "grpc-js"}},
	{exactly(`nice-grpc`), exactly(`createServer`), nodeCalled, sign{kind: constructs, framework: "nice-grpc"}},
	{exactly(`mali|@malijs/mali`), exactly(`(?:Mali)?`), nodeMade, sign{kind: constructs, framework: "mali"}},
	{exactly(`grpc-kit`), exactly(`createServer`), nodeCalled, sign{kind: constructs, framework: "grpc-kit"}},
	{nodeNest, exactly(`Grpc(?:StreamMethod|StreamCall|Method)`), nodeCalled, sign{kind: registers, framework: "nestjs"}},
	{nodeNest, exactly(`ServerGrpc`), nodeMade, sign{kind: registers, framework: "nestjs"}},
	{nodeNest, exactly(`ServerGrpc`), nodeExtended, sign{kind: registers, framework: "nestjs"}},
	{exactly(`@(?:connectrpc|bufbuild)/connect-node`), exactly(`connectNodeAdapter`), nodeCalled,
		sign{kind: nodeConnects, framework: "connect-node"}},
	{exactly(`http2`), exactly(`createServer|createSecureServer`), nodeCalled, sign{kind: nodeHTTP2}},
	{exactly(`(?:@[\w-]+/)?[\w-]*grpc[\w-]*health[\w-]*`), exactly(`(?:[Hh]ealth\.)?Implementation|GrpcHealthCheck`), nodeMade,
		sign{kind: health}},
	{exactly(`nice-grpc-server-health`), exactly(`HealthServiceImpl`), nodeCalled, sign{kind: health}},
}

var (
	nodeGRPC    = exactly(`grpc|@grpc/grpc-js(?:/.*)?|@grpc/grpc-js-xds|google-gax`)
	nodeNest    = exactly(`@nestjs/microservices(?:/.*)?`)
	nodeFastify = exactly(`fastify|@nestjs/platform-fastify`)
)

// nodeNamed are names whose import the file does not show, since a wrapper of the app's own has it, or a bundler took it
// away: grpc.Server, what TypeScript and esbuild call nice-grpc and connect-node, and the adapter's own name.
var nodeNamed = []struct {
	use    nodeUse
	end    string // of every name that fits
	dotted *regexp.Regexp
	stands nodeName
}{
	{nodeMade, "Server", regexp.MustCompile(`(?i:(?:^|\.)_?grpc\w*)\.(?:default\.)?Server$`), nodeName{"grpc", "Server"}},
	{nodeCalled, "createServer", exactly(`(?:import_)?nice_grpc\w*\.createServer`), nodeName{"nice-grpc", "createServer"}},
	{nodeCalled, "connectNodeAdapter", exactly(`(?:(?:import_)?connect_node\w*\.)?connectNodeAdapter`),
		nodeName{"@connectrpc/connect-node", "connectNodeAdapter"}},
}

const nodeDotted = `[\w$]+(?:\s*\.\s*[\w$]+)*`

// nodeClues are what is told by the way it is written alone.
var nodeClues = []clue{
	// Decorators that ts-proto generates for controllers (nestJs=true), and the constants that it names packages with.
	{code: regexp.MustCompile(`@HealthControllerMethods\(`), sign: sign{kind: health}},
	{code: regexp.MustCompile(`@\w+ControllerMethods\(\)`), imports: exactly(`@nestjs/.*`), sign: sign{kind: registers, framework: "nestjs"}},
	{code: regexp.MustCompile(`\bGrpcMethod\(\s*["'](?P<literal> *)["']`), literal: regexp.MustCompile(`^Health$`), sign: sign{kind: health}},
	{code: regexp.MustCompile(`@Provider\(\s*MSProviderType\.GRPC\b`), sign: sign{kind: registers, framework: "midway"}},
	{code: regexp.MustCompile(`@Provider\(\s*MSProviderType\.GRPC\s*,\s*\{\s*package\s*:\s*["'](?P<literal> *)["']`),
		literal: regexp.MustCompile(`^grpc\.health\.v1$`), sign: sign{kind: health}},
	{code: regexp.MustCompile(`\bnew\s+(?:[\w$]+\.)*HealthImplementation\(`), sign: sign{kind: health}},
	// nice-grpc's server and connect's router.
	{code: regexp.MustCompile(`\.add\(\s*(?:[\w$]+\.)*Health(?:Service)?Definition\s*,`), sign: sign{kind: health}},
	{code: regexp.MustCompile(`\.service\(\s*(?:[\w$]+\.)*Health\s*,`), sign: sign{kind: health}},
	{code: regexp.MustCompile(`["'](?P<literal> *)["']`), literal: regexp.MustCompile(`^(?:grpc\.health\.v1\.)?Health$`),
		imports: exactly(`mali|@malijs/mali|grpc-kit`), sign: sign{kind: health}},
	// fastify({ http2: true })
	{code: regexp.MustCompile(`\bhttp2\s*:\s*(?:true|!0)`), imports: nodeFastify, sign: sign{kind: nodeHTTP2}},
	{code: regexp.MustCompile(`\.register\(\s*(?P<at>(?:[\w$]+\.)*fastifyConnectPlugin)\b`),
		sign: sign{kind: nodeConnects, framework: "connect-node"}},
}
