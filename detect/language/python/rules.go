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

// rule gives the evidence in the use of a name.
type rule struct {
	// name is matched against the full name, as the imports resolve it.
	name *lazyregexp.Regexp
	// use is the required use of the name; mentioned allows all uses.
	use use
	// proves makes the finding of a full name. A nil proves stands for no finding, also of later rules that match the
	// name.
	proves finding.Make
	// unless is in the code of a file without findings of the rule, nil for all files.
	unless *lazyregexp.Regexp
}

var (
	withoutGRPC = lazyregexp.New(`\benable_grpc\s*=\s*False\b`)
	addsHealth  = lazyregexp.New(`\badd_HealthServicer_to_server\b`)
)

// rules are the names that are evidence. The first rule that fits a name decides.
var rules = []rule{
	{source.Exactly(`grpc(\.experimental)?(\.aio)?\.server`), called, finding.Constructs(grpcio), nil},
	{source.Exactly(`.*_pb2\.beta_create_\w+_server`), called, finding.Constructs(grpcio), nil},
	{source.Exactly(`grpclib\.server\.Server`), called, finding.Constructs(grpclib), nil},
	{source.Exactly(`purerpc(\.server)?\.Server`), called, finding.Constructs(purerpc), nil},
	{source.Exactly(`dapr\.ext\.grpc(\.app)?\.App`), called, finding.Constructs(dapr), nil},
	{source.Exactly(`ray\.serve(\.config)?\.gRPCOptions`), called, finding.Constructs(rayServe), nil},
	{source.Exactly(`flwr\.server(\.app)?\.start_server`), called, finding.Constructs(flower), nil},
	{source.Exactly(`kserve(\.model_server)?\.ModelServer`), called, finding.Constructs(kserve), withoutGRPC},
	// The framework makes a server for an implementation: mlserver serves the models of its settings, the Django
	// frameworks have a management command, and a FlightServerBase is a server itself.
	{source.Exactly(`pyarrow\.flight\.FlightServerBase`), inherited, finding.Serves(arrowFlight), nil},
	{source.Exactly(`mlserver\.(model\.)?MLModel`), inherited, finding.Serves(mlserver), nil},
	{source.Exactly(`django_grpc_framework\.(\w+\.)*\w*Service`), inherited, finding.Serves(djangoGRPCFramework), nil},
	{source.Exactly(`django_socio_grpc\.(\w+\.)*\w*Service`), inherited, finding.Serves(djangoSocioGRPC), nil},
	{source.Exactly(`sonora\.(asgi\.grpcASGI|wsgi\.grpcWSGI)`), mentioned, servesByWeb, nil},
	{
		source.Exactly(`grpclib\.health\.(service\.Health|v1\.health_grpc\.HealthBase)`), mentioned,
		finding.RegistersHealth, nil,
	},
	// An instance goes to a server, if not by add_HealthServicer_to_server then by a helper.
	{
		source.Exactly(`grpc_health\.v1\.(health|_async)\.(aio\.)?HealthServicer`), called,
		finding.RegistersHealth, addsHealth,
	},
	{source.Exactly(`grpc_health\..*\.add_HealthServicer_to_server`), mentioned, finding.RegistersHealth, nil},
	{source.Exactly(`(.*\.)?add_HealthServicer_to_server`), mentioned, registersStub, nil},
	{source.Exactly(`(.*\.)?health(_grpc|\.v1|\.v1\.health_grpc)\.HealthBase`), inherited, registersStub, nil},
	{source.Exactly(`(.*\.)?health\.v1\.health_grpc\.HealthServicer`), inherited, registersStub, nil},
	// purerpc generates the class from a health.proto, perhaps not from the standard file.
	{source.Exactly(`(.*\.)?health_grpc\.HealthServicer`), inherited, finding.MayRegisterHealth, nil},
	{source.Exactly(`(.*\.)?add_\w+Servicer_to_server`), mentioned, finding.Registers(grpcio), nil},
	{source.Exactly(`grpc_health\..*|.*health_pb2_grpc\.HealthServicer`), inherited, nil, nil},
	{source.Exactly(`.*_pb2_grpc\.\w+Stub`), inherited, nil, nil},
	{source.Exactly(`.*_pb2_grpc\.\w+`), inherited, finding.Implements(grpcio), nil}, // a registration is needed too
	{lazyregexp.New(`(?i)\..*health|health.*\.`), called, callsHelper, nil},
}

func servesByWeb(at *finding.Site, _ string) finding.Finding { return webServer{at} }

// healthHelper is a call that gives a server to a function of another module that is named for health.
type healthHelper struct {
	*finding.Site
	module string // first part of the full name, "" for a relative import
}

func callsHelper(at *finding.Site, full string) finding.Finding {
	first, _, _ := strings.Cut(full, ".")
	return healthHelper{at.Quiet(), first}
}

// registersStub registers a service Health of generated code, which may be a service of the app.
func registersStub(at *finding.Site, full string) finding.Finding {
	return finding.HealthMade{Site: at, Class: full}
}

// ruleFor returns the first rule for a full name and a use.
func ruleFor(full string, how use) (rule, bool) {
	for _, r := range rules {
		if (r.use == mentioned || r.use == how) && r.name.MatchString(full) {
			return r, true
		}
	}
	return rule{}, false
}

// healthRules are the services of grpc.health.v1 with their name in a string, and the calls that set statuses.
var healthRules = []analyzer.Rule{{ // without generated code
	Code:    lazyregexp.New(`\bmethod_handlers_generic_handler\s*\(\s*["'](?P<literal>[ ]+)["']`),
	Literal: source.Exactly(`grpc\.health\.v1\.Health`),
	Proves:  finding.RegistersHealth,
}, { // the generated code of purerpc makes services in methods
	Code:    lazyregexp.New(`(?m)^\w+\s*=\s*(?P<at>(?:purerpc\s*\.\s*)?Service\s*\(\s*["'](?P<literal>[ ]+)["'])`),
	Literal: source.Exactly(`grpc\.health\.v1\.Health`),
	Proves:  finding.RegistersHealth,
}, { // django_socio_grpc/settings.py registers no health service by default
	Code:    lazyregexp.New(`["'](?P<literal>[ ]+)["']\s*:\s*True\b`),
	Literal: source.Exactly(`ENABLE_HEALTH_CHECK`),
	Proves:  finding.RegistersHealth,
}, { // the whole server is known from the start (src/python/grpcio_health_checking/grpc_health/v1/health.py)
	Code:   lazyregexp.New(`\.\s*set\s*(?P<at>` + twoArguments(`\b(?:HealthCheckResponse|(?:NOT_)?SERVING)\b`) + `)`),
	Proves: finding.SetsHealthStatus,
}, {
	Code:   lazyregexp.New(`\b\w*servicer\w*\s*\.\s*set\s*(?P<at>` + twoArguments("") + `)`),
	Proves: finding.SetsHealthStatus,
}}

// twoArguments matches the brackets of a call with two arguments or more, the second with a part.
func twoArguments(part string) string {
	const argument = `(?:[^(),]|\((?:[^()]|\([^()]*\))*\))`
	return `\(` + argument + `{1,200},` + argument + `{0,200}` + part + `(?:[^()]|\([^()]*\)){0,200}\)`
}

var takesContext = lazyregexp.New(`^(?:grpclib|purerpc|flwr|pyarrow)\b`)

var transports = []analyzer.Rule{
	{Code: lazyregexp.New(`\.\s*add_insecure_port\s*\(|\binsecure_server_credentials\s*\(`), Proves: finding.Insecure},
	{Code: lazyregexp.New(`\bssl_server_credentials\s*\(`), Proves: finding.UsesTLS},
	{Code: lazyregexp.New(`\.\s*add_secure_port\s*\(`), Proves: finding.UsesOther},
	{
		Code:    lazyregexp.New(`\b(?:SSLContext|create_default_context)\s*\(`),
		Imports: takesContext, Proves: finding.UsesTLS,
	},
	{
		Code:    lazyregexp.New(`[(,]\s*(?:ssl|ssl_context|(?:tls_)?certificates)\s*=\s*(?P<at>[\w(\[]+)`),
		Imports: takesContext, Proves: usesContext,
	},
	{
		Code:    lazyregexp.New(`["'](?P<literal>[ ]+)["']\s*:\s*[\[(]\s*[\[(]`),
		Literal: source.Exactly(`PRIVATE_KEY_CERTIFICATE_CHAIN_PAIRS_PATH`), Proves: finding.UsesTLS,
	},
}

// usesContext is the finding of an argument with a context of the module ssl, or with certificates.
func usesContext(at *finding.Site, code string) finding.Finding {
	switch {
	case code == "None":
		return finding.Insecure(at, code)
	case code[0] == '(' || code[0] == '[':
		return finding.UsesTLS(at, code)
	}
	return finding.UsesOther(at, code)
}
