package rust

import (
	"regexp"
	"slices"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/source"
)

// healthServer is a server of a service Health, either grpc.health.v1's or one of the app's own.
const healthServer analyzer.Kind = "rust: health server"

// rule says what the use of a path proves.
type rule struct {
	path    *regexp.Regexp   // matched against the whole path, as the use declarations resolve it
	finding analyzer.Finding // the finding, without its line and excerpt
}

var (
	healthRegistered       = analyzer.Finding{Kind: analyzer.HealthRegistered}
	tonicServerConstructed = serverConstructed(tonic)
	tonicServiceRegistered = serviceRegistered(tonic)
	// tonicServiceImplemented is no server by itself: the app, or a user of this crate, adds it to one.
	tonicServiceImplemented = analyzer.Finding{Kind: analyzer.ServiceImplemented, Framework: tonic}
)

// rules are the paths that prove something. The first rule that fits a path decides.
var rules = []rule{
	{source.Exactly(`tonic_health::server::(health_reporter|HealthReporter::new)`), healthRegistered},
	{source.Exactly(`tonic_health::server::HealthService::from_\w+`), healthRegistered},
	{source.Exactly(`tonic_health::(\w+::)*HealthServer::\w+`), healthRegistered},
	{source.Exactly(`(.*::)?(\w*health_?v1|\w*health::v1|grpc_health)::(.*::)?HealthServer::\w+`), healthRegistered},
	{source.Exactly(`(.*::)?grpcio_health::(proto::)?create_health`), healthRegistered},
	{source.Exactly(`poem_grpc::health_service`), healthRegistered},
	{source.Exactly(`connectrpc_health::(install_\w+|HealthService::new)`), healthRegistered},
	{source.Exactly(`(.*::)?transport::(server::)?Server::(builder|default)`), tonicServerConstructed},
	{source.Exactly(`(.*::)?tonic::service::(\w+::)*Routes(Builder)?::(new|builder|default)`), tonicServiceRegistered},
	{source.Exactly(`volo_grpc::server::Server::new`), serverConstructed(volo)},
	{source.Exactly(`volo_grpc::server::ServiceBuilder::new`), serviceRegistered(volo)},
	{source.Exactly(`grpcio::(server::)?ServerBuilder::new`), serverConstructed(grpcio)},
	{source.Exactly(`poem_grpc::RouteGrpc::(new|default)`), serverConstructed(poemGRPC)},
	// The tower service of connectrpc alone proves nothing: axum serves HTTP/1.1 by default, over which there is no
	// gRPC.
	{source.Exactly(`connectrpc::(server::)?Server::(new|from_service|bind)`), serverConstructed(connectRPC)},
	{source.Exactly(`grpc::ServerBuilder::new\w*`), serverConstructed(grpcRust)},
}

func serverConstructed(framework string) analyzer.Finding {
	return analyzer.Finding{Kind: analyzer.ServerConstructed, Framework: framework}
}

func serviceRegistered(framework string) analyzer.Finding {
	return analyzer.Finding{Kind: analyzer.ServiceRegistered, Framework: framework}
}

var (
	// possiblePath matches all paths that the rules may know, and the functions of the rules that are called by their
	// imported names.
	possiblePath = regexp.MustCompile(`\b(?:\w+::(?:<[^<>()]*>::)?)+(?:builder|default|new\w*|with_interceptor|` +
		`from_\w+|bind|create_health|health_\w+|install_\w+)\b|` +
		`\b(?:create_health|health_service|health_reporter|install_\w+)\s*\(`)
	typeArguments = regexp.MustCompile(`<[^<>()]*>::`)
	// newHealthServer is a constructor of the generated server of any service that is called Health.
	newHealthServer = regexp.MustCompile(`(?:^|::)health_server::HealthServer::(?:new|with_interceptor|from_\w+)$`)
)

// evidence returns what a path in the code proves, if anything. addsServices says whether the file adds services to
// something.
func evidence(path string, u *uses, addsServices bool) (analyzer.Finding, bool) {
	candidates := u.candidates(typeArguments.ReplaceAllString(strings.TrimRight(path, " \t\n("), ""))
	for _, r := range rules {
		if slices.ContainsFunc(candidates, r.path.MatchString) {
			return r.finding, true
		}
	}
	switch {
	case strings.HasSuffix(candidates[0], "Server::builder") && addsServices:
		// A Server that comes from a prelude or from another crate, and to which gRPC services are added.
		return tonicServerConstructed, true
	case slices.ContainsFunc(candidates, newHealthServer.MatchString):
		return analyzer.Finding{Kind: healthServer}, true
	}
	return analyzer.Finding{}, false
}
