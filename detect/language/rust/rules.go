package rust

import (
	"slices"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

// healthServer is a server of a service Health, either grpc.health.v1's or one of the app's own.
type healthServer struct {
	*finding.Site
	// crate is what the path of the generated code begins with, "" if it stands in this crate: another one of the app
	// or one that is not known.
	crate string
	// mayBeStandard says that it may be grpc.health.v1's although nothing else in the app says so: the code that is
	// generated for the crate grpc is in the app without a health.proto.
	mayBeStandard bool
}

// configuredListener is a listener whose address is that of fields, which files with settings may set.
type configuredListener struct {
	finding.Listener
	fields []string
}

// routes are tonic's Routes, of which axum makes the server: one that this file constructs ([finding.Server]), or one
// that is constructed elsewhere ([finding.Registration]).
type routes struct{ finding.Finding }

// rule says what the use of a path proves.
type rule struct {
	path   *lazyregexp.Regexp // matched against the whole path, as the use declarations resolve it
	proves finding.Make
}

var (
	tonicServerConstructed = finding.Constructs(tonic)
	tonicServiceRegistered = finding.Registers(tonic)
	// tonicServiceImplemented is no server by itself: the app, or a user of this crate, adds it to one.
	tonicServiceImplemented = finding.Implements(tonic)
)

// rules are the paths that prove something. The first rule that fits a path decides.
var rules = []rule{
	{source.Exactly(`tonic_health::server::(health_reporter|HealthReporter::new)`), finding.RegistersHealth},
	{source.Exactly(`tonic_health::server::HealthService::from_\w+`), finding.RegistersHealth},
	{source.Exactly(`tonic_health::(\w+::)*HealthServer::\w+`), finding.RegistersHealth},
	{
		source.Exactly(`(.*::)?(\w*health_?v1|\w*health::v1|grpc_health)::(.*::)?HealthServer::\w+`),
		finding.RegistersHealth,
	},
	// They know no service until they are told one (health/src/service.rs of grpc-rs, poem-grpc/src/health.rs), and
	// that of poem-grpc cannot be told the whole server.
	{source.Exactly(`(.*::)?grpcio_health::(proto::)?create_health`), finding.RegistersEmptyHealth},
	{source.Exactly(`poem_grpc::health_service`), finding.RegistersEmptyHealth},
	{source.Exactly(`connectrpc_health::(install_\w+|HealthService::new)`), finding.RegistersHealth},
	{source.Exactly(`(.*::)?transport::(server::)?Server::(builder|default)`), tonicServerConstructed},
	{source.Exactly(`(.*::)?tonic::service::(\w+::)*Routes(Builder)?::(new|builder|default)`), routesMade},
	{source.Exactly(`volo_grpc::server::Server::new`), finding.Constructs(volo)},
	{source.Exactly(`volo_grpc::server::ServiceBuilder::new`), finding.Registers(volo)},
	{source.Exactly(`grpcio::(server::)?ServerBuilder::new`), finding.Constructs(grpcio)},
	{source.Exactly(`poem_grpc::RouteGrpc::(new|default)`), finding.Constructs(poemGRPC)},
	// The tower service of connectrpc alone proves nothing: axum serves HTTP/1.1 by default, over which there is no
	// gRPC.
	{source.Exactly(`connectrpc::(server::)?Server::(new|from_service|bind)`), finding.Constructs(connectRPC)},
	{source.Exactly(`grpc::ServerBuilder::new\w*`), finding.Constructs(grpcRust)},
}

func routesMade(at *finding.Site, _ string) finding.Finding {
	return routes{finding.Registration{Site: at, Framework: tonic}}
}

var (
	// possiblePath matches all paths that the rules may know, and the functions of the rules that are called by their
	// imported names.
	possiblePath = lazyregexp.New(`\b(?:\w+::(?:<[^<>()]*>::)?)+(?:builder|default|new\w*|with_interceptor|` +
		`from_\w+|bind|create_health|health_\w+|install_\w+)\b|` +
		`\b(?:create_health|health_service|health_reporter|install_\w+)\s*\(`)
	typeArguments = lazyregexp.New(`<[^<>()]*>::`)
	// newHealthServer is a constructor of the generated server of any service that is called Health, and newDefinition
	// that of the crate grpc.
	newHealthServer = lazyregexp.New(`(?:^|::)health_server::HealthServer::(?:new|with_interceptor|from_\w+)$`)
	newDefinition   = lazyregexp.New(`(?:^|::)HealthServer::new_service_def$`)
)

// evidence returns what makes the finding that a path in the code of a file is; nil for nothing.
func evidence(path string, u *uses, in file) finding.Make {
	candidates := u.candidates(typeArguments.ReplaceAllString(strings.TrimRight(path, " \t\n("), ""))
	for _, r := range rules {
		if slices.ContainsFunc(candidates, r.path.MatchString) {
			return r.proves
		}
	}
	switch {
	case in.serves && slices.ContainsFunc(candidates, isGeneratedServer):
		return tonicServerConstructed
	case strings.HasSuffix(candidates[0], "Server::builder") && in.addsServices:
		// A Server that comes from a prelude or from another crate, and to which gRPC services are added.
		return tonicServerConstructed
	case slices.ContainsFunc(candidates, newHealthServer.MatchString):
		crate := crateOf(candidates, in.modules)
		return func(at *finding.Site, _ string) finding.Finding { return healthServer{at, crate, false} }
	case slices.ContainsFunc(candidates, newDefinition.MatchString):
		return func(at *finding.Site, _ string) finding.Finding { return healthServer{at, "", true} }
	}
	return nil
}

// crateOf returns what the path begins with that a HealthServer may stand for: a crate, or "" for this one. A path that
// begins with a module of the file, or with what is included in it, is in this crate.
func crateOf(candidates, modules []string) string {
	crate := ""
	for _, path := range candidates {
		root, _, _ := strings.Cut(path, "::")
		if root != "health_server" && !slices.Contains([]string{"crate", "self", "super", "Self"}, root) &&
			!slices.Contains(modules, root) && newHealthServer.MatchString(path) {
			crate = root
		}
	}
	return crate
}
