package detect

import (
	"bytes"
	"path"
	"regexp"
	"slices"
	"strings"
)

func init() {
	register(language{
		name:       "ruby",
		title:      "Ruby",
		frameworks: rubyFrameworks,
		wants:      rubyWants,
		look:       rubyLook,
		conclude:   rubyConclude,
	})
}

// rubyNotOwn are folders whose code is in no program of the app: tests (RSpec's, Minitest's, Cucumber's) and vendored
// copies.
var rubyNotOwn = []string{"spec", "specs", "test", "tests", "features", "e2e", "mock", "mocks", "third_party"}

func rubyOwn(p string) bool {
	return !inOneOf(p, rubyNotOwn) &&
		!strings.Contains(p, "bundle/ruby/") // where Bundler installs: vendor/bundle, or another folder that it is told
}

// rubyTest reports test files, by RSpec's and Minitest's names.
func rubyTest(name string) bool {
	return strings.HasSuffix(name, "_spec.rb") || strings.HasSuffix(name, "_test.rb") || strings.HasPrefix(name, "test_") ||
		name == "spec_helper.rb"
}

// rubyPrograms are the files beside sources whose commands decide: of process types, and of AnyCable.
var rubyPrograms = []string{"Procfile", "anycable.yml"}

func rubyWants(p string) bool {
	name := path.Base(p)
	switch path.Ext(name) {
	case ".rb":
		stub := strings.HasSuffix(name, "_pb.rb") && !strings.HasSuffix(name, rubyStubEnding)
		return !stub && !rubyTest(name) && rubyOwn(p)
	case ".ru", ".rake", ".gemspec":
		return rubyOwn(p)
	case "", ".yml":
		return (name == "Gemfile" || slices.Contains(rubyPrograms, name) || rubyInPrograms(p)) && rubyOwn(p)
	}
	return false
}

// rubyStubEnding is of the stubs of services, which say what the app may implement.
const rubyStubEnding = "_services_pb.rb"

// rubyInPrograms reports whether a file lies where programs do, which have no ending.
func rubyInPrograms(p string) bool {
	folder := path.Base(path.Dir(p))
	return path.Ext(p) == "" && (folder == "bin" || folder == "exe")
}

func rubyLook(f *file) (*sheet, error) {
	name := path.Base(f.path)
	if name == "Gemfile" || path.Ext(name) == ".gemspec" {
		return &sheet{root: true}, nil
	}
	if name == "Procfile" || name == "anycable.yml" {
		return rubySettings(f)
	}
	if path.Ext(name) == "" && !rubyScript(f) {
		return nil, nil
	}
	text, err := f.text()
	if err != nil {
		return nil, err
	}
	if strings.HasSuffix(name, rubyStubEnding) {
		return rubyStubs(text), nil
	}
	if !rubyWords.in(text) {
		return nil, nil
	}
	return rubySource(text), nil
}

// rubyScript reports whether a file without an ending names Ruby as its interpreter.
func rubyScript(f *file) bool {
	first := make([]byte, 64)
	n, _ := f.ReadAt(first, 0)
	line, _, _ := bytes.Cut(first[:n], []byte("\n"))
	return bytes.HasPrefix(line, []byte("#!")) && bytes.Contains(line, []byte("ruby"))
}

var rubyWords = lookFor("GRPC", "Grpc", "Gruf", "Griffin", "AnyCable", "::Service")

// rubyStubNames are the services that generated stubs hold, as the last parts of their modules' names.
type rubyStubNames []string

var rubyStub = regexp.MustCompile(`(?m)^\s*module\s+(?:[\w:]*::)?(\w+)\s*(?:#[^\n]*)?$(?:\s*#[^\n]*$)*\s*class Service\b`)

func rubyStubs(text []byte) *sheet {
	var names rubyStubNames
	for _, m := range rubyStub.FindAllSubmatch(text, -1) {
		names = append(names, string(m[1]))
	}
	if names == nil {
		return nil
	}
	return &sheet{own: names}
}

// rubySource returns what a source says, or nil.
func rubySource(text []byte) *sheet {
	s := rubyGrammar(text).read(text)
	signs, namesGRPC := s.find(rubyClues, nil), rubyNamesGRPC.Match(text)
	for _, m := range rubyImplements.FindAllSubmatchIndex(s.code, -1) {
		signs = append(signs, rubyImplementation(s, m, namesGRPC))
	}
	if signs = append(signs, rubyPorts(s)...); len(signs) == 0 {
		return nil
	}
	return &sheet{signs: signs}
}

var rubyFrameworks = []framework{
	{"grpc", "`GRPC::RpcServer`, a subclass of a generated `X::Service` outside of stubs", rubyByHand, "server.handle(" + rubyChecker + ")" + rubyRequire},
	{"gruf", "a subclass of `Gruf::Controllers::Base`, `Gruf::Server`, `Gruf::Cli::Executor`",
		"the framework, with `health_check_enabled` or `--health-check`; or the app, by a controller",
		"Gruf.configure { |c| c.health_check_enabled = true }"},
	{"griffin", "`Griffin::Server`", rubyByHand, "c.services " + rubyChecker + rubyRequire},
	{"grpc_kit", "`GrpcKit::Server`", rubyByHand, "server.handle(" + rubyChecker + ")" + rubyRequire},
	{"anycable", "`bundle exec anycable` in a Procfile, `rpc_host` in anycable.yml or `AnyCable.configure`, `AnyCable::CLI`", "the framework", ""},
}

const rubyByHand = "the app, by `Grpc::Health::Checker` or an own `Grpc::Health::V1::Health::Service`"

// The checker says NOT_FOUND to a probe of the whole server until it is given the status of the empty name.
const (
	rubyChecker = `Grpc::Health::Checker.new.tap { |c| c.add_status("", Grpc::Health::V1::HealthCheckResponse::ServingStatus::SERVING) }`
	rubyRequire = `, with require "grpc/health/checker"`
)
