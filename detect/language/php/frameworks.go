package php

import "github.com/grpc-cnb/health-probe/detect/analyzer"

const (
	roadRunner = "roadrunner"
	hyperf     = "hyperf"
	openSwoole = "openswoole"
	grpcPHP    = "grpc-php"
)

// frameworks differ in the registration of the health service:
//
//	RoadRunner 1       nobody: spiral/php-grpc, whose workers have the classes of Spiral\GRPC
//	RoadRunner 2, 3    the gRPC plugin, from v2.10.0 on (health_server.go of roadrunner-server/grpc). The program is
//	                   downloaded, in the newest version that composer.json permits; what holds it back is heeded. The
//	                   version in .rr.yaml is that of the settings, and 2.7 stands for each RoadRunner from 2.7 to
//	                   2.12 (plugin.go of roadrunner-server/config).
//	hyperf/grpc-server nobody (src/grpc-server/src/Server.php and CoreMiddleware.php of hyperf/hyperf)
//	openswoole/grpc    nobody (src/Server.php)
//	grpc/grpc          nobody (src/php/lib/Grpc/RpcServer.php)
var frameworks = []analyzer.Framework{
	{
		Name: roadRunner, SpeaksFirst: true,
		Keywords: []string{"GRPC", "grpc"},
		Settings: "`.rr.yaml`",
		Evidence: "a `grpc:` section with `listen` in `.rr.yaml`, `GRPC\\Server`, `GRPCBootloader`",
		Health: "RoadRunner, whose gRPC plugin does from v2.10.0 on, unless composer.json holds `spiral/roadrunner` " +
			"below 2.10",
		Advice: "run the app with RoadRunner 2.10 or newer, with its workers on spiral/roadrunner-grpc: it registers " +
			"grpc.health.v1 itself",
	},
	{
		Name:     hyperf,
		Keywords: []string{"Grpc"},
		Evidence: "`Hyperf\\GrpcServer\\Server` as a server's callback",
		Health:   "the app, by a route `/grpc.health.v1.Health`",
		Advice: "Router::addServer('grpc', function () { Router::post('/grpc.health.v1.Health/Check', " +
			"[App\\Grpc\\Health::class, 'check']); }), where check returns a " +
			"\\Grpc\\Health\\V1\\HealthCheckResponse with status 1",
	},
	{
		Name:     openSwoole,
		Keywords: []string{"GRPC"},
		Evidence: "`new OpenSwoole\\GRPC\\Server`",
		Health:   "the app, by a class that implements `HealthInterface`, or `register(HealthService::class)`",
		Advice: "$server->register(HealthService::class), a class that implements the " +
			"\\Grpc\\Health\\V1\\HealthInterface generated of grpc/health/v1/health.proto",
	},
	{
		Name: grpcPHP, SpeaksFirst: true,
		Keywords: []string{"Grpc"},
		Evidence: "`new Grpc\\RpcServer`",
		Health:   "the app, by a class that extends `HealthStub`, or `handle(new HealthService())`",
		Advice: "$server->handle(new HealthService()), a class that extends the " +
			"\\Grpc\\Health\\V1\\HealthStub generated of grpc/health/v1/health.proto",
	},
}
