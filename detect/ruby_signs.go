package detect

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/appyaml"
)

// The kinds of signs in Ruby sources that what lies around them decides on.
const (
	rubyMayImplement kind = ownKinds + iota // a subclass of what is called Service: a stub, or an app's own class
	rubyOwnHealth                           // an implementation of the health service, which has to be served yet
	rubyServices                            // gruf is given services that are no controllers
)

// rubyClues: each framework's health behaviour is as its own sources have it. lib/gruf/cli/executor.rb registers the
// service with health_check_enabled, lib/anycable/grpc/server.rb always; grpc's RpcServer, griffin and grpc_kit never.
var rubyClues = []clue{
	{code: regexp.MustCompile(`\bGRPC::RpcServer\s*\.\s*new\b`), sign: sign{kind: constructs, framework: "grpc"}},
	{code: regexp.MustCompile(`(?:^|[^:\w.])(?P<at>RpcServer\s*\.\s*new\b)`), sign: sign{kind: constructs, framework: "grpc"}},
	{code: regexp.MustCompile(`(?m)^\s*class\s+(?P<at>[\w:]+\s*<\s*(?:::)?GRPC::RpcServer\b)`), sign: sign{kind: constructs, framework: "grpc"}},
	{code: regexp.MustCompile(`\bGruf::(?:Server|Cli::Executor)\s*\.\s*new\b`), sign: sign{kind: constructs, framework: "gruf"}},
	{code: regexp.MustCompile(`(?m)^\s*class\s+(?P<at>[\w:]+\s*<\s*(?:::)?Gruf::Controllers::Base\b)`), sign: sign{kind: registers, framework: "gruf"}},
	{code: regexp.MustCompile(`\bGriffin::Server\s*\.\s*(?:run|configure|new)\b`), sign: sign{kind: constructs, framework: "griffin"}},
	{code: regexp.MustCompile(`\bGrpcKit::Server\s*\.\s*new\b`), sign: sign{kind: constructs, framework: "grpc_kit"}},
	{code: regexp.MustCompile(`\bAnyCable::(?:CLI\s*\.\s*(?:new\b|embed!)|GRPC::Server\s*\.\s*new\b)`),
		sign: sign{kind: constructs, framework: "anycable", automatic: true}},
	{code: regexp.MustCompile(`(?s)\bAnyCable\.configure\b.*?(?P<at>\.\s*rpc_host\s*=)`),
		sign: sign{kind: registers, framework: "anycable", automatic: true}},
	{code: regexp.MustCompile(`\bGrpc::Health::Checker\b`), sign: sign{kind: health}},
	{code: regexp.MustCompile(`\bbind[ \t(]+(?:::)?Grpc::Health::V1::Health::Service\b`), sign: sign{kind: health}},
	{code: regexp.MustCompile(`<\s*(?:::)?(?:Grpc::)?Health::V1::Health::Service\b`), sign: sign{kind: rubyOwnHealth}},
	{code: regexp.MustCompile(`\bservices\]?\s*(?:=|<<)[^>=~]`), sign: sign{kind: rubyServices}},
	{code: regexp.MustCompile(`\bhealth_check_enabled\s*=\s*true\b`), sign: sign{kind: health}},
}

// rubyImplements is a class that implements a generated service: its base is called Service.
var rubyImplements = regexp.MustCompile(`(?m)^[ \t]*class[ \t]+([\w:]+[ \t]*<[ \t]*(?:::)?((?:\w+::)*(\w+))::Service)\b[ \t]*(?:;|$|#)`)

// rubyNamesGRPC is in sources that implement a service whose stub is not in the tree: what they require or raise, or
// the parameter as the generator's examples name it.
var rubyNamesGRPC = regexp.MustCompile(`\bGRPC::|_services_pb\b|_(?:unused_)?call\b`)

func rubyImplementation(s *source, m []int, namesGRPC bool) sign {
	said := sign{kind: rubyMayImplement, framework: "grpc", line: s.line(m[2]), what: onOneLine(s.text[m[2]:m[3]]), from: string(s.text[m[6]:m[7]])}
	if namesGRPC {
		said.kind = registers
	}
	if string(s.text[m[4]:m[5]]) == "Grpc::Health::V1::Health" {
		said.what, said.kind = "", rubyOwnHealth
	}
	return said
}

var procfileClues = []clue{
	{code: regexp.MustCompile(`(?m)^[\w-]+:.*\b(?:bundle exec|bin/)\s*gruf(?:\s|$)`), sign: sign{kind: registers, framework: "gruf"}},
	{code: regexp.MustCompile(`(?m)^[\w-]+:.*\bgruf\b.*\s--health-check\b`), sign: sign{kind: health}},
	{code: regexp.MustCompile(`(?m)^[\w-]+:.*\b(?:bundle exec|bin/)\s*anycable(?:\s|$)`),
		sign: sign{kind: registers, framework: "anycable", automatic: true}},
}

// rubySettings reads what starts a framework's server in place of the app's own code.
func rubySettings(f *file) (*sheet, error) {
	text, err := f.text()
	if err != nil {
		return nil, err
	}
	if path.Base(f.path) == "anycable.yml" {
		return anyCableSettings(text)
	}
	s := grammar{toLineEnd("#")}.read(text)
	if signs := s.find(procfileClues, nil); signs != nil {
		return &sheet{signs: signs}, nil
	}
	return nil, nil
}

// anyCableSettings takes where each environment's section of anycable.yml has the server.
func anyCableSettings(text []byte) (*sheet, error) {
	documents, err := appyaml.Read(text)
	var signs []sign
	for _, document := range documents {
		for _, s := range document {
			_, key, _ := strings.Cut(s.Key, ".")
			// Environments share a line where they merge the same mapping.
			if key != "rpc_host" || slices.ContainsFunc(signs, func(other sign) bool { return other.line == s.Line }) {
				continue
			}
			signs = append(signs,
				sign{kind: registers, framework: "anycable", automatic: true, line: s.Line, what: onOneLine([]byte("rpc_host: " + s.Value))},
				sign{kind: listens, line: s.Line, port: statedPort(s.Value)})
		}
	}
	if signs == nil {
		return nil, err
	}
	return &sheet{signs: signs}, err
}

// rubyConclude makes a service of each source that makes a server.
func rubyConclude(facts []fact, note func(format string, args ...any)) []Service {
	all := projects(facts, itself)
	stubs := map[string]bool{}
	for _, f := range facts {
		if names, ok := f.own.(rubyStubNames); ok {
			for _, name := range names {
				stubs[name] = true
			}
		}
	}
	for _, p := range all {
		controllers := p.has(registers) && !p.has(constructs, rubyServices) && rubyLead(p) == "gruf"
		for _, u := range p.units {
			for i := range u.signs {
				switch s := &u.signs[i]; {
				case s.kind == rubyMayImplement && stubs[s.from]:
					s.kind = registers
				case s.kind == rubyOwnHealth && !controllers:
					s.kind = health
				}
			}
			u.signs = slices.DeleteFunc(u.signs, func(s placed) bool { return s.kind >= ownKinds })
		}
	}
	return servers(all, note)
}

// rubyLead returns the framework of the project's first implementation. gruf serves controllers alone, unless told.
func rubyLead(p *project) string {
	for _, u := range p.units {
		if s, ok := u.first(registers); ok {
			return s.framework
		}
	}
	return ""
}
