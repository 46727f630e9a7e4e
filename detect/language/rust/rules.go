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

// healthServer is a generated server of a service Health, either grpc.health.v1's or the app's.
type healthServer struct{ *finding.Site }

func servesHealth(at *finding.Site, _ string) finding.Finding { return healthServer{at} }

// row is a rule for code, after any path, of a file that imports something, or names it in full.
func row(imports, code string, proves finding.Make) analyzer.Rule {
	return analyzer.Rule{
		Code:    lazyregexp.New(`(?:\b\w+::)*\b(?:` + code + `)`),
		Imports: lazyregexp.New(`(?:^|::)(?:` + imports + `)`),
		Proves:  proves,
	}
}

// rules are for sources. The first rule that matches code decides.
var rules = []analyzer.Rule{
	row(`tonic_health\b`, `health_reporter\s*\(|Health(?:Reporter|Service|Server)::[\w<]+`, finding.RegistersHealth),
	row(`connectrpc_health\b`, `install_\w+\s*\(|HealthService::new`, finding.RegistersHealth),
	row(`(?:\w*health_?v1|\w*health::v1|grpc_health)::(?:.*::)?(?:HealthServer|\*)`, `HealthServer::[\w<]+`,
		finding.RegistersHealth),
	row(`health_server\b`, `HealthServer::[\w<]+`, servesHealth),
	row(`HealthServer\b`, `HealthServer::new_service_def`, servesHealth),
	// Both health services begin without any service (health/src/service.rs of grpc-rs, poem-grpc/src/health.rs), and
	// poem-grpc's cannot get a status of the whole server.
	row(`grpcio_health\b`, `create_health\s*\(`, finding.RegistersEmptyHealth),
	row(`poem_grpc\b`, `health_service\s*\(`, finding.RegistersEmptyHealth),

	row(`transport::(?:server::)?(?:Server\b|\*)|tonic::transport$`, `Server::(?:builder|default)\b`,
		finding.Constructs(tonic)),
	row(`tonic::service\b`, `Routes(?:Builder)?::\w+`, finding.Registers(tonic)),
	row(`volo_grpc::server::(?:Server\b|\*)`, `Server::new\b`, finding.Constructs(volo)),
	row(`volo_grpc::server\b`, `ServiceBuilder::new\b`, finding.Registers(volo)),
	row(`grpcio\b`, `ServerBuilder::new\b`, finding.Constructs(grpcio)),
	row(`poem_grpc\b`, `RouteGrpc::(?:new|default)\b`, finding.Constructs(poemGRPC)),
	// The tower service of connectrpc alone proves nothing: axum serves HTTP/1.1 by default, without gRPC.
	row(`connectrpc(?:::server)?(?:::Server\b|::\*|$)`, `Server::(?:new|from_service|bind)\b`,
		finding.Constructs(connectRPC)),
	row(`grpc::(?:ServerBuilder\b|\*)`, `ServerBuilder::new\w*`, finding.Constructs(grpcRust)),
	row(`thruster_grpc::server::(?:ProtoServer\b|\*)`, `ProtoServer::new\b`, finding.Constructs(thruster)),
}

var (
	// added are for a file that adds services: to a server that comes from a prelude or from another crate.
	added = []analyzer.Rule{{Code: lazyregexp.New(`\b\w*Server::builder\b`), Proves: finding.Constructs(tonic)}}
	// multiplexed are for a file that tells calls of gRPC by the content type, and serves gRPC by generated code of
	// tonic-build.
	multiplexed = []analyzer.Rule{row(`\w+_server::(?:\w+Server\b|\*)`, `\w+Server::new\b`, finding.Constructs(tonic))}
	// routed are for a file that serves with axum: the file makes a server of the router, wherever the Routes are made.
	routed = []analyzer.Rule{{Code: lazyregexp.New(`\.\s*into_axum_router\s*\(`), Proves: finding.Constructs(tonic)}}
	// addition is a call that adds services to a server or a router.
	addition = lazyregexp.New(`\.\s*(?P<at>add_service|add_optional_service|add_routes)\s*\(`)
	// implementsHealth is an implementation of a service called Health, with the method Watch of grpc.health.v1.
	implementsHealth = lazyregexp.New(`\bimpl\b[^{};]*?\b(?P<at>Health)\s+for\b`)
	watches          = lazyregexp.New(`\btype\s+WatchStream\b`)
	// servesHTTP matches the paths with which hyper and axum serve HTTP/2.
	servesHTTP = lazyregexp.New(`^(?:hyper(?:_util)?::server\b|hyper::Server\b|` +
		`axum(?:_server)?::(?:serve|Server|bind\w*|from_tcp\w*)\b)`)
	ofTonic = lazyregexp.New(`^tonic\b`)
)

// evidence returns the findings of a source about a server and the health service.
func evidence(t *source.Text, imports []string) []finding.Finding {
	var found []finding.Finding
	seen := map[int]bool{}
	add := func(rules []analyzer.Rule) {
		for _, f := range analyzer.Findings(t, rules, imports) {
			if at := finding.Offset(f); !seen[at] {
				seen[at], found = true, append(found, f)
			}
		}
	}
	add(rules)
	addsServices := t.Matches(addition)
	if addsServices {
		add(added)
	}
	if slices.ContainsFunc(imports, servesHTTP.MatchString) {
		add(routed)
		if bytes.Contains(t.Raw, []byte(`"application/grpc`)) && !finding.Has[finding.Server](found) {
			add(multiplexed)
		}
	}
	if !finding.Has[finding.Server](found) && slices.ContainsFunc(imports, ofTonic.MatchString) {
		add([]analyzer.Rule{{Code: addition, Proves: finding.Registers(tonic)}})
	}
	if t.Matches(watches) {
		add([]analyzer.Rule{{Code: implementsHealth, Proves: finding.RegistersHealth}})
	}
	isMain := t.Matches(mainFunction)
	found = finding.InMain(found, func(finding.Server) bool { return isMain })
	return append(found, analyzer.Findings(t, named, nil)...)
}

// named are the statuses of services, and services written without generated code, by name: a NamedService of tonic, or
// the paths of methods on a router.
var named = []analyzer.Rule{
	{
		Code:   lazyregexp.New(`\bset_serv(?:ing|ice)_status\s*(?P<at>\((?:[^()]|\([^()]*\)){1,300}\))`),
		Proves: finding.SetsHealthStatus,
	},
	{
		Code: lazyregexp.New(`\bset_serving\s*::\s*<\s*(?P<at>(?:\w+::)*\w+Server)\b[^();{}]{0,200}>\s*\(`),
		Proves: func(at *finding.Site, server string) finding.Finding {
			return finding.HealthStatus{Site: at.Quiet(), Named: strings.Join(strings.Fields(server), "")}
		},
	},
	{
		Code: lazyregexp.New(`(?:\bNAME\s*:\s*&\s*(?:'static\s+)?str\s*=\s*|` +
			`\.\s*(?P<at>(?:route|route_service|nest|nest_service|post)\s*\(\s*))"(?P<literal> +)"`),
		Literal: source.Exactly(`/?grpc\.health\.v1\.Health(?:/.*)?`),
		Proves:  finding.RegistersHealth,
	},
}
