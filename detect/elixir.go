package detect

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

func init() {
	register(language{
		name:       "elixir",
		title:      "Elixir",
		frameworks: elixirFrameworks,
		wants:      elixirWants,
		look:       elixirLook,
		conclude:   serversInFiles,
	})
}

// The package grpc has no health service: its servers (grpc_server/lib/grpc/server.ex) answer what endpoints run. grpcbox
// has one, which its server (grpcbox_services_sup.erl) adds only where the configuration names it.
var elixirFrameworks = []framework{
	{"grpc-elixir", "`GRPC.Server.Supervisor`, `GRPC.Server.start`, `use GRPC.Endpoint`, `use GRPC.Server`",
		"the app, by a server of `Grpc.Health.V1.Health.Service`",
		"generate code from grpc/health/v1/health.proto with protoc-gen-elixir, write a module with " +
			"`use GRPC.Server, service: Grpc.Health.V1.Health.Service` that answers check with :SERVING, and `run` it in the endpoint"},
	{"grpcbox", "`config :grpcbox, servers: [...]`", "the app, by `grpcbox_health_service`",
		"in config :grpcbox, add :grpcbox_health_pb to service_protos and " +
			":\"grpc.health.v1.Health\" => :grpcbox_health_service to services"},
}

// elixirNotOwn are folders that Mix compiles into no release: tests, dependencies, its output, and what programs only read
// at run time (priv).
var elixirNotOwn = exactly(`test|tests|deps|_build|priv|cover|doc|docs|bench|benchmarks?|examples`)

func elixirWants(p string) bool {
	if !strings.HasSuffix(p, ".ex") && !strings.HasSuffix(p, ".exs") {
		return false
	}
	dir, name := path.Split(p)
	if path.Base(dir) == "config" && strings.HasSuffix(name, ".exs") && !elixirConfig.MatchString(name) {
		return false
	}
	return !strings.HasSuffix(name, ".pb.ex") && !strings.HasSuffix(name, "_test.exs") && !inFolder(p, elixirNotOwn)
}

// elixirConfig are the files of a folder config that configure a release: for all environments or for production.
var elixirConfig = exactly(`(config|prod|runtime)\.exs`)

func elixirLook(f *file) (*sheet, error) {
	text, err := f.text()
	if err != nil {
		return nil, err
	}
	if path.Base(f.path) == "mix.exs" {
		return &sheet{root: !elixirInUmbrella.Match(text)}, nil
	}
	return elixirSource(text), nil
}

// An umbrella's apps share its dependencies (mix new --umbrella): they are built into one release, and are one project.
var elixirInUmbrella = regexp.MustCompile(`\bdeps_path:\s*"\.\./\.\./deps"`)

var elixirWords = lookFor("GRPC.", "Grpc", ":grpcbox")

func elixirSource(text []byte) *sheet {
	if !elixirWords.in(text) {
		return nil
	}
	s := elixirGrammar.read(text)
	if elixirLibrary.Match(s.code) {
		return nil
	}
	clues := elixirServices
	if elixirHealthStubs.Match(s.code) {
		clues = elixirHealthClues
	}
	signs := s.find(clues, s.imports(elixirNames))
	if signs == nil {
		return nil
	}
	values := s.values("\n", elixirDeclared...)
	for _, listen := range elixirListens {
		for _, m := range listen.FindAllSubmatchIndex(s.code, maxListens) {
			signs = append(signs, sign{kind: listens, port: values.port(span{m[1], s.until(m[1], ",\n")})})
		}
	}
	return &sheet{signs: signs}
}

var (
	elixirMakes  = sign{kind: constructs, framework: "grpc-elixir"}
	elixirServes = sign{kind: registers, framework: "grpc-elixir"}
)

var elixirClues = []clue{
	{code: regexp.MustCompile(`\bGRPC\.Server\.(Supervisor|start|start_endpoint)\b`), sign: elixirMakes},
	{code: regexp.MustCompile(`[^.\w](?P<at>Server\.(Supervisor|start|start_endpoint))\b`),
		imports: exactly(`GRPC\.(Server|\{[^}]*\bServer\b[^}]*\})`), sign: elixirMakes},
	{code: regexp.MustCompile(`\buse[\s(]+(?P<at>GRPC\.Endpoint)\b`), sign: elixirServes},
	{code: regexp.MustCompile(`\bservers:\s*\[\s*%\{\s*:?grpc_opts\b`), imports: exactly(`:grpcbox`),
		sign: sign{kind: constructs, framework: "grpcbox"}},
	{code: regexp.MustCompile(`:grpcbox_health_service\b`), sign: sign{kind: health}},
	// Packages of the health service bring a module that an endpoint runs.
	{code: regexp.MustCompile(`\brun[\s(\[]+(?P<at>[\w.]*(?i:grpc)[\w.]*Health(?:Check)?(?:\.?(?:Server|Service|V1[\w.]*))?)\b[^.]`),
		sign: sign{kind: health}},
}

// A file with a server that speaks of the health service's stubs, aliased or not, implements it.
var (
	elixirServices    = append(slices.Clip(elixirClues), clue{code: elixirServer, sign: elixirServes})
	elixirHealthClues = append(slices.Clip(elixirClues), clue{code: elixirServer, sign: sign{kind: health}})
	elixirHealthStubs = regexp.MustCompile(`\bGrpc\.Health\.V1\b`)
)

var (
	// The package grpc itself.
	elixirLibrary = regexp.MustCompile(`\bdefmodule\s+GRPC\.(?:Server|Endpoint)\b`)
	elixirNames   = regexp.MustCompile(`\b(?:alias|config)[\s(]+(?P<name>GRPC\.(?:\w+|\{[^}]*\})|:grpcbox\b)`)
	elixirServer  = regexp.MustCompile(`\buse[\s(]+(?P<at>GRPC\.Server)\b[^.]`)
)

// The places before a server's port, and the declarations that may hold it.
var (
	elixirListens = []*regexp.Regexp{
		regexp.MustCompile(`\bServer\.Supervisor\s*,[^{}]{0,200}?\bport:\s*`),
		regexp.MustCompile(`\bServer\.Supervisor\s*,\s*\[?\s*\{\s*(?:[\w.]+|\[[^\]]*\])\s*,\s*`),
		regexp.MustCompile(`\blisten_opts(?::|\s*=>)\s*%\{[^}]*?\bport(?::|\s*=>)\s*`),
		regexp.MustCompile(`\bServer\.start(?:_endpoint)?\s*\(\s*(?:[\w.]+|\[[^\]]*\])\s*,\s*`),
	}
	elixirDeclared = []*regexp.Regexp{
		regexp.MustCompile(`(?m)^\s*(?P<name>\w+)\s*=\s+`),
		regexp.MustCompile(`(?m)^\s*(?P<name>@\w+)[ \t]+`),
	}
)
