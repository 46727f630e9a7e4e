// Package erlang recognizes gRPC servers in Erlang: those of grpcbox, which code or the configuration of a release
// starts, and those of emqx's grpc (grpc-erl). Begin with [Analyzer].
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

// extra is what a file tells beside its findings.
type extra struct {
	// definesModule is the framework whose module the file defines, or "". An app with a module grpc of its own does
	// not call the module of grpc-erl.
	definesModule string
}

const (
	// grpcbox has a health service, which its server adds only if the services that it is given name it
	// (load_services in src/grpcbox_services_sup.erl).
	grpcbox = "grpcbox"
	// grpcErl adds its health service to every server, unless the option enable_default_services leaves it out
	// (src/grpc.erl). It does so since version 0.6.1.
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

// ownModules are the files of the modules that servers are started with, and the frameworks that they belong to.
var ownModules = map[string]string{"grpc.erl": grpcErl, "grpcbox.erl": grpcbox}

var (
	// otherDirs are directories that rebar3 and erlang.mk compile into no release of the app: tests, dependencies
	// (rebar3 has copies of them in _build and _checkouts, erlang.mk in deps), output, and examples.
	otherDirs = source.Exactly(`test|tests|ct|deps|_build|_checkouts|_rel|ebin|priv|cover|docs?|bench|benchmarks?|` +
		`examples?|samples?`)
	// otherFiles are tests (Common Test, EUnit), what gpb and the frameworks' plugins for rebar3 generate, and the
	// configuration of tools, of tests and of development.
	otherFiles = source.Exactly(`.*_(SUITE|tests?|pb|bhvr)\.erl|` +
		`(.*[._-])?(elvis|test|ct|dev|local|shell)(\.sys)?\.config(\.src)?`)
	// releaseApps are the directories in which rebar3 keeps the applications of one release (project_app_dirs).
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

// namesGRPC is in the files whose listen_opts are those of grpcbox, and not of another server.
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
	// An application's own env, in its resource file, is not the env of the application grpcbox, which is the one that
	// is read at start (src/grpcbox_app.erl).
	if !isResource {
		findings = append(findings, configuredServers(t)...)
	}
	if !namesGRPC.Match(t.Code) {
		return findings
	}
	return append(findings, grpcboxListeners(namesIn(t))...)
}

// postAnalyze leaves out what is called in a module of the app's own that only has the name of a framework's.
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
		// The options of a server whose address is not known were not seen.
		if s.Framework == grpcbox && !s.Address.IsKnown() && s.Security.Place == (plan.Place{}) {
			servers[i].Security = plan.Security{}
		}
	}
	return servers
}
