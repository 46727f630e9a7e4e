package ruby

import (
	"strings"

	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

// The findings whose meaning depends on the rest of the app.
type (
	// serviceSubclass is a subclass of a class called Service: a generated class if the app has a stub of the service,
	// or else a class of the app's own.
	serviceSubclass struct {
		*finding.Site
		service string // last part of the module of the class
	}
	// healthSubclass is an implementation of the health service, which code has to give to a server.
	healthSubclass struct {
		*finding.Site
		mayBeOwn bool // a module of the app may have the same name
	}
	// servicesOption gives gruf services that are no controllers.
	servicesOption struct{ *finding.Site }
)

func healthSubclassed(at *finding.Site, code string) finding.Finding {
	return healthSubclass{at, !strings.Contains(code, "Grpc::")}
}

var rules = []analyzer.Rule{
	{Code: lazyregexp.New(`\bGRPC::RpcServer\s*\.\s*new\b`), Proves: finding.Constructs(grpc)},
	{Code: lazyregexp.New(`(?:^|[^:\w.])(?P<at>RpcServer\s*\.\s*new\b)`), Proves: finding.Constructs(grpc)},
	{
		Code:   lazyregexp.New(`(?m)^\s*class\s+(?P<at>[\w:]+\s*<\s*(?:::)?GRPC::RpcServer\b)`),
		Proves: finding.Constructs(grpc),
	},
	{Code: lazyregexp.New(`\bGruf::(?:Server|Cli::Executor)\s*\.\s*new\b`), Proves: finding.Constructs(gruf)},
	{
		Code:   lazyregexp.New(`(?m)^\s*class\s+(?P<at>[\w:]+\s*<\s*(?:::)?Gruf::Controllers::Base\b)`),
		Proves: finding.Serves(gruf),
	},
	{Code: lazyregexp.New(`\bGriffin::Server\s*\.\s*(?:run|configure|new)\b`), Proves: finding.Constructs(griffin)},
	{Code: lazyregexp.New(`\bGrpcKit::Server\s*\.\s*new\b`), Proves: finding.Constructs(grpcKit)},
	{
		Code:   lazyregexp.New(`\bAnyCable::(?:CLI\s*\.\s*(?:new\b|embed!)|GRPC::Server\s*\.\s*new\b)`),
		Proves: finding.WithHealth(finding.Constructs(anyCable)),
	},
	{
		Code:   lazyregexp.New(`(?s)\bAnyCable\.configure\b.*?(?P<at>\.\s*rpc_host\s*=)`),
		Proves: finding.WithHealth(finding.Registers(anyCable)),
	},

	// A Checker knows no service before a status is set (src/ruby/pb/grpc/health/checker.rb). A subclass may define
	// check.
	{Code: lazyregexp.New(`\bGrpc::Health::Checker\b`), Proves: finding.RegistersEmptyHealth},
	{
		Code:   lazyregexp.New(`(?s)<\s*(?:::)?(?P<at>Grpc::Health::Checker\b).*?\bdef\s+check\b`),
		Proves: func(at *finding.Site, _ string) finding.Finding { return finding.SetsHealthStatus(at, `""`) },
	},
	{
		Code: lazyregexp.New(`\b(?:add_status(?:es)?|set_status_for_services)\b` +
			`(?P<at>[ \t]*\([^()]{0,400}|[ \t]+[^\s(=][^\n()]{0,200}\S)`),
		Proves: finding.SetsHealthStatus,
	},
	{
		Code:   lazyregexp.New(`\bbind[ \t(]+(?:::)?Grpc::Health::V1::Health::Service\b`),
		Proves: finding.RegistersHealth,
	},
	{
		Code:   lazyregexp.New(`<\s*(?:::)?(?:Grpc::)?Health::V1::Health::Service\b`),
		Proves: healthSubclassed,
	},
	{
		Code:   lazyregexp.New(`\bservices\s*(?:=|<<)[^>=~]`),
		Proves: func(at *finding.Site, _ string) finding.Finding { return servicesOption{at} },
	},
	{Code: lazyregexp.New(`\bhealth_check_enabled\s*=\s*true\b`), Proves: finding.RegistersHealth},
}

var (
	// subclass is a class with a base called Service, like the class of a generated service.
	subclass = lazyregexp.New(`(?m)^[ \t]*class[ \t]+(?P<at>[\w:]+[ \t]*<[ \t]*(?:::)?` +
		`(?P<module>(?:\w+::)*(?P<last>\w+))::Service)\b[ \t]*(?:;|$|#)`)
	// mentionsGRPC is in sources that implement a gRPC service: required or raised names, or the parameter's name in
	// the generator's examples. mentionsGRPC decides if the app has no stub of the service.
	mentionsGRPC = lazyregexp.New(`\bGRPC::|_services_pb\b|_(?:unused_)?call\b`)
)

// implementations returns the classes that implement a service, or may do so.
func implementations(t *source.Text) []finding.Finding {
	isGRPC := mentionsGRPC.Match(t.Raw)
	var found []finding.Finding
	for _, m := range t.FindAll(subclass, -1) {
		class, _ := t.Group(subclass, m, "at")
		module, _ := t.Group(subclass, m, "module")
		last, _ := t.Group(subclass, m, "last")
		at := finding.AtLine(t.Line(m[2*subclass.SubexpIndex("at")]), class)
		switch {
		case module == "Grpc::Health::V1::Health":
			found = append(found, healthSubclass{at.Quiet(), false})
		case isGRPC:
			found = append(found, finding.Implementation{Site: at, Framework: grpc})
		default:
			found = append(found, serviceSubclass{at, last})
		}
	}
	return found
}
