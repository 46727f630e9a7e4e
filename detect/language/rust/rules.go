package rust

import (
	"bytes"
	"slices"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

// healthServer is a generated server of a service Health, either grpc.health.v1's or one of the app's own.
type healthServer struct{ *finding.Site }

func servesHealth(at *finding.Site, _ string) finding.Finding { return healthServer{at} }

// pathRule says what the use of a path proves.
type pathRule struct {
	path   *lazyregexp.Regexp // matched against the whole path, as the use declarations resolve it
	proves finding.Make
}

// pathRules are the paths that prove something. The first rule that fits a path decides.
var pathRules = []pathRule{
	{
		source.Exactly(`tonic_health::(\w+::)*(health_reporter|Health(Reporter|Service|Server)::\w+)|` +
			`connectrpc_health::(install_\w+|HealthService::new)|` +
			`(.*::)?(\w*health_?v1|\w*health::v1|grpc_health)::(.*::)?HealthServer::\w+`),
		finding.RegistersHealth,
	},
	{source.Exactly(`(.*::)?(health_server::HealthServer::\w+|HealthServer::new_service_def)`), servesHealth},
	// They know no service until they are told one (health/src/service.rs of grpc-rs, poem-grpc/src/health.rs), and
	// that of poem-grpc cannot be told the whole server.
	{
		source.Exactly(`(.*::)?grpcio_health::(proto::)?create_health|poem_grpc::health_service`),
		finding.RegistersEmptyHealth,
	},
	{source.Exactly(`(.*::)?transport::(server::)?Server::(builder|default)`), finding.Constructs(tonic)},
	{source.Exactly(`(.*::)?tonic::service::(\w+::)*Routes(Builder)?::\w+`), finding.Registers(tonic)},
	{source.Exactly(`volo_grpc::server::Server::new`), finding.Constructs(volo)},
	{source.Exactly(`volo_grpc::server::ServiceBuilder::new`), finding.Registers(volo)},
	{source.Exactly(`grpcio::(server::)?ServerBuilder::new`), finding.Constructs(grpcio)},
	{source.Exactly(`poem_grpc::RouteGrpc::(new|default)`), finding.Constructs(poemGRPC)},
	// The tower service of connectrpc alone proves nothing: axum serves HTTP/1.1 by default, over which there is no
	// gRPC.
	{source.Exactly(`connectrpc::(server::)?Server::(new|from_service|bind)`), finding.Constructs(connectRPC)},
	{source.Exactly(`grpc::ServerBuilder::new\w*`), finding.Constructs(grpcRust)},
}

var (
	// possiblePath matches all paths that the rules may know, and the functions of the rules that are called by their
	// imported names.
	possiblePath = lazyregexp.New(`\b(?:\w+::(?:<[^<>()]*>::)?)+(?:builder|default|new\w*|with_interceptor|` +
		`from_\w+|bind|create_health|health_\w+|install_\w+)\b|` +
		`\b(?:create_health|health_service|health_reporter|install_\w+)\b`)
	typeArguments = lazyregexp.New(`<[^<>()]*>::`)
	// generatedServer is what tonic-build may have generated: greeter_server::GreeterServer::new.
	generatedServer = lazyregexp.New(`(?:^|::)\w+_server::\w+Server::\w+$`)
)

// proves returns what makes the finding that a path is, by the whole paths that it may stand for; nil for nothing.
func proves(candidates []string, addsServices, serves bool) finding.Make {
	for _, r := range pathRules {
		if slices.ContainsFunc(candidates, r.path.MatchString) {
			return r.proves
		}
	}
	// A Server that comes from a prelude or from another crate, and to which gRPC services are added.
	isServer := strings.HasSuffix(candidates[0], "Server::builder") && addsServices
	if isServer || serves && slices.ContainsFunc(candidates, generatedServer.MatchString) {
		return finding.Constructs(tonic)
	}
	return nil
}

var (
	// addition is a call that adds services to a server or a router.
	addition = lazyregexp.New(`\.\s*(?P<at>add_service|add_optional_service|add_routes)\s*\(`)
	// axumRouter is a call that makes a router of axum of tonic's Routes.
	axumRouter = lazyregexp.New(`\.\s*into_axum_router\s*\(`)
	// servesHTTP are paths of what hyper and axum serve HTTP/2 with.
	servesHTTP = lazyregexp.New(
		`\bhyper(?:_util)?::server\b|\bhyper::Server\b|\baxum(?:_server)?::(?:serve|Server|bind\w*|from_tcp\w*)\b`)
	contentType = []byte(`"application/grpc`)
	ofTonic     = lazyregexp.New(`\btonic\b`)
	// implementsHealth is an implementation of a service called Health, and watches what that of grpc.health.v1 has.
	implementsHealth = lazyregexp.New(`\bimpl\b[^{};]*?\b(?P<at>Health)\s+for\b`)
	watches          = lazyregexp.New(`\btype\s+WatchStream\b`)
)

// evidence returns the findings of a source that tell of a server and its health service.
func evidence(t *source.Text, u *uses) []finding.Finding {
	isHTTP := t.Matches(servesHTTP) || u.has(servesHTTP)
	// A file may tell calls of gRPC from others by their content type, and serve both.
	serves := isHTTP && bytes.Contains(t.Raw, contentType) && !bytes.Contains(t.Code, []byte("Server::builder"))
	addsServices := t.Matches(addition)
	var found []finding.Finding
	for _, m := range t.FindAll(possiblePath, -1) {
		path := source.Span{From: m[0], To: m[1]}
		if proves := proves(u.candidates(typeArguments.ReplaceAllString(t.Slice(path), "")), addsServices, serves); proves != nil {
			found = append(found, proves(finding.At(t, path), ""))
		}
	}
	if isHTTP {
		found = append(found, analyzer.Findings(t, routerRules, nil)...)
	}
	if !finding.Has[finding.Server](found) && (t.Matches(ofTonic) || u.has(ofTonic)) {
		found = append(found, analyzer.Findings(t, additionRules, nil)...)
	}
	if t.Matches(watches) {
		found = append(found, analyzer.Findings(t, healthRules, nil)...)
	}
	isMain := t.Matches(mainFunction)
	found = finding.InMain(found, func(finding.Server) bool { return isMain })
	return slices.Concat(found, analyzer.Findings(t, namedHealth, nil), servingTypes(t, u))
}

var (
	// routerRules are for a file that serves with axum: whoever made the Routes, it makes a server of their router.
	routerRules   = []analyzer.Rule{{Code: axumRouter, Proves: finding.Constructs(tonic)}}
	additionRules = []analyzer.Rule{{Code: addition, Proves: finding.Registers(tonic)}}
	healthRules   = []analyzer.Rule{{Code: implementsHealth, Proves: finding.RegistersHealth}}
	// namedHealth are the service that an app wrote without generated code, by its name: a tonic NamedService, or the
	// paths of its methods on a router; and the statuses of one of a crate.
	namedHealth = []analyzer.Rule{
		// That of tonic-health is set_service_status.
		{
			Code:   lazyregexp.New(`\bset_serv(?:ing|ice)_status\s*(?P<at>\((?:[^()]|\([^()]*\)){1,300}\))`),
			Proves: finding.SetsHealthStatus,
		},
		{
			Code: lazyregexp.New(`(?:\bNAME\s*:\s*&\s*(?:'static\s+)?str\s*=\s*|` +
				`\.\s*(?P<at>(?:route|route_service|nest|nest_service)\s*\(\s*))"(?P<literal> +)"`),
			Literal: source.Exactly(`/?grpc\.health\.v1\.Health(?:/.*)?`),
			Proves:  finding.RegistersHealth,
		},
	}
)

var (
	// setServing is a call that sets the status of a service by the type of its server, and serverType that type.
	setServing = lazyregexp.New(`\bset_serving\s*::\s*<(?P<type>[^();{}]{1,200})>\s*\(`)
	serverType = lazyregexp.New(`(?:\w+::)*\w+Server\b`)
)

// servingTypes returns the statuses that are set by types. Each has the whole path of the type.
func servingTypes(t *source.Text, u *uses) []finding.Finding {
	var found []finding.Finding
	for _, m := range t.FindAll(setServing, -1) {
		of, _ := t.Group(setServing, m, "type")
		if name, _ := u.resolve(serverType.FindString(of)); name != "" {
			site := finding.At(t, source.Span{From: m[0], To: m[1]}).Quiet()
			found = append(found, finding.HealthStatus{Site: site, Named: name})
		}
	}
	return found
}
