package rust

import "github.com/grpc-cnb/health-probe/detect/analyzer"

// The names of the frameworks.
const (
	tonic      = "tonic"
	volo       = "volo"
	grpcio     = "grpcio"
	poemGRPC   = "poem-grpc"
	connectRPC = "connectrpc"
	grpcRust   = "grpc-rust"
	thruster   = "thruster-grpc"
)

const healthByApp = "the app, by `HealthServer`"

// frameworks are the known facts of each framework. No framework registers grpc.health.v1 unasked:
// transport/server/mod.rs of tonic, server/mod.rs of volo-grpc, server.rs of grpcio, route.rs of poem-grpc, server.rs
// of connectrpc and server.rs of thruster-grpc add only the given services.
var frameworks = []analyzer.Framework{
	{
		Name:     tonic,
		Keywords: []string{"tonic", "Server::builder", "health", "into_axum_router"},
		Evidence: "`Server::builder` of `tonic::transport`; `tonic::service::Routes`; " +
			"`into_axum_router` in a file that serves with axum; `add_service` in a file of tonic's; " +
			"a generated server in a file that serves `application/grpc` " +
			"with hyper or axum",
		Health: "the app, by `tonic_health::server::health_reporter`",
		Advice: "let (reporter, health) = tonic_health::server::health_reporter(); " +
			"reporter.set_serving::<YourServer<YourService>>().await; and .add_service(health), " +
			"with the crate tonic-health",
	},
	{
		Name:     volo,
		Keywords: []string{"grpc"},
		Evidence: "`Server::new`, `ServiceBuilder::new` of `volo_grpc::server`",
		Health:   healthByApp,
		Advice: "generate code from grpc/health/v1/health.proto with volo-build, implement its Health trait, and " +
			".add_service(ServiceBuilder::new(HealthServer::new(YourHealth)).build())",
	},
	{
		Name: grpcio, SpeaksFirst: true,
		Keywords: []string{"grpc"},
		Evidence: "`ServerBuilder::new` of `grpcio`",
		Health:   "the app, by `grpcio_health::create_health`",
		Advice: "let health = grpcio_health::HealthService::default(); " +
			"health.set_serving_status(\"\", grpcio_health::ServingStatus::Serving); and " +
			".register_service(grpcio_health::create_health(health)), with the crate grpcio-health",
	},
	{
		Name:     poemGRPC,
		Keywords: []string{"grpc"},
		Evidence: "`RouteGrpc::new`",
		Health:   "the app, by `poem_grpc::health_service`",
		Advice: "let (health, reporter) = poem_grpc::health_service(); " +
			"reporter.set_serving::<YourServer<YourService>>(); and .add_service(health); " +
			"it knows each service by name, so probe with -service",
	},
	{
		Name:     connectRPC,
		Keywords: []string{"connectrpc"},
		Evidence: "`Server` of `connectrpc`, which serves HTTP/2",
		Health:   "the app, by `connectrpc_health`",
		Advice:   "give the server's router the health service of the crate connectrpc-health, by its install_static",
	},
	{
		Name:     grpcRust,
		Keywords: []string{"grpc"},
		Evidence: "`ServerBuilder` of the crate `grpc`",
		Health:   healthByApp,
		Advice: "generate code from grpc/health/v1/health.proto, implement its Health trait, and " +
			"server.add_service(HealthServer::new_service_def(YourHealth))",
	},
	{
		Name:     thruster,
		Keywords: []string{"grpc"},
		Evidence: "`ProtoServer::new` of `thruster_grpc::server`",
		Health:   "the app, by a handler of `/grpc.health.v1.Health/Check`",
		Advice: "generate code from grpc/health/v1/health.proto with prost-build, and " +
			"app.post(\"/grpc.health.v1.Health/Check\", async_middleware!(Ctx, [your_check]))",
	},
}
