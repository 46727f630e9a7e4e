package haskell

import (
	"regexp"
	"slices"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/source"
)

// exported returns a rule for each name, which the modules export. A name that the file does not import is another one.
func exported(modules string, kind analyzer.Kind, framework string, names ...string) []analyzer.Rule {
	var rules []analyzer.Rule
	for _, name := range names {
		rules = append(rules, analyzer.Rule{
			Code:    regexp.MustCompile(`\b(?P<at>(?:[A-Z]\w*\.)*` + name + `)(?:[^\w'.:=]|\.[^\w]|$)`),
			Imports: source.Exactly(`(?:` + modules + `):(?:\*|` + name + `)`),
			Finding: analyzer.Finding{Kind: kind, Framework: framework},
		})
	}
	return rules
}

const (
	grapesyModule  = `Network\.GRPC\.Server\.Run`
	serverModule   = `Network\.GRPC\.Server`
	waiModule      = `Network\.GRPC\.Server(?:\.Wai)?`
	handlerModules = `Network\.GRPC\.Server(?:\.\w+)*`
	highLevel      = `Network\.GRPC\.HighLevel(?:\.Generated)?`
	loopModule     = `Network\.GRPC\.HighLevel(?:\.Server(?:\.Unregistered)?)?`
	lowLevel       = `Network\.GRPC\.LowLevel(?:\.Server(?:\.Unregistered)?)?`
	muModule       = `Mu\.(?:GRpc\.Server|Server\.GRpc)` // the latter in the first versions
)

var rules = slices.Concat(
	exported(grapesyModule, analyzer.ServerConstructed, grapesy, "runServerWithHandlers", "runServer", "forkServer"),
	exported(serverModule, analyzer.ServiceRegistered, grapesy, "mkGrpcServer"),

	exported(highLevel, analyzer.ServerConstructed, grpcHaskell, "defaultServiceOptions"),
	exported(loopModule, analyzer.ServerConstructed, grpcHaskell, "serverLoop"),
	exported(lowLevel, analyzer.ServerConstructed, grpcHaskell, "withServer"),
	[]analyzer.Rule{{
		Code:    regexp.MustCompile(`\b(?:[A-Z]\w*\.)*ServiceOptions\s*\{`),
		Imports: source.Exactly(highLevel + `:(?:\*|ServiceOptions)`),
		Finding: analyzer.Finding{Kind: analyzer.ServerConstructed, Framework: grpcHaskell},
	}},

	exported(serverModule, analyzer.ServerConstructed, warpGRPC, "runGrpc"),
	exported(waiModule, analyzer.ServiceRegistered, warpGRPC, "grpcApp", "grpcService"),

	exported(muModule, analyzer.ServerConstructed, muHaskell,
		"runGRpcApp", "runGRpcAppTrans", "runGRpcAppSettings", "runGRpcAppTLS"),
	exported(muModule, analyzer.ServiceRegistered, muHaskell,
		"gRpcApp", "gRpcAppTrans", "gRpcMultipleApp", "gRpcMultipleAppTrans"),
)

// topLevelName is what a line without indentation begins with: a definition of the file's own.
var topLevelName = regexp.MustCompile(`(?m)^(?P<name>[a-z_][\w']*)`)

// matchImported returns the findings of the rules, for names as the file has to write them: with the module before them
// where the import is qualified or the file defines such a name itself.
func matchImported(t *source.Text, i imports) []analyzer.Finding {
	own := map[string]bool{}
	for _, name := range t.Names(topLevelName) {
		own[name] = true
	}
	isQualified := func(f analyzer.Finding) bool { return strings.Contains(f.Excerpt, ".") }
	isOther := func(f analyzer.Finding) bool { return !isQualified(f) }
	isOwn := func(f analyzer.Finding) bool { return isQualified(f) || own[f.Excerpt] }
	return append(slices.DeleteFunc(analyzer.Match(t, rules, i.all), isOther),
		slices.DeleteFunc(analyzer.Match(t, rules, i.unqualified), isOwn)...)
}

var healthRegistered = analyzer.Finding{Kind: analyzer.HealthRegistered}

// healthRules are those of files that refer to the messages of the health service. A client refers to them too, and to
// the methods of the service, so the files have to import the module of a server.
var healthRules = []analyzer.Rule{
	{Code: regexp.MustCompile(`\bProtobufMethodsOf\s+(?:\w+\.)*Health\b`), Finding: healthRegistered},
	{
		Code:    regexp.MustCompile(`\b(?:Protobuf|RPC)\s+@?(?:\w+\.)*Health\s+@?"`),
		Imports: source.Exactly(handlerModules + `:.*`), Finding: healthRegistered,
	},
	{Code: regexp.MustCompile(`(?m)[\s.(](?P<at>healthServer)\s+[^\s:=]`), Finding: healthRegistered},
	{
		Code:    regexp.MustCompile(`\bServer(?:T\s+'\[[^\]]{0,99}\]|IO)\s+\w+\s+(?P<at>Health)\b`),
		Finding: healthRegistered,
	},
}

// healthPathRules are those of files that name the methods of the health service in full.
var healthPathRules = []analyzer.Rule{{
	Code:    regexp.MustCompile(`\b(?P<at>UnaryHandler\s*\(?\s*(?:MethodName\s*)?"(?P<literal> *)")`),
	Literal: source.Exactly(`/grpc\.health\.v1\.Health/Check`), Finding: healthRegistered,
}}
