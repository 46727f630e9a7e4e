package python

import (
	"regexp"

	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/source"
)

// webServerConstructed is a server of sonora, which serves registered services by gRPC-Web alone.
const webServerConstructed analyzer.Kind = "python: gRPC-Web server constructed"

// rule says what the use of a name proves.
type rule struct {
	// name is matched against the full name, as the imports resolve it.
	name *regexp.Regexp
	// use is how the name has to be used; mentioned allows all uses.
	use use
	// finding is the finding, without its line and excerpt. A finding without a kind is for a name that proves nothing,
	// although a later rule matches it too.
	finding analyzer.Finding
}

var (
	healthRegistered = analyzer.Finding{Kind: analyzer.HealthRegistered}
	webServer        = analyzer.Finding{Kind: webServerConstructed}
	nothing          = analyzer.Finding{}
	// serviceImplemented is a subclass of a generated servicer: the app, or a user of this library, registers it.
	serviceImplemented = analyzer.Finding{Kind: analyzer.ServiceImplemented, Framework: grpcio}
)

// rules are the names that prove something. The first rule that fits a name decides.
var rules = []rule{
	{source.Exactly(`grpc(\.experimental)?(\.aio)?\.server`), called, serverConstructed(grpcio)},
	{source.Exactly(`.*_pb2\.beta_create_\w+_server`), called, serverConstructed(grpcio)},
	{source.Exactly(`grpclib\.server\.Server`), called, serverConstructed(grpclib)},
	{source.Exactly(`purerpc(\.server)?\.Server`), called, serverConstructed(purerpc)},
	{source.Exactly(`dapr\.ext\.grpc(\.app)?\.App`), called, serverConstructed(dapr)},
	{source.Exactly(`ray\.serve(\.config)?\.gRPCOptions`), called, serverConstructed(rayServe)},
	{source.Exactly(`flwr\.server(\.app)?\.start_server`), called, serverConstructed(flower)},
	{source.Exactly(`kserve(\.model_server)?\.ModelServer`), called, serverConstructed(kserve)},
	{source.Exactly(`pyarrow\.flight\.FlightServerBase`), inherited, serviceServed(arrowFlight)},
	{source.Exactly(`mlserver\.(model\.)?MLModel`), inherited, serviceServed(mlserver)},
	{source.Exactly(`django_grpc_framework\.(\w+\.)*\w*Service`), inherited, serviceServed(djangoGRPCFramework)},
	{source.Exactly(`django_socio_grpc\.(\w+\.)*\w*Service`), inherited, serviceServed(djangoSocioGRPC)},
	{source.Exactly(`sonora\.(asgi\.grpcASGI|wsgi\.grpcWSGI)`), mentioned, webServer},
	{source.Exactly(`grpclib\.health\.service\.Health`), called, healthRegistered},
	// Who makes one gives it to a server, if not by add_HealthServicer_to_server then by a helper.
	{source.Exactly(`grpc_health\.v1\.(health|_async)\.(aio\.)?HealthServicer`), called, healthRegistered},
	{source.Exactly(`(.*\.)?health(_grpc|\.v1|\.v1\.health_grpc)\.HealthBase`), inherited, healthRegistered},
	{source.Exactly(`(.*\.)?add_HealthServicer_to_server`), mentioned, healthRegistered},
	{source.Exactly(`(.*\.)?add_\w+Servicer_to_server`), mentioned, serviceRegistered(grpcio)},
	{source.Exactly(`grpc_health\..*|.*health_pb2_grpc\.HealthServicer`), inherited, nothing},
	{source.Exactly(`.*_pb2_grpc\.\w+Stub`), inherited, nothing},
	{source.Exactly(`.*_pb2_grpc\.\w+`), inherited, serviceImplemented},
}

func serverConstructed(framework string) analyzer.Finding {
	return analyzer.Finding{Kind: analyzer.ServerConstructed, Framework: framework}
}

func serviceRegistered(framework string) analyzer.Finding {
	return analyzer.Finding{Kind: analyzer.ServiceRegistered, Framework: framework}
}

// serviceServed is an implementation for which the framework makes a server: mlserver serves the models of its
// settings, the Django frameworks have a management command, and a FlightServerBase is a server itself.
func serviceServed(framework string) analyzer.Finding {
	return analyzer.Finding{Kind: analyzer.ServiceImplemented, Framework: framework, FrameworkServes: true}
}

// possibleName matches the names that the rules may know although the file does not import their first part, because
// they need no module before them or come from a wildcard import.
var possibleName = regexp.MustCompile(`Servicer|_server$|^Server$`)

// evidence returns what the use of a name proves, if anything.
func evidence(i imports, name string, how use) (analyzer.Finding, bool) {
	for _, full := range i.resolve(name) {
		for _, r := range rules {
			if (r.use == mentioned || r.use == how) && r.name.MatchString(full) {
				f := r.finding
				f.ImportPath = full
				return f, f.Kind != ""
			}
		}
	}
	return analyzer.Finding{}, false
}

// genericHealth is a handler of the health service by its name, without generated code. An app may write the service
// by hand so.
var genericHealth = analyzer.Rule{
	Code:    regexp.MustCompile(`\bmethod_handlers_generic_handler\s*\(\s*["'](?P<literal>[ ]+)["']`),
	Literal: source.Exactly(`grpc\.health\.v1\.Health`),
	Finding: healthRegistered,
}

// settings are what Django's settings say. django_socio_grpc/settings.py registers no health service by default.
var settings = []analyzer.Rule{genericHealth, {
	Code:    regexp.MustCompile(`["'](?P<literal>[ ]+)["']\s*:\s*True\b`),
	Literal: source.Exactly(`ENABLE_HEALTH_CHECK`),
	Finding: healthRegistered,
}}
