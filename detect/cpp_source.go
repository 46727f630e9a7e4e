package detect

import (
	"regexp"
	"slices"
)

// cppImplies is a service that is implemented or registered: it implies a server where none is made in the tree.
const cppImplies kind = ownKinds

// cppClues are the calls that decide. grpc's own sources define BuildAndStart, and do not call it on an object.
var cppClues = []clue{
	{code: regexp.MustCompile(`(?:\.|->)\s*(?P<at>BuildAndStart)\s*\(\s*\)`), sign: sign{kind: constructs, framework: cppGRPC}},
	{code: regexp.MustCompile(`\bAppend\s*<\s*(?:::)?(?P<at>(?:userver::)?ugrpc::server::ServerComponent)\s*>`), sign: sign{kind: constructs, framework: cppUserver}},
	{code: regexp.MustCompile(`(?:\.|->)\s*AppendComponentList\s*\(\s*(?P<at>(?:userver::)?ugrpc::server::\w*ComponentList)\b`), sign: sign{kind: constructs, framework: cppUserver}},
	{code: regexp.MustCompile(`\bAppend\s*<\s*(?:::)?(?P<at>(?:userver::)?ugrpc::server::HealthComponent)\s*>`), sign: sign{kind: health}},
	// With a setting for its argument it can be turned on. A name of more than five letters, or of parts, is not "false".
	{code: regexp.MustCompile(`(?P<at>\bEnableDefaultHealthCheckService\s*\(\s*(?:true|1|\w{6,}|\w+(?:\.|->|::)[\w.:>()-]*)\s*\))`), sign: sign{kind: health}},
	{code: regexp.MustCompile(`(?P<at>\bHealthCheckServiceServerBuilderOption\s*)[>({]`), sign: sign{kind: health}},
	{code: regexp.MustCompile(`(?P<at>(?:\w*::)*\bHealth::\w*Service)\b`), imports: regexp.MustCompile(`\bhealth\.grpc\.pb\.h$`), sign: sign{kind: health}},
	{code: regexp.MustCompile(`(?P<at>\bagrpc::add_health_check_service)\s*\(`), sign: sign{kind: health}},
}

// cppImplied are the signs that count where no server is made.
var cppImplied = []clue{
	{code: regexp.MustCompile(`(?:\.|->)\s*(?P<at>RegisterService)\s*\(`), sign: sign{kind: cppImplies, framework: cppGRPC}},
	{code: regexp.MustCompile(`\bpublic\s+(?P<at>(?:\w*::)*\w+::(?:Service|AsyncService|CallbackService|ExperimentalCallbackService)\b)`),
		sign: sign{kind: cppImplies, framework: cppGRPC}},
	{code: regexp.MustCompile(`\bpublic\s+(?P<at>(?:\w*::)*\w+Base::Component\b)`), sign: sign{kind: cppImplies, framework: cppUserver}},
}

var (
	cppInclude = regexp.MustCompile(`(?m)^[ \t]*#[ \t]*include[ \t]*[<"](?P<name>[^>"\n]*)[>"]`)
	cppBuilder = regexp.MustCompile(`\bServerBuilder\b`)
	// cppStubs are the generated headers, of protoc and of userver.
	cppStubs = regexp.MustCompile(`\.grpc\.pb\.h$|_service\.usrv\.pb\.hpp$`)
)

// cppSource reads a source or a header; a nil value where it says nothing.
func cppSource(text []byte) *sheet {
	if !cppWords.in(text) {
		return nil
	}
	s := cppGrammar.read(text)
	imports := s.imports(cppInclude)
	signs := s.find(cppClues, imports)
	if slices.ContainsFunc(imports, cppStubs.MatchString) || cppBuilder.Match(s.code) {
		signs = append(signs, s.find(cppImplied, imports)...)
	}
	signs = append(signs, s.cppPorts()...)
	if len(signs) == 0 {
		return nil
	}
	return &sheet{signs: signs}
}

var cppWords = lookFor("BuildAndStart", "ServerBuilder", "ugrpc", ".grpc.pb.h", "HealthCheckService", "AddListeningPort")

// cppDeclared takes `#define PORT 50051`, `ABSL_FLAG(uint16_t, port, 50051, "");`, `DEFINE_int32(port, 50051, "");`,
// `int port = 50051;` and `const std::string address("0.0.0.0:50051");`.
var cppDeclared = []*regexp.Regexp{
	regexp.MustCompile(`#[ \t]*define[ \t]+(?P<name>\w+)[ \t]+`),
	regexp.MustCompile(`\b(?:ABSL_FLAG\s*\(\s*[\w:]+\s*,|DEFINE_\w+\s*\()\s*(?P<name>\w+)\s*,\s*`),
	regexp.MustCompile(`\b(?P<name>\w+)(?:\[\w*\])?\s*=\s*`),
	regexp.MustCompile(`[\w>:,]\s+(?P<name>\w+)\s*[({]\s*`),
}

var cppListening = regexp.MustCompile(`(?:\.|->)\s*AddListeningPort\s*\(`)

// cppPorts takes the ports that are listened on.
func (s *source) cppPorts() []sign {
	var found []sign
	listening := cppListening.FindAllIndex(s.code, maxListens)
	if len(listening) == 0 {
		return nil
	}
	v := s.values(",;\n", cppDeclared...)
	for _, m := range listening {
		if args, _ := s.arguments(m[1]); len(args) > 1 {
			found = append(found, sign{kind: listens, port: v.port(args[0])})
		}
	}
	return found
}

// cppConclude makes a service of each file that makes a server.
func cppConclude(facts []fact, note func(format string, args ...any)) []Service {
	all := projects(facts, itself)
	made := false
	for _, p := range all {
		made = made || p.has(constructs)
	}
	for _, p := range all {
		for _, u := range p.units {
			for i := range u.signs {
				if u.signs[i].kind == cppImplies && !made {
					u.signs[i].kind = registers
				}
			}
		}
	}
	leaveOutBuilt(all)
	services := servers(all, note)
	for i, s := range services {
		if slices.ContainsFunc(facts, func(f fact) bool { return f.path == s.Evidence.Path && f.own == any(cppArchived{}) }) {
			services[i].Health = ""
		}
	}
	return services
}
