// Package erlang recognizes gRPC servers in Erlang with grpcbox, which code or the configuration of a release starts,
// or with emqx's grpc (grpc-erl). Begin with [Analyzer].
package erlang

import (
	"path"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/detect/tree"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
	"github.com/grpc-cnb/health-probe/internal/plan"
)

// Analyzer recognizes gRPC servers in Erlang.
var Analyzer = analyzer.New(definition)

var definition = analyzer.Definition[extra]{
	Language:    analyzer.Language{Name: "erlang", Title: "Erlang", Frameworks: frameworks, Toolchain: toolchain},
	Required:    required,
	MayServe:    keywords.In,
	Analyze:     analyze,
	PostAnalyze: postAnalyze,
}

// extra is the content of a file beside its findings.
type extra struct {
	// definesModule is the framework of the module in the file, or "". An app with its own module grpc does not call
	// the module of grpc-erl.
	definesModule string
}

const (
	// grpcbox has a health service, which a server adds only if named among its services (load_services in
	// src/grpcbox_services_sup.erl).
	grpcbox = "grpcbox"
	// grpcErl adds a health service to every server since version 0.6.1, unless the option enable_default_services
	// leaves the health service out (src/grpc.erl).
	grpcErl = "grpc-erl"
)

var frameworks = []analyzer.Framework{{
	Name: grpcbox,
	Evidence: "`{grpcbox, [{servers, [#{grpc_opts => ...}]}]}` in a release's configuration; `grpcbox:start_server`, " +
		"`grpcbox:server_child_spec`, `grpcbox_services_simple_sup:start_child`",
	Health: "the app, by `'grpc.health.v1.Health'` among the services of `grpc_opts`",
	Advice: "in the server's grpc_opts, add grpcbox_health_pb to service_protos and " +
		"'grpc.health.v1.Health' => grpcbox_health_service to services",
	Keywords: []string{"grpcbox", "listen_opts"},
	Port:     analyzer.DefaultPort{Number: 8080, Source: "src/grpcbox_socket.erl"},
	Settings: "`grpcbox` in `sys.config`",
}, {
	Name:     grpcErl,
	Evidence: "`grpc:start_server(Name, Port, Services)`, also with options",
	Health:   "the framework, unless `enable_default_services` leaves it out",
	Advice:   "in the options of grpc:start_server, add 'grpc.health.v1.Health' to enable_default_services",
	Keywords: []string{"grpc:", "grpc.health.v1.Health"},
}}

// ownModules maps the files of modules that start servers to frameworks.
var ownModules = map[string]string{"grpc.erl": grpcErl, "grpcbox.erl": grpcbox}

var (
	// otherDirs are directories that rebar3 and erlang.mk compile into no release of the app: tests, dependencies
	// (rebar3 has copies in _build and _checkouts, erlang.mk in deps), output, and examples.
	otherDirs = source.Exactly(`test|tests|ct|deps|_build|_checkouts|_rel|ebin|priv|cover|docs?|bench|benchmarks?|` +
		`examples?|samples?`)
	// otherFiles are tests (Common Test, EUnit), output of gpb and of the frameworks' plugins for rebar3, and
	// configuration of tools, of tests and of development.
	otherFiles = source.Exactly(`.*_(SUITE|tests?|pb|bhvr)\.erl|` +
		`(.*[._-])?(elvis|test|ct|dev|local|shell)(\.sys)?\.config(\.src)?`)
	// releaseApps are rebar3's directories for the applications of a release (project_app_dirs).
	releaseApps = source.Exactly(`apps|lib`)
)

func required(file string) bool {
	switch path.Ext(file) {
	case ".erl", ".config":
	case ".src":
		if !strings.HasSuffix(file, ".config.src") && !strings.HasSuffix(file, ".app.src") {
			return false
		}
	default:
		return false
	}
	return !otherFiles.MatchString(path.Base(file)) && !tree.AnyDirMatches(file, otherDirs)
}

func analyze(f *tree.File) (*analyzer.Result[extra], error) {
	dir, name := path.Split(f.Path)
	if name == "rebar.config" {
		isRoot := !releaseApps.MatchString(path.Base(path.Dir(path.Clean(dir))))
		return &analyzer.Result[extra]{ProjectRoot: isRoot}, nil
	}
	text, err := f.Text()
	if err != nil {
		return nil, err
	}
	result := &analyzer.Result[extra]{
		Findings: analyzeSource(path.Ext(name) == ".erl", strings.HasSuffix(name, ".app.src"), text),
		Extra:    extra{definesModule: ownModules[name]},
	}
	return result, nil
}

// namesGRPC is in files with listen_opts of grpcbox, and not of another server.
var namesGRPC = lazyregexp.New(`\bgrpc(?:box|_opts)\b`)

var keywords = analyzer.Keywords(frameworks)

// analyzeSource returns the findings in a module, in an application resource file (.app.src) or in the configuration of
// a release.
func analyzeSource(isModule, isResource bool, text []byte) []finding.Finding {
	if !keywords.In(text) {
		return nil
	}
	t := grammar.Read(text)
	findings := append(analyzer.Findings(t, commonRules, nil), analyzer.Findings(t, transports, nil)...)
	if isModule {
		findings = append(findings, analyzer.Findings(t, moduleRules, nil)...)
		findings = analyzer.MarkConditional(t, findings, nil)
		findings = append(findings, grpcErlServers(t)...)
	}
	// The env in an application's resource file is not the env of the application grpcbox, which grpcbox reads at start
	// (src/grpcbox_app.erl).
	if !isResource {
		findings = append(findings, configuredServers(t)...)
	}
	if !namesGRPC.Match(t.Code) {
		return findings
	}
	return append(findings, grpcboxListeners(namesIn(t))...)
}

// postAnalyze leaves out the calls of the app's own modules with the name of a framework's module.
func postAnalyze(files []analyzer.File[extra], logf tree.Logf) []plan.Server {
	projects := analyzer.Projects(files, analyzer.FileIsPackage)
	for _, p := range projects {
		own := map[string]bool{}
		for _, f := range p.Files {
			own[f.Extra.definesModule] = true
		}
		p.Drop(func(f finding.Finding) bool {
			framework := finding.FrameworkOf(f)
			return framework != "" && own[framework]
		})
	}
	servers := analyzer.Servers(projects, logf)
	for i, s := range servers {
		// The options of a server with an unknown address were not seen.
		if s.Framework == grpcbox && !s.Address.IsKnown() && s.Security.Place == (plan.Place{}) {
			servers[i].Security = plan.Security{}
		}
	}
	return servers
}
