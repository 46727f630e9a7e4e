// Package elixir recognizes gRPC servers in Elixir with the package grpc (grpc-elixir) or with grpcbox, which the
// configuration of an app starts. Begin with [Analyzer].
package elixir

import (
	"path"
	"slices"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/detect/tree"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

// Analyzer recognizes gRPC servers in Elixir.
var Analyzer = analyzer.New(definition)

var definition = analyzer.Definition[struct{}]{
	Language:    analyzer.Language{Name: "elixir", Title: "Elixir", Frameworks: frameworks, Toolchain: toolchain},
	Required:    required,
	MayServe:    keywords.In,
	Analyze:     analyze,
	PostAnalyze: analyzer.ServersInFiles,
}

const (
	// grpcElixir has no health service: servers (grpc_server/lib/grpc/server.ex) have only the services of their
	// endpoints.
	grpcElixir = "grpc-elixir"
	// grpcbox has a health service, which its server (grpcbox_services_sup.erl) adds only if named in the
	// configuration.
	grpcbox = "grpcbox"
)

var frameworks = []analyzer.Framework{{
	Name:     grpcElixir,
	Evidence: "`GRPC.Server.Supervisor`, `GRPC.Server.start`, `use GRPC.Endpoint`",
	Health:   "the app, by a server of `Grpc.Health.V1.Health.Service`",
	Advice: "generate code from grpc/health/v1/health.proto with protoc-gen-elixir, write a module with " +
		"`use GRPC.Server, service: Grpc.Health.V1.Health.Service` that answers check with :SERVING, and `run` it in " +
		"the endpoint",
	Keywords: []string{"GRPC.", "Grpc"},
	Settings: "`config.exs`, `prod.exs`, `runtime.exs` in `config`",
}, {
	Name:     grpcbox,
	Evidence: "`config :grpcbox, servers: [...]`",
	Health:   "the app, by `grpcbox_health_service`",
	Advice: "in config :grpcbox, add :grpcbox_health_pb to service_protos and " +
		":\"grpc.health.v1.Health\" => :grpcbox_health_service to services",
	Keywords: []string{":grpcbox"},
	Settings: "`config :grpcbox`",
}}

var (
	// otherDirs are directories that Mix compiles into no release: tests, dependencies, Mix's output, and files that
	// programs read only at run time (priv).
	otherDirs = source.Exactly(`test|tests|deps|_build|priv|cover|doc|docs|bench|benchmarks?|examples`)
	// releaseConfig are the files in a directory config that configure a release, for all environments or for
	// production.
	releaseConfig = source.Exactly(`(config|prod|runtime)\.exs`)
)

func required(file string) bool {
	if !strings.HasSuffix(file, ".ex") && !strings.HasSuffix(file, ".exs") {
		return false
	}
	dir, name := path.Split(file)
	if path.Base(dir) == "config" && strings.HasSuffix(name, ".exs") && !releaseConfig.MatchString(name) {
		return false
	}
	if strings.HasSuffix(name, ".pb.ex") || strings.HasSuffix(name, "_test.exs") {
		return false
	}
	return !tree.AnyDirMatches(file, otherDirs)
}

// inUmbrella matches the mix.exs of an app of an umbrella project (mix new --umbrella). The apps of an umbrella share
// dependencies and a release, so the umbrella is one project.
var inUmbrella = lazyregexp.New(`\bdeps_path:\s*"\.\./\.\./deps"`)

func analyze(f *tree.File) (*analyzer.Result[struct{}], error) {
	text, err := f.Text()
	if err != nil {
		return nil, err
	}
	if path.Base(f.Path) == "mix.exs" {
		return &analyzer.Result[struct{}]{ProjectRoot: !inUmbrella.Match(text)}, nil
	}
	return analyzeSource(text), nil
}

var keywords = analyzer.Keywords(frameworks)

func analyzeSource(text []byte) *analyzer.Result[struct{}] {
	if !keywords.In(text) {
		return nil
	}
	t := grammar.Read(text)
	if isLibrary.Match(t.Code) {
		return nil
	}
	rules := rulesWithServices
	if healthMessages.Match(t.Code) {
		rules = rulesWithHealth
	}
	found := analyzer.Findings(t, rules, t.Names(aliasOrConfig))
	if found == nil {
		return nil
	}
	isApplication := useApplication.Match(t.Code)
	found = finding.InMain(found, func(finding.Server) bool { return isApplication })
	found = slices.Concat(found, listeners(t), analyzer.Findings(t, transports, nil))
	found = analyzer.Associate(t, analyzer.MarkConditional(t, found, nil))
	return &analyzer.Result[struct{}]{Findings: append(found, analyzer.HealthChecks(t)...)}
}

// useApplication is in the start module of an app.
var useApplication = lazyregexp.New(`\buse[\s(]+Application\b`)
