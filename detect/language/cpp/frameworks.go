package cpp

import "github.com/grpc-cnb/health-probe/detect/analyzer"

const (
	grpcPlusPlus = "grpc++"
	userver      = "userver"
)

// No framework registers grpc.health.v1 automatically: in grpc++ (src/cpp/server/health/health_check_service.cc) the
// service is off by default, and in userver (grpc/handlers/include/userver/ugrpc/server/health/component.hpp) an app
// appends the component.
var frameworks = []analyzer.Framework{
	{
		Name: grpcPlusPlus, SpeaksFirst: true,
		Keywords: []string{
			"BuildAndStart", "ServerBuilder", ".grpc.pb.h", "HealthCheckRe", "HealthCheckService", "AddListeningPort",
		},
		Evidence: "`BuildAndStart()` of a `grpc::ServerBuilder`; if nothing calls it, " +
			"`RegisterService`; in a built program, the symbol of `BuildAndStart`",
		Health: "the app, by `grpc::EnableDefaultHealthCheckService(true)`",
		Advice: "grpc::EnableDefaultHealthCheckService(true); before the server is built, from " +
			"<grpcpp/health_check_service_interface.h>",
	},
	{
		Name: userver, SpeaksFirst: true,
		Keywords: []string{"ugrpc"},
		Evidence: "`ugrpc::server::ServerComponent`",
		Settings: "`static_config.yaml`",
		Health:   "the app, by `ugrpc::server::HealthComponent`",
		Advice: ".Append<ugrpc::server::HealthComponent>() to the component list, from " +
			"<userver/ugrpc/server/health/component.hpp>, and its section in the static config",
	},
}
