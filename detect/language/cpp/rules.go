package cpp

import (
	"slices"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

// serviceImplied is a registered service, and implies a server only if the whole app constructs none.
type serviceImplied struct{ *finding.Site }

var userverComponent = finding.Constructs(userver)

// rules find servers and the health service. grpc++'s own sources define BuildAndStart, and do not call it on an
// object.
var rules = []analyzer.Rule{
	{
		Code:   lazyregexp.New(`(?:\.|->)\s*(?P<at>BuildAndStart)\s*\(\s*\)`),
		Proves: finding.Constructs(grpcPlusPlus),
	},
	{
		Code:   lazyregexp.New(`\bAppend\s*<\s*(?:::)?(?P<at>(?:userver::)?ugrpc::server::ServerComponent)\s*>`),
		Proves: userverComponent,
	},
	{
		Code: lazyregexp.New(
			`(?:\.|->)\s*AppendComponentList\s*\(\s*(?P<at>(?:userver::)?ugrpc::server::\w*ComponentList)\b`),
		Proves: userverComponent,
	},
	{
		Code:   lazyregexp.New(`\bAppend\s*<\s*(?:::)?(?P<at>(?:userver::)?ugrpc::server::HealthComponent)\s*>`),
		Proves: finding.RegistersHealth,
	},
	{
		Code:   lazyregexp.New(`(?P<at>\bEnableDefaultHealthCheckService\s*\(\s*(?:true|1)\s*\))`),
		Proves: finding.RegistersHealth,
	},
	// The argument is a setting: a name of more than five letters or of several parts is not "false".
	{
		Code: lazyregexp.New(
			`(?P<at>\bEnableDefaultHealthCheckService\s*\(\s*(?:\w{6,}|\w+(?:\.|->|::)[\w.:>()-]*)\s*\))`),
		Proves: finding.MayRegisterHealth,
	},
	{
		Code:   lazyregexp.New(`(?P<at>\bHealthCheckServiceServerBuilderOption\s*)[>({]`),
		Proves: finding.RegistersHealth,
	},
	{
		Code:    lazyregexp.New(`(?P<at>(?:\w*::)*\bHealth::\w*Service)\b`),
		Imports: lazyregexp.New(`\bhealth\.grpc\.pb\.h$`),
		Proves:  finding.RegistersHealth,
	},
	{
		Code:   lazyregexp.New(`(?:\.|->)\s*SetServingStatus\s*(?P<at>\((?:[^()]|\([^()]*\)){1,300}\))`),
		Proves: setsHealthStatus,
	},
	{Code: lazyregexp.New(`(?P<at>\bagrpc::add_health_check_service)\s*\(`), Proves: finding.RegistersHealth},
}

// setsHealthStatus returns the status that a call sets: of a single service, or of all services and the whole server.
// The default health service knows the whole server from the start
// (src/cpp/server/health/default_health_check_service.cc).
func setsHealthStatus(at *finding.Site, code string) finding.Finding {
	if !strings.Contains(code, ",") {
		return finding.HealthStatus{Site: at.Quiet(), OfServer: true}
	}
	return finding.SetsHealthStatus(at, booleans.Replace(code))
}

// booleans replaces the statuses of grpc++.
var booleans = strings.NewReplacer("false", "NOT_SERVING", "true", "SERVING")

// impliedRules find services, in files that include a generated header or name a ServerBuilder.
var impliedRules = []analyzer.Rule{
	{
		Code:   lazyregexp.New(`(?:\.|->)\s*(?P<at>RegisterService)\s*\(`),
		Proves: func(at *finding.Site, _ string) finding.Finding { return serviceImplied{at} },
	},
	{
		Code: lazyregexp.New(`\bpublic\s+(?P<at>(?:\w*::)*\w+::` +
			`(?:Service|AsyncService|CallbackService|ExperimentalCallbackService)\b)`),
		Proves: finding.Implements(grpcPlusPlus),
	},
	{
		Code:   lazyregexp.New(`\bpublic\s+(?P<at>(?:\w*::)*\w+Base::Component\b)`),
		Proves: finding.Implements(userver),
	},
}

var (
	include       = lazyregexp.New(`(?m)^[ \t]*#[ \t]*include[ \t]*[<"]([^>"\n]*)[>"]`)
	serverBuilder = lazyregexp.New(`\bServerBuilder\b`)
	// generatedHeader is a header by the plugins of grpc++ or userver. No rule needs another header.
	generatedHeader = lazyregexp.New(`\.grpc\.pb\.h$|_service\.usrv\.pb\.hpp$`)
)

var keywords = analyzer.Keywords(frameworks)

var mainFunction = lazyregexp.New(`\bint\s+main\s*\(`)

// analyzeSource analyzes a source or a header.
func analyzeSource(text []byte) *analyzer.Result[extra] {
	if !keywords.In(text) {
		return nil
	}
	t := grammar.Read(text)
	found := append(findings(t), analyzer.Findings(t, transports, nil)...)
	if t.Matches(listens[0].Code) {
		found = append(found, analyzer.Listeners(namesIn(t), listens)...)
	}
	found = analyzer.Associate(t, analyzer.MarkConditional(t, markCompiled(t, found), nil))
	return &analyzer.Result[extra]{Findings: append(found, analyzer.HealthChecks(t)...)}
}

// transports are the credentials of include/grpcpp/security/server_credentials.h.
var transports = []analyzer.Rule{
	{Code: lazyregexp.New(`\bInsecureServerCredentials\s*\(`), Proves: finding.Insecure},
	{Code: lazyregexp.New(`\b(?:Ssl|Tls)ServerCredentials\s*\(`), Proves: finding.UsesTLS},
	{Code: lazyregexp.New(`\b(?:Alts|Local|Xds)ServerCredentials\s*\(`), Proves: finding.UsesOther},
}

// directive is a line of the preprocessor that begins or ends conditional code.
var directive = lazyregexp.New(`(?m)^[ \t]*#[ \t]*(if|el|endif)`)

const maxDirectives = 1000

// markCompiled marks a health service as unsure if the service is under a condition of the preprocessor and the file's
// first server is not. A condition around a whole header may only prevent repeated inclusion.
func markCompiled(t *source.Text, found []finding.Finding) []finding.Finding {
	servers := slices.Collect(finding.All[finding.Server](found))
	if len(servers) == 0 || !finding.Has[finding.Health](found) {
		return found
	}
	directives := t.FindAll(directive, maxDirectives)
	// around returns the offset of the innermost directive around the code at an offset, or 0.
	around := func(at int) int {
		open := []int{0}
		for _, m := range directives {
			if m[0] > at {
				break
			}
			word := string(t.Code[m[2]:m[3]])
			if word != "if" && len(open) > 1 {
				open = open[:len(open)-1]
			}
			if word != "endif" {
				open = append(open, m[0])
			}
		}
		return open[len(open)-1]
	}
	ofServer := around(finding.Offset(servers[0]))
	for i, f := range found {
		if finding.Is[finding.Health](f) && around(finding.Offset(f)) > ofServer {
			found[i] = finding.AsUnsure(f)
		}
	}
	return found
}

// findings returns all findings of a source except listeners and security.
func findings(t *source.Text) []finding.Finding {
	var includes []string
	if t.Mentions(generatedHeader) {
		for _, m := range include.FindAllSubmatch(t.Raw, -1) {
			includes = append(includes, string(m[1]))
		}
	}
	found := analyzer.Findings(t, rules, includes)
	if slices.ContainsFunc(includes, generatedHeader.MatchString) || t.Matches(serverBuilder) {
		found = append(found, analyzer.Findings(t, impliedRules, includes)...)
	}
	isMain := t.Matches(mainFunction)
	return finding.InMain(found, func(finding.Server) bool { return isMain })
}
