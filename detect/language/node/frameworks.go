package node

import (
	"github.com/grpc-cnb/health-probe/detect/address"
	"github.com/grpc-cnb/health-probe/detect/analyzer"
)

// The names of the frameworks in the build plan and for users.
const (
	grpcJS      = "grpc-js"
	nestJS      = "nestjs"
	niceGRPC    = "nice-grpc"
	connectNode = "connect-node"
	mali        = "mali"
	grpcKit     = "grpc-kit"
	midway      = "midway"
	daprJS      = "dapr-js"
)

// No framework registers the health service by itself. The sources of their servers add only the services of the app:
//
//	@grpc/grpc-js  src/server.ts; grpc-health-check has a HealthImplementation to add (packages/grpc-health-check)
//	NestJS         packages/microservices/server/server-grpc.ts; its option onLoadPackageDefinition is given the
//	               server, for grpc-health-check. @nestjs/terminus checks other servers.
//	nice-grpc      packages/nice-grpc/src/server/Server.ts; nice-grpc-server-health has an implementation to add
//	connect-node   packages/connect-node/src/connect-node-adapter.ts
//	Mali           lib/app.js
//	Dapr's SDK     src/implementation/Server/GRPCServer
var frameworks = []analyzer.Framework{
	{
		Name: grpcJS, SpeaksFirst: true, ExplicitCredentials: true,
		Keywords: []string{"grpc", "bindAsync", "addService"},
		Evidence: "`new Server` of `@grpc/grpc-js` or `grpc`, `bindAsync`, `addService`",
		Health:   byImplementation,
		Advice:   addToServer,
	},
	{
		Name: nestJS, SpeaksFirst: true,
		Keywords: []string{"Grpc", "Microservice", "ControllerMethods", "Transport."},
		Evidence: "`createMicroservice` or `connectMicroservice` with `Transport.GRPC`, `@GrpcMethod`",
		Health: "the app, by `HealthImplementation` (in `onLoadPackageDefinition`) or a controller of " +
			"`grpc.health.v1`",
		Advice: "options: { onLoadPackageDefinition: (pkg, server) => { const health = new HealthImplementation(" +
			"{ '': 'SERVING' }); health.addToServer(server); } }, from grpc-health-check",
		Port: analyzer.DefaultPort{
			Number: 5000, Host: address.Loopback, Source: "packages/microservices/constants.ts: GRPC_DEFAULT_URL",
		},
	},
	{
		Name: niceGRPC, SpeaksFirst: true,
		Keywords: []string{"grpc", "HealthDefinition"},
		Evidence: "`createServer` of `nice-grpc`",
		Health:   "the app, by `HealthServiceImpl`",
		Advice:   "server.add(HealthDefinition, HealthServiceImpl()), from nice-grpc-server-health",
	},
	{
		Name:     connectNode,
		Keywords: []string{"connectNodeAdapter", "fastifyConnectPlugin", "http2", ".service("},
		Evidence: "`connectNodeAdapter` or `fastifyConnectPlugin` in a project that serves HTTP/2",
		Health:   "the app, by `router.service(Health, ...)`",
		Advice: "router.service(Health, { check: () => ({ status: HealthCheckResponse_ServingStatus.SERVING }) }), " +
			"with stubs of grpc/health/v1/health.proto",
	},
	{
		Name: mali, SpeaksFirst: true,
		Keywords: []string{`mali"`, "mali'"},
		Evidence: "`new Mali`",
		Health:   "the app, by a service `Health`",
		Advice: "app.addService('grpc/health/v1/health.proto', 'Health'); app.use('Health', 'check', ctx => { " +
			"ctx.res = { status: 'SERVING' } })",
	},
	{
		Name: grpcKit, SpeaksFirst: true,
		Keywords: []string{"grpc"},
		Evidence: "`createServer` of `grpc-kit`",
		Health:   "the app, by a service `Health`",
		Advice: "server.use({ protoPath: 'grpc/health/v1/health.proto', packageName: 'grpc.health.v1', serviceName: " +
			"'Health', routes: { check: async () => ({ status: 'SERVING' }) } })",
	},
	{
		Name: midway, SpeaksFirst: true,
		Keywords: []string{"GRPC"},
		Evidence: "`@Provider(MSProviderType.GRPC)`",
		Health:   "the app, by a provider of `grpc.health.v1`",
		Advice: "@Provider(MSProviderType.GRPC, { package: 'grpc.health.v1' }) class Health { @GrpcMethod() async " +
			"check() { return { status: 1 } } }, with grpc/health/v1/health.proto in grpcServer.services",
		Port:     analyzer.DefaultPort{Number: 6565, Source: "packages/grpc/src/provider/framework.ts"},
		Settings: "`grpcServer` in `config.default.ts`",
	},
	{
		Name: daprJS, SpeaksFirst: true,
		Keywords: []string{"GRPC"},
		Evidence: "`new DaprServer` with `CommunicationProtocolEnum.GRPC`",
		Health:   "nobody: its server takes no further services",
		Advice:   "DaprServer cannot register it: give the probe -mode connect, which asks for a connection alone",
	},
}

const (
	byImplementation = "the app, by `HealthImplementation`, `useHealth` or its own `Health` service"
	addToServer      = "new HealthImplementation({ '': 'SERVING' }).addToServer(server), from grpc-health-check"
)
