package detect

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"
)

func init() {
	register(language{
		name:       "node",
		title:      "Node.js",
		also:       map[string]string{"typescript": "TypeScript"},
		frameworks: nodeFrameworks,
		wants:      nodeWants,
		look:       nodeLook,
		conclude:   nodeConclude,
	})
}

var nodeFrameworks = []framework{
	{"grpc-js", "`new Server` of `@grpc/grpc-js` or `grpc`, `bindAsync`, `addService`", nodeByHand, nodeRegistration},
	{"nestjs", "`createMicroservice` or `connectMicroservice` with `Transport.GRPC`, `@GrpcMethod`",
		"the app, by `HealthImplementation` or a controller of `grpc.health.v1`",
		"options: { onLoadPackageDefinition: (pkg, server) => { const health = new HealthImplementation({ '': 'SERVING' }); " +
			"health.addToServer(server); } }, from grpc-health-check"},
	{"nice-grpc", "`createServer` of `nice-grpc`", "the app, by `HealthServiceImpl`",
		"server.add(HealthDefinition, HealthServiceImpl()), from nice-grpc-server-health"},
	{"connect-node", "`connectNodeAdapter` or `fastifyConnectPlugin` in a project that serves HTTP/2",
		"the app, by `router.service(Health, ...)`",
		"router.service(Health, { check: () => ({ status: HealthCheckResponse_ServingStatus.SERVING }) }), with stubs of " +
			"grpc/health/v1/health.proto"},
	{"mali", "`new Mali`", "the app, by a service `Health`",
		"app.addService('grpc/health/v1/health.proto', 'Health'); app.use('Health', 'check', ctx => { ctx.res = { status: " +
			"'SERVING' } })"},
	{"grpc-kit", "`createServer` of `grpc-kit`", "the app, by a service `Health`",
		"server.use({ protoPath: 'grpc/health/v1/health.proto', packageName: 'grpc.health.v1', serviceName: 'Health', " +
			"routes: { check: async () => ({ status: 'SERVING' }) } })"},
	{"midway", "`@Provider(MSProviderType.GRPC)`", "the app, by a provider of `grpc.health.v1`",
		"@Provider(MSProviderType.GRPC, { package: 'grpc.health.v1' }) class Health { @GrpcMethod() async check() { return " +
			"{ status: 1 } } }, with grpc/health/v1/health.proto in grpcServer.services"},
	{"dapr-js", "`new DaprServer` with `CommunicationProtocolEnum.GRPC`", nodeByHand,
		"serve it beside DaprServer, which cannot register it: " + nodeRegistration},
}

const (
	nodeByHand       = "the app, by `HealthImplementation` or its own `Health` service"
	nodeRegistration = "new HealthImplementation({ '': 'SERVING' }).addToServer(server), from grpc-health-check"
)

// nodeNotOwn are folders whose code is in no program of the app: tests and what serves them. The walk itself leaves out
// node_modules.
var nodeNotOwn = []string{"test", "tests", "__tests__", "spec", "specs", "__specs__", "e2e", "cypress", "playwright", "mock",
	"mocks", "__mocks__", "mock-server", "mock_server", "mockserver", "fixtures", "__fixtures__", "testdata", "testing",
	"test-utils", "testutils", "integration-tests", "bower_components", "jspm_packages"}

// nodeNotOwnFile are ends of names, without their extensions, of tests, mocks, declarations, stubs (of protoc's plugins
// for JavaScript, protoc-gen-es and connect) and minified browser libraries.
var nodeNotOwnFile = []string{".test", "-test", "_test", ".spec", "-spec", "_spec", ".e2e", "-e2e", ".mock", "-mock", "_mock",
	".stories", ".d", "_pb", ".pb", "_connect", "_connectweb", "_connectquery", ".min"}

// nodeOutput are folders that compilers and bundlers write.
var nodeOutput = []string{"dist", "build", "out", "output", "bundle"}

func nodeWants(p string) bool {
	switch path.Ext(p) {
	case ".js", ".mjs", ".cjs", ".ts", ".mts", ".cts":
	case ".json":
		if path.Base(p) != "package.json" {
			return false
		}
	default:
		return false
	}
	if inOneOf(p, nodeNotOwn) {
		return false
	}
	name := path.Base(p)
	stem := strings.TrimSuffix(name, path.Ext(name))
	return !strings.HasPrefix(stem, "mock-") && !strings.HasPrefix(stem, "mock.") &&
		!slices.ContainsFunc(nodeNotOwnFile, func(end string) bool { return strings.HasSuffix(stem, end) })
}

func nodeLook(f *file) (*sheet, error) {
	text, err := f.text()
	if err != nil {
		return nil, err
	}
	output := nodeIsOutput(f.path)
	if path.Base(f.path) == "package.json" {
		return nodePackage(text, output)
	}
	signs := nodeSource(text)
	if len(signs) == 0 {
		return nil, nil
	}
	return &sheet{signs: signs, built: output}, nil
}

// nodeIsOutput reports whether a file is what a compiler or a bundler wrote.
func nodeIsOutput(p string) bool {
	return inOneOf(p, nodeOutput)
}

// nodePackage says whether a package.json is a project's. One that only sets the module system of a folder ({"type":
// "module"}) is not, nor is one in a folder of output.
func nodePackage(text []byte, output bool) (*sheet, error) {
	var manifest map[string]json.RawMessage
	if err := json.Unmarshal(bytes.TrimPrefix(text, []byte("\ufeff")), &manifest); err != nil {
		return &sheet{root: !output}, fmt.Errorf("reading it as a project of no known content: %w", err)
	}
	_, named := manifest["name"]
	_, depends := manifest["dependencies"]
	_, runs := manifest["scripts"]
	if output || !named && !depends && !runs {
		return nil, nil
	}
	return &sheet{root: true}, nil
}
