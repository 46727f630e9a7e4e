package python

import (
	"strings"

	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

// webServer is a server of sonora, which serves registered services by gRPC-Web alone.
type webServer struct{ *finding.Site }

// healthByModule is a registration of the health service of a generated module, which may be of the app's own making.
type healthByModule struct {
	*finding.Site
	module string
	// of is the server that it is registered with, nil if that is any of the package.
	of *finding.Site
}

// helperCall is a call that may give a server to what another module has for health checks.
var helperCall = lazyregexp.New(`(?:^|[^\w.])(?P<name>[A-Za-z_]\w*(?:\.\w+)*)\(`)

// generatedHealth is in the names of what registers the health service itself.
var generatedHealth = lazyregexp.New(`^grpc_health\b|_pb2_grpc\b|add_\w+_to_server$|^grpclib\b`)

// healthHelpers returns the calls of imported functions that are named for health and get a server.
func (s *servers) healthHelpers(i imports) []finding.Finding {
	if len(s.found) == 0 || !analyzer.NamedForHealth.Match(s.text.Code) {
		return nil
	}
	var found []finding.Finding
	for _, m := range s.text.FindAll(helperCall, maxCalls) {
		first, rest, _ := strings.Cut(string(s.text.Code[m[2]:m[3]]), ".")
		full := strings.TrimSuffix(i.names[first]+"."+rest, ".")
		if i.names[first] == "" || !analyzer.NamedForHealth.MatchString(full) || generatedHealth.MatchString(full) {
			continue
		}
		each, _ := s.text.Arguments(m[1])
		for _, argument := range each {
			if analyzer.GetsServer(s.text.Slice(argument)) {
				site := finding.At(s.text, source.Span{From: m[2], To: m[1]}).Quiet()
				last := strings.LastIndexByte(full, '.')
				found = append(found, analyzer.HealthHelper{
					Site: site, Of: s.before(argument.To), Module: full[:max(0, last)], Function: full[last+1:],
				})
				break
			}
		}
	}
	return found
}

// rule says what the use of a name proves.
type rule struct {
	// name is matched against the full name, as the imports resolve it.
	name *lazyregexp.Regexp
	// use is how the name has to be used; mentioned allows all uses.
	use use
	// proves makes the finding of a full name. It is nil for a name that proves nothing, although a later rule matches
	// it too.
	proves finding.Make
}

// serviceImplemented is a subclass of a generated servicer: the app, or a user of this library, registers it.
var serviceImplemented = finding.Implements(grpcio)

// rules are the names that prove something. The first rule that fits a name decides.
var rules = []rule{
	{source.Exactly(`grpc(\.experimental)?(\.aio)?\.server`), called, finding.Constructs(grpcio)},
	{source.Exactly(`.*_pb2\.beta_create_\w+_server`), called, finding.Constructs(grpcio)},
	{source.Exactly(`grpclib\.server\.Server`), called, finding.Constructs(grpclib)},
	{source.Exactly(`purerpc(\.server)?\.Server`), called, finding.Constructs(purerpc)},
	{source.Exactly(`dapr\.ext\.grpc(\.app)?\.App`), called, finding.Constructs(dapr)},
	{source.Exactly(`ray\.serve(\.config)?\.gRPCOptions`), called, finding.Constructs(rayServe)},
	{source.Exactly(`flwr\.server(\.app)?\.start_server`), called, finding.Constructs(flower)},
	{source.Exactly(`kserve(\.model_server)?\.ModelServer`), called, finding.Constructs(kserve)},
	{source.Exactly(`pyarrow\.flight\.FlightServerBase`), inherited, serviceServed(arrowFlight)},
	{source.Exactly(`mlserver\.(model\.)?MLModel`), inherited, serviceServed(mlserver)},
	{source.Exactly(`django_grpc_framework\.(\w+\.)*\w*Service`), inherited, serviceServed(djangoGRPCFramework)},
	{source.Exactly(`django_socio_grpc\.(\w+\.)*\w*Service`), inherited, serviceServed(djangoSocioGRPC)},
	{source.Exactly(`sonora\.(asgi\.grpcASGI|wsgi\.grpcWSGI)`), mentioned, servesByWeb},
	{source.Exactly(`grpclib\.health\.service\.Health`), called, registersHealth},
	// Who makes one gives it to a server, if not by add_HealthServicer_to_server then by a helper.
	{source.Exactly(`grpc_health\.v1\.(health|_async)\.(aio\.)?HealthServicer`), called, registersHealth},
	{source.Exactly(`(.*\.)?health(_grpc|\.v1|\.v1\.health_grpc)\.HealthBase`), inherited, registersHealth},
	{source.Exactly(`(.*\.)?health\.v1\.health_grpc\.HealthServicer`), inherited, registersHealth},
	{source.Exactly(`(.*\.)?health_grpc\.HealthServicer`), inherited, registersSomeHealth},
	{source.Exactly(`(.*\.)?add_HealthServicer_to_server`), mentioned, registersHealth},
	{source.Exactly(`(.*\.)?add_\w+Servicer_to_server`), mentioned, finding.Registers(grpcio)},
	{source.Exactly(`grpc_health\..*|.*health_pb2_grpc\.HealthServicer`), inherited, nil},
	{source.Exactly(`.*_pb2_grpc\.\w+Stub`), inherited, nil},
	{source.Exactly(`.*_pb2_grpc\.\w+`), inherited, serviceImplemented},
}

// registersHealth makes the finding of the health service by its full name: its module is the last part but one, as
// "health_pb2_grpc" of "app.health_pb2_grpc.add_HealthServicer_to_server".
func registersHealth(at *finding.Site, full string) finding.Finding {
	parts := strings.Split(full, ".")
	return healthByModule{at, parts[max(0, len(parts)-2)], nil}
}

// registersSomeHealth is the same for a servicer that purerpc generates of a health.proto which may be another one.
func registersSomeHealth(at *finding.Site, full string) finding.Finding {
	return registersHealth(at.AsUnsure(), full)
}

// modelListener is what MLServer listens on, if it serves the project.
type modelListener struct{ finding.Listener }

// serviceServed is an implementation for which the framework makes a server: mlserver serves the models of its
// settings, the Django frameworks have a management command, and a FlightServerBase is a server itself.
var serviceServed = finding.Serves

// possibleName matches the names that the rules may know although the file does not import their first part, because
// they need no module before them or come from a wildcard import.
var possibleName = lazyregexp.New(`Servicer|_server$|^Server$`)

// evidence returns what makes the finding that the use of a name is, and the full name; nil for nothing.
func evidence(i imports, name string, how use) (proves finding.Make, full string) {
	for _, full := range i.resolve(name) {
		for _, r := range rules {
			if (r.use == mentioned || r.use == how) && r.name.MatchString(full) {
				return r.proves, full
			}
		}
	}
	return nil, ""
}

// genericHealth is a handler of the health service by its name, without generated code. An app may write the service
// by hand so.
var genericHealth = analyzer.Rule{
	Code:    lazyregexp.New(`\bmethod_handlers_generic_handler\s*\(\s*["'](?P<literal>[ ]+)["']`),
	Literal: source.Exactly(`grpc\.health\.v1\.Health`),
	Proves:  finding.RegistersHealth,
}

// purerpcHealth is the same for purerpc, whose generated code makes its services in methods.
var purerpcHealth = analyzer.Rule{
	Code:    lazyregexp.New(`(?m)^\w+\s*=\s*(?P<at>(?:purerpc\s*\.\s*)?Service\s*\(\s*["'](?P<literal>[ ]+)["'])`),
	Literal: source.Exactly(`grpc\.health\.v1\.Health`),
	Proves:  finding.RegistersHealth,
}

// healthSet are the calls that set a status in a HealthServicer, which knows the whole server from the start
// (src/python/grpcio_health_checking/grpc_health/v1/health.py; before 1.29 it knew nothing).
var healthSet = []analyzer.Rule{{
	Code:   lazyregexp.New(`\.\s*set\s*(?P<at>` + twoArguments(`\b(?:HealthCheckResponse|(?:NOT_)?SERVING)\b`) + `)`),
	Proves: finding.SetsHealthStatus,
}, {
	Code:   lazyregexp.New(`\b\w*health\w*\s*\.\s*set\s*(?P<at>` + twoArguments(`(?i:stat|serving)`) + `)`),
	Proves: finding.SetsHealthStatus,
}, {
	Code:   lazyregexp.New(`\b\w*servicer\w*\s*\.\s*set\s*(?P<at>` + twoArguments("") + `)`),
	Proves: finding.SetsHealthStatus,
}}

// twoArguments matches the brackets of a call with two arguments or more, the second of which has a part.
func twoArguments(part string) string {
	const argument = `(?:[^(),]|\((?:[^()]|\([^()]*\))*\))`
	return `\(` + argument + `{1,200},` + argument + `{0,200}` + part + `(?:[^()]|\([^()]*\)){0,200}\)`
}

// settings are what Django's settings say. django_socio_grpc/settings.py registers no health service by default.
var settings = []analyzer.Rule{genericHealth, purerpcHealth, {
	Code:    lazyregexp.New(`["'](?P<literal>[ ]+)["']\s*:\s*True\b`),
	Literal: source.Exactly(`ENABLE_HEALTH_CHECK`),
	Proves:  finding.RegistersHealth,
}}

func servesByWeb(at *finding.Site, _ string) finding.Finding { return webServer{at} }
