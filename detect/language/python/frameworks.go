package python

import (
	"github.com/grpc-cnb/health-probe/detect/address"
	"github.com/grpc-cnb/health-probe/detect/analyzer"
)

const (
	grpcio              = "grpcio"
	grpclib             = "grpclib"
	purerpc             = "purerpc"
	dapr                = "dapr"
	djangoGRPCFramework = "django-grpc-framework"
	djangoSocioGRPC     = "django-socio-grpc"
	rayServe            = "ray-serve"
	arrowFlight         = "arrow-flight"
	flower              = "flower"
	kserve              = "kserve"
	mlserver            = "mlserver"
)

const (
	healthByApp       = "the app, by `add_HealthServicer_to_server`"
	healthByNobody    = "nobody: the framework has no way to"
	registrationByApp = "health_pb2_grpc.add_HealthServicer_to_server(health.HealthServicer(), server), " +
		"from grpc_health.v1 import health, health_pb2_grpc (package grpcio-health-checking)"
)

// frameworks are the known frameworks. By their sources, the servers of dapr/ext/grpc/app.py, django_grpc_framework,
// flwr, kserve/protocol/grpc/server.py and mlserver/grpc/server.py are a grpc.server without a health service;
// grpcrunaioserver.py of django_socio_grpc adds a health service with ENABLE_HEALTH_CHECK.
var frameworks = []analyzer.Framework{
	{
		Name: grpcio, SpeaksFirst: true,
		Keywords: []string{"grpc"},
		Evidence: "`grpc.server`, `grpc.aio.server`, an `add_XServicer_to_server` outside of stubs",
		Health:   healthByApp,
		Advice:   registrationByApp,
	},
	{
		Name: grpclib, SpeaksFirst: true,
		Keywords: []string{"grpc"},
		Evidence: "`grpclib.server.Server`, also under betterproto",
		Health:   "the app, by `grpclib.health.service.Health`",
		Advice:   "Server([..., Health()]), from grpclib.health.service import Health",
	},
	{
		Name:     purerpc,
		Keywords: []string{"purerpc"},
		Evidence: "`purerpc.Server`",
		Health:   "the app, by a servicer of its own",
		Advice: "generate purerpc stubs of grpc/health/v1/health.proto and give the server " +
			"add_service(HealthServicer's service)",
	},
	{
		Name: dapr, SpeaksFirst: true,
		Keywords: []string{"grpc"},
		Evidence: "`App` of `dapr.ext.grpc`",
		Health:   healthByApp,
		Advice: "app.add_external_service(health_pb2_grpc.add_HealthServicer_to_server, health.HealthServicer()), " +
			"from grpcio-health-checking",
	},
	{
		Name: djangoGRPCFramework, SpeaksFirst: true,
		Keywords: []string{"grpc"},
		Evidence: "a subclass of a service of `django_grpc_framework`",
		Health:   healthByApp,
		Advice:   "in the handlers hook: " + registrationByApp,
		Port: analyzer.DefaultPort{
			Number: 50051, Host: address.AllInterfaces, Source: "management/commands/grpcrunserver.py",
		},
	},
	{
		Name: djangoSocioGRPC, SpeaksFirst: true,
		Keywords: []string{"grpc", "GRPC"},
		Evidence: "a subclass of a service of `django_socio_grpc`",
		Health:   "the framework, with `ENABLE_HEALTH_CHECK`",
		Advice:   `GRPC_FRAMEWORK = {"ENABLE_HEALTH_CHECK": True}, in the settings`,
		Settings: "`GRPC_CHANNEL_PORT` of `GRPC_FRAMEWORK`",
		Port: analyzer.DefaultPort{
			Number: 50051, Host: address.AllInterfaces, Source: "django_socio_grpc/settings.py",
		},
	},
	{
		Name: rayServe, SpeaksFirst: true,
		Keywords: []string{"gRPC"},
		Evidence: "`gRPCOptions` of `ray.serve`",
		Health:   "nobody: its proxy answers a check of its own",
		Advice:   connectAdvice("Ray Serve"),
	},
	{
		Name: arrowFlight, SpeaksFirst: true,
		Keywords: []string{"pyarrow"},
		Evidence: "a subclass of `pyarrow.flight.FlightServerBase`",
		Health:   "nobody: pyarrow has no way to",
		Advice:   connectAdvice("pyarrow"),
	},
	{
		Name: flower, SpeaksFirst: true,
		Keywords: []string{"flwr"},
		Evidence: "`flwr.server.start_server`",
		Health:   healthByNobody,
		Advice:   connectAdvice("Flower"),
	},
	{
		Name: kserve, SpeaksFirst: true,
		Keywords: []string{"kserve"},
		Evidence: "`kserve.ModelServer`, without `enable_grpc=False`",
		Health:   healthByNobody,
		Advice:   connectAdvice("KServe"),
		Port: analyzer.DefaultPort{
			Number: 8081, Host: address.AllInterfaces, Source: "python/kserve/kserve/model_server.py",
		},
	},
	{
		Name: mlserver, SpeaksFirst: true,
		Keywords: []string{"mlserver"},
		Evidence: "a subclass of `mlserver.MLModel`",
		Health:   healthByNobody,
		Advice:   connectAdvice("MLServer"),
		Port:     analyzer.DefaultPort{Number: 8081, Source: "mlserver/settings.py"},
		Settings: "`grpc_port` in `settings.json`",
	},
}

func connectAdvice(framework string) string {
	return framework + " cannot register it: give the probe -mode connect, which asks for a connection alone"
}
