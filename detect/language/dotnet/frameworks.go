package dotnet

import "github.com/grpc-cnb/health-probe/detect/analyzer"

const (
	aspNetCore   = "Grpc.AspNetCore"
	codeFirst    = "protobuf-net.Grpc"
	magicOnion   = "MagicOnion"
	serviceStack = "ServiceStack.Grpc"
	grpcCore     = "Grpc.Core"
)

const (
	mapsHealth = "the app, by `MapGrpcHealthChecksService` or `MapGrpcService<HealthServiceImpl>`"
	// healthChecks adds a check because the service answers UNKNOWN without a check (grpc-dotnet,
	// src/Grpc.AspNetCore.HealthChecks/Internal/HealthChecksStatusHelpers.cs).
	healthChecks = "builder.Services.AddGrpcHealthChecks().AddCheck(\"self\", () => HealthCheckResult.Healthy()); " +
		"and app.MapGrpcHealthChecksService(); from the package Grpc.AspNetCore.HealthChecks"
)

const kestrelSettingsFor = "`Kestrel:Endpoints` and `Urls` in `appsettings.json`"

// frameworks are built on the gRPC server of ASP.NET Core, except for Grpc.Core. None registers grpc.health.v1 without
// a call of MapGrpcHealthChecksService or MapGrpcService (grpc-dotnet, src/Grpc.AspNetCore.HealthChecks) or, for
// Grpc.Core, of Health.BindService. MagicOnion 7 (src/MagicOnion.Server) does not name the health service at all.
var frameworks = []analyzer.Framework{
	{
		Name:     aspNetCore,
		Keywords: []string{"Grpc"},
		Evidence: "`MapGrpcService`; `AddGrpc()`, if nothing is mapped; " +
			"in a publish folder, `MapGrpcService` in an assembly of the app's own",
		Health: mapsHealth, Advice: healthChecks, Settings: kestrelSettingsFor,
	},
	{
		Name:     codeFirst,
		Keywords: []string{"Grpc", "use_grpc"},
		Evidence: "`AddCodeFirstGrpc()` with `MapGrpcService`, Saturn's `use_grpc`",
		Health:   mapsHealth, Advice: healthChecks,
	},
	{
		Name:     magicOnion,
		Keywords: []string{"MagicOnion"},
		Evidence: "`MapMagicOnionService()`, `UseMagicOnion()`",
		Health:   mapsHealth, Advice: healthChecks,
	},
	{
		Name:     serviceStack,
		Keywords: []string{"Grpc"},
		Evidence: "`AddServiceStackGrpc()`, `new GrpcFeature`",
		Health:   mapsHealth, Advice: healthChecks,
	},
	{
		Name: grpcCore, SpeaksFirst: true,
		Keywords: []string{"Grpc"},
		Evidence: "`new Server` of Grpc.Core",
		Health:   "the app, by `Health.BindService`",
		Advice: "var health = new HealthServiceImpl(); " +
			"health.SetStatus(\"\", HealthCheckResponse.Types.ServingStatus.Serving); " +
			"server.Services.Add(Grpc.Health.V1.Health.BindService(health)); from the package Grpc.HealthCheck",
	},
}
