package ruby

import (
	"regexp"

	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/source"
)

// The kinds of findings that mean something only together with others of the app. PostAnalyze replaces them by kinds
// that mean the same in every language, or leaves them out.
const (
	// serviceSubclass is a subclass of a class called Service. That is a generated class where the app has a stub of
	// it, or else a class of the app's own.
	serviceSubclass analyzer.Kind = "ruby: subclass of a Service"
	// healthSubclass is an implementation of the health service. A server has to be given it.
	healthSubclass analyzer.Kind = "ruby: subclass of the health service"
	// servicesOption is where gruf is given services that are no controllers.
	servicesOption analyzer.Kind = "ruby: services option"
)

func constructed(framework string) analyzer.Finding {
	return analyzer.Finding{Kind: analyzer.ServerConstructed, Framework: framework}
}

func registered(framework string) analyzer.Finding {
	return analyzer.Finding{Kind: analyzer.ServiceRegistered, Framework: framework}
}

// implemented is for classes that the framework serves: it makes the server for the controllers that it finds.
func implemented(framework string) analyzer.Finding {
	return analyzer.Finding{Kind: analyzer.ServiceImplemented, Framework: framework, FrameworkServes: true}
}

// withHealth is for frameworks that register the health service by themselves.
func withHealth(f analyzer.Finding) analyzer.Finding {
	f.AutomaticHealth = true
	return f
}

var healthRegistered = analyzer.Finding{Kind: analyzer.HealthRegistered}

// rules are what is recognized in sources.
var rules = []analyzer.Rule{
	{Code: regexp.MustCompile(`\bGRPC::RpcServer\s*\.\s*new\b`), Finding: constructed(grpc)},
	{Code: regexp.MustCompile(`(?:^|[^:\w.])(?P<at>RpcServer\s*\.\s*new\b)`), Finding: constructed(grpc)},
	{
		Code:    regexp.MustCompile(`(?m)^\s*class\s+(?P<at>[\w:]+\s*<\s*(?:::)?GRPC::RpcServer\b)`),
		Finding: constructed(grpc),
	},
	{Code: regexp.MustCompile(`\bGruf::(?:Server|Cli::Executor)\s*\.\s*new\b`), Finding: constructed(gruf)},
	{
		Code:    regexp.MustCompile(`(?m)^\s*class\s+(?P<at>[\w:]+\s*<\s*(?:::)?Gruf::Controllers::Base\b)`),
		Finding: implemented(gruf),
	},
	{Code: regexp.MustCompile(`\bGriffin::Server\s*\.\s*(?:run|configure|new)\b`), Finding: constructed(griffin)},
	{Code: regexp.MustCompile(`\bGrpcKit::Server\s*\.\s*new\b`), Finding: constructed(grpcKit)},
	{
		Code:    regexp.MustCompile(`\bAnyCable::(?:CLI\s*\.\s*(?:new\b|embed!)|GRPC::Server\s*\.\s*new\b)`),
		Finding: withHealth(constructed(anyCable)),
	},
	{
		Code:    regexp.MustCompile(`(?s)\bAnyCable\.configure\b.*?(?P<at>\.\s*rpc_host\s*=)`),
		Finding: withHealth(registered(anyCable)),
	},

	{Code: regexp.MustCompile(`\bGrpc::Health::Checker\b`), Finding: healthRegistered},
	{Code: regexp.MustCompile(`\bbind[ \t(]+(?:::)?Grpc::Health::V1::Health::Service\b`), Finding: healthRegistered},
	{
		Code:    regexp.MustCompile(`<\s*(?:::)?(?:Grpc::)?Health::V1::Health::Service\b`),
		Finding: analyzer.Finding{Kind: healthSubclass},
	},
	{Code: regexp.MustCompile(`\bservices\]?\s*(?:=|<<)[^>=~]`), Finding: analyzer.Finding{Kind: servicesOption}},
	{Code: regexp.MustCompile(`\bhealth_check_enabled\s*=\s*true\b`), Finding: healthRegistered},
}

var (
	// subclass is a class whose base is called Service, as the class of a generated service is.
	subclass = regexp.MustCompile(`(?m)^[ \t]*class[ \t]+(?P<at>[\w:]+[ \t]*<[ \t]*(?:::)?` +
		`(?P<module>(?:\w+::)*(?P<last>\w+))::Service)\b[ \t]*(?:;|$|#)`)
	// mentionsGRPC is in the sources that implement a gRPC service: what they require or raise, or the parameter as the
	// examples of the generator name it. It decides where the app does not have the stub of the service.
	mentionsGRPC = regexp.MustCompile(`\bGRPC::|_services_pb\b|_(?:unused_)?call\b`)
)

// implementations returns the classes that implement a service.
func implementations(t *source.Text) []analyzer.Finding {
	kind := serviceSubclass
	if mentionsGRPC.Match(t.Raw) {
		kind = analyzer.ServiceImplemented
	}
	var found []analyzer.Finding
	for _, m := range t.FindAll(subclass, -1) {
		class, _ := t.Group(subclass, m, "at")
		module, _ := t.Group(subclass, m, "module")
		last, _ := t.Group(subclass, m, "last")
		f := analyzer.Finding{Kind: kind, Framework: grpc, ImportPath: last}
		f = f.At(t.Line(m[2*subclass.SubexpIndex("at")]), source.Excerpt([]byte(class)))
		if module == "Grpc::Health::V1::Health" {
			f = analyzer.Finding{Kind: healthSubclass}.At(f.Line, "")
		}
		found = append(found, f)
	}
	return found
}
