package ruby

import (
	"regexp"

	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/source"
)

// The findings that mean something only together with others of the app.
type (
	// serviceSubclass is a subclass of a class called Service. That is a generated class if the app has a stub of the
	// service, or else a class of the app's own.
	serviceSubclass struct {
		*finding.Site
		service string // the last part of the module that the class is in
	}
	// healthSubclass is an implementation of the health service. A server has to be given it.
	healthSubclass struct{ *finding.Site }
	// servicesOption is where gruf is given services that are no controllers.
	servicesOption struct{ *finding.Site }
)

func healthSubclassed(at *finding.Site, _ string) finding.Finding { return healthSubclass{at} }

// rules are what is recognized in sources.
var rules = []analyzer.Rule{
	{Code: regexp.MustCompile(`\bGRPC::RpcServer\s*\.\s*new\b`), Proves: finding.Constructs(grpc)},
	{Code: regexp.MustCompile(`(?:^|[^:\w.])(?P<at>RpcServer\s*\.\s*new\b)`), Proves: finding.Constructs(grpc)},
	{
		Code:   regexp.MustCompile(`(?m)^\s*class\s+(?P<at>[\w:]+\s*<\s*(?:::)?GRPC::RpcServer\b)`),
		Proves: finding.Constructs(grpc),
	},
	{Code: regexp.MustCompile(`\bGruf::(?:Server|Cli::Executor)\s*\.\s*new\b`), Proves: finding.Constructs(gruf)},
	{
		Code:   regexp.MustCompile(`(?m)^\s*class\s+(?P<at>[\w:]+\s*<\s*(?:::)?Gruf::Controllers::Base\b)`),
		Proves: finding.Serves(gruf),
	},
	{Code: regexp.MustCompile(`\bGriffin::Server\s*\.\s*(?:run|configure|new)\b`), Proves: finding.Constructs(griffin)},
	{Code: regexp.MustCompile(`\bGrpcKit::Server\s*\.\s*new\b`), Proves: finding.Constructs(grpcKit)},
	{
		Code:   regexp.MustCompile(`\bAnyCable::(?:CLI\s*\.\s*(?:new\b|embed!)|GRPC::Server\s*\.\s*new\b)`),
		Proves: finding.WithHealth(finding.Constructs(anyCable)),
	},
	{
		Code:   regexp.MustCompile(`(?s)\bAnyCable\.configure\b.*?(?P<at>\.\s*rpc_host\s*=)`),
		Proves: finding.WithHealth(finding.Registers(anyCable)),
	},

	// A Checker knows no service until it is told one (src/ruby/pb/grpc/health/checker.rb). A subclass may check
	// itself.
	{Code: regexp.MustCompile(`\bGrpc::Health::Checker\b`), Proves: finding.RegistersEmptyHealth},
	{
		Code:   regexp.MustCompile(`(?s)<\s*(?:::)?(?P<at>Grpc::Health::Checker\b).*?\bdef\s+check\b`),
		Proves: func(at *finding.Site, _ string) finding.Finding { return finding.SetsHealthStatus(at, `""`) },
	},
	{
		Code: regexp.MustCompile(`\b(?:add_status(?:es)?|set_status_for_services)\b` +
			`(?P<at>[ \t]*\([^()]{0,400}|[ \t]+[^\s(=][^\n()\[\]]{0,200}\S)`),
		Proves: finding.SetsHealthStatus,
	},
	{
		Code:   regexp.MustCompile(`\bbind[ \t(]+(?:::)?Grpc::Health::V1::Health::Service\b`),
		Proves: finding.RegistersHealth,
	},
	{
		Code:   regexp.MustCompile(`<\s*(?:::)?(?:Grpc::)?Health::V1::Health::Service\b`),
		Proves: healthSubclassed,
	},
	{
		Code:   regexp.MustCompile(`\bservices\]?\s*(?:=|<<)[^>=~]`),
		Proves: func(at *finding.Site, _ string) finding.Finding { return servicesOption{at} },
	},
	{Code: regexp.MustCompile(`\bhealth_check_enabled\s*=\s*true\b`), Proves: finding.RegistersHealth},
}

var (
	// subclass is a class whose base is called Service, as the class of a generated service is.
	subclass = regexp.MustCompile(`(?m)^[ \t]*class[ \t]+(?P<at>[\w:]+[ \t]*<[ \t]*(?:::)?` +
		`(?P<module>(?:\w+::)*(?P<last>\w+))::Service)\b[ \t]*(?:;|$|#)`)
	// mentionsGRPC is in the sources that implement a gRPC service: what they require or raise, or the parameter as the
	// examples of the generator name it. It decides if the app does not have the stub of the service.
	mentionsGRPC = regexp.MustCompile(`\bGRPC::|_services_pb\b|_(?:unused_)?call\b`)
)

// implementations returns the classes that implement a service.
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
			found = append(found, healthSubclass{at.Quiet()})
		case isGRPC:
			found = append(found, finding.Implementation{Site: at, Framework: grpc})
		default:
			found = append(found, serviceSubclass{at, last})
		}
	}
	return found
}
