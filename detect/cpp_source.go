package detect

import (
	"bytes"
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
	if !cppMayDecide(text) {
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

// cppMayDecide reports whether the bytes hold a word of any sign.
func cppMayDecide(text []byte) bool {
	for _, word := range []string{"BuildAndStart", "ServerBuilder", "ugrpc", ".grpc.pb.h", "HealthCheckService", "AddListeningPort"} {
		if bytes.Contains(text, []byte(word)) {
			return true
		}
	}
	return false
}

// cppConstants takes `const std::string address("0.0.0.0:50051");`, `int port = 50051;`, `#define PORT 50051`,
// `ABSL_FLAG(uint16_t, port, 50051, "");` and `DEFINE_int32(port, 50051, "");`.
var cppConstants = constants{
	declared: `(?:#\s*define\s+NAME\s+|\bABSL_FLAG\s*\(\s*[\w:]+\s*,\s*NAME\s*,|\bDEFINE_\w+\s*\(\s*NAME\s*,|\bNAME(?:\[\])?\s*(?:=|\(|\{|=\s*\{))\s*` +
		`([^;,{}\n]+?(?:\([^;{}\n]*?\))?)\s*(?:[;,)}]|\n|$)`,
	same:   exactly(`(?:\w+::)*(?:to_string|string|GetFlag|string_view|String|atoi|stoi)`),
	format: exactly(`(?:\w+::)*(?:StrFormat|format)`),
}

var cppListening = regexp.MustCompile(`(?:\.|->)\s*AddListeningPort\s*\(`)

// cppPorts takes the ports that are listened on.
func (s *source) cppPorts() []sign {
	var found []sign
	e := s.expressions(cppConstants)
	for _, m := range cppListening.FindAllIndex(s.code, 64) {
		args := s.arguments(m[1])
		if len(args) < 2 {
			continue
		}
		port := noPort
		if address, ok := e.stated(args[0], 0); ok {
			port = statedPort(address)
		}
		found = append(found, sign{kind: listens, port: port})
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
