package detect

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

func init() {
	register(language{
		name:       "csharp",
		title:      "C#",
		also:       map[string]string{"fsharp": "F#", "vb": "VB"},
		frameworks: dotnetFrameworks,
		wants:      dotnetWants,
		look:       dotnetLook,
		conclude:   dotnetConclude,
	})
}

// The gRPC server of ASP.NET Core is under all frameworks but Grpc.Core. None of them registers grpc.health.v1: only
// MapGrpcHealthChecksService and MapGrpcService do (grpc-dotnet, src/Grpc.AspNetCore.HealthChecks), or for Grpc.Core
// Health.BindService.
var dotnetFrameworks = []framework{
	{dotnetAspNetCore, "`MapGrpcService`; `AddGrpc()` or an implementation of a generated `XBase`, where nothing maps it; in a " +
		"publish folder, `MapGrpcService` in an assembly of the app's own", dotnetMapsHealth, dotnetHealthChecks},
	{dotnetCodeFirst, "`AddCodeFirstGrpc()` with `MapGrpcService`, Saturn's `use_grpc`", dotnetMapsHealth, dotnetHealthChecks},
	{dotnetMagicOnion, "`MapMagicOnionService()`, `UseMagicOnion()`", dotnetMapsHealth, dotnetHealthChecks},
	{dotnetServiceStack, "`AddServiceStackGrpc()`, `new GrpcFeature`", dotnetMapsHealth, dotnetHealthChecks},
	{dotnetCore, "`new Server` of Grpc.Core", "the app, by `Health.BindService`",
		"var health = new HealthServiceImpl(); health.SetStatus(\"\", HealthCheckResponse.Types.ServingStatus.Serving); " +
			"server.Services.Add(Grpc.Health.V1.Health.BindService(health)); from the package Grpc.HealthCheck"},
}

const (
	dotnetAspNetCore   = "Grpc.AspNetCore"
	dotnetCodeFirst    = "protobuf-net.Grpc"
	dotnetMagicOnion   = "MagicOnion"
	dotnetServiceStack = "ServiceStack.Grpc"
	dotnetCore         = "Grpc.Core"

	dotnetMapsHealth = "the app, by `MapGrpcHealthChecksService` or `MapGrpcService<HealthServiceImpl>`"
	// Without a check the service answers UNKNOWN (src/Grpc.AspNetCore.HealthChecks/Internal/HealthChecksStatusHelpers.cs).
	dotnetHealthChecks = "builder.Services.AddGrpcHealthChecks().AddCheck(\"self\", () => HealthCheckResult.Healthy()); and " +
		"app.MapGrpcHealthChecksService(); from the package Grpc.AspNetCore.HealthChecks"
)

// dotnetLanguages are the plan's names of the languages, by the ending of their sources.
var dotnetLanguages = map[string]string{".cs": "csharp", ".fs": "fsharp", ".vb": "vb"}

// dotnetSettings are the settings files that count in production. Properties/launchSettings.json is for `dotnet run` alone
// and is not published.
var dotnetSettings = []string{"appsettings.json", "appsettings.Production.json"}

// dotnetTests is a test project's folder, or a test's file, by .NET's naming: Shop.Tests, Shop.UnitTests, ShopTests, tests.
// A folder GrpcTest may be somebody's first server: its project file tells.
var dotnetTests = regexp.MustCompile(`(?:^|[/._-])(?i:tests?|testing|testdata|(?:unit|integration|functional|acceptance|e2e)tests?)` +
	`(?:/|\.\w+$)|[a-z0-9]Tests(?:/|\.\w+$)`)

// dotnetBuilds are folders of what the compiler writes. Only of publish folders, which lie in bin, anything is wanted.
var dotnetBuilds = regexp.MustCompile(`(?:^|/)(?:[Bb]in|[Oo]bj)/`)

// dotnetGenerated are the endings of files that tools write.
var dotnetGenerated = []string{".g.cs", ".g.i.cs", ".designer.cs", ".generated.cs", ".designer.vb", ".g.vb"}

func dotnetWants(p string) bool {
	switch path.Ext(p) {
	case ".cs", ".fs", ".vb":
		lower := strings.ToLower(p)
		return !dotnetTests.MatchString(p) && !dotnetBuilds.MatchString(p) &&
			!slices.ContainsFunc(dotnetGenerated, func(end string) bool { return strings.HasSuffix(lower, end) })
	case ".csproj", ".fsproj", ".vbproj":
		return !dotnetBuilds.MatchString(p)
	case ".json":
		if strings.HasSuffix(p, ".deps.json") {
			return !dotnetTests.MatchString(path.Dir(p) + "/")
		}
		return slices.Contains(dotnetSettings, path.Base(p)) && !dotnetTests.MatchString(p)
	}
	return false
}

func dotnetLook(f *file) (*sheet, error) {
	text, err := f.text()
	if err != nil {
		return nil, err
	}
	switch ext := path.Ext(f.path); {
	case dotnetLanguages[ext] != "":
		return dotnetSource(ext, text), nil
	case strings.HasSuffix(f.path, ".deps.json"):
		return dotnetPublished(f, text)
	case ext == ".json":
		return dotnetSettingsFile(text)
	default:
		return dotnetProjectFile(text)
	}
}
