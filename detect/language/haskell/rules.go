package haskell

import (
	"slices"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

// exported returns a rule for each name that the modules export. A file without the import has a different name.
func exported(modules string, proves finding.Make, names ...string) []analyzer.Rule {
	var rules []analyzer.Rule
	for _, name := range names {
		rules = append(rules, analyzer.Rule{
			Code:    lazyregexp.New(`\b(?P<at>(?:[A-Z]\w*\.)*` + name + `)(?:[^\w'.:=]|\.[^\w]|$)`),
			Imports: source.Exactly(`(?:` + modules + `):(?:\*|` + name + `)`),
			Proves:  proves,
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
	muModule       = `Mu\.(?:GRpc\.Server|Server\.GRpc)` // Server.GRpc in the first versions
)

var rules = slices.Concat(
	exported(grapesyModule, finding.Constructs(grapesy), "runServerWithHandlers", "runServer", "forkServer"),
	exported(serverModule, finding.Registers(grapesy), "mkGrpcServer"),

	exported(highLevel, finding.Constructs(grpcHaskell), "defaultServiceOptions"),
	exported(loopModule, finding.Constructs(grpcHaskell), "serverLoop"),
	exported(lowLevel, finding.Constructs(grpcHaskell), "withServer"),
	[]analyzer.Rule{{
		Code:    lazyregexp.New(`\b(?:[A-Z]\w*\.)*ServiceOptions\s*\{`),
		Imports: source.Exactly(highLevel + `:(?:\*|ServiceOptions)`),
		Proves:  finding.Constructs(grpcHaskell),
	}},

	exported(serverModule, finding.Constructs(warpGRPC), "runGrpc"),
	exported(waiModule, finding.Registers(warpGRPC), "grpcApp", "grpcService"),

	exported(muModule, finding.Constructs(muHaskell),
		"runGRpcApp", "runGRpcAppTrans", "runGRpcAppSettings", "runGRpcAppTLS"),
	exported(muModule, finding.Registers(muHaskell),
		"gRpcApp", "gRpcAppTrans", "gRpcMultipleApp", "gRpcMultipleAppTrans"),
)

// topLevelName begins a line without indentation, a definition of the file.
var topLevelName = lazyregexp.New(`(?m)^(?P<name>[a-z_][\w']*)`)

// matchImported returns the findings of the rules. A name needs the module in front if the import is qualified or the
// file defines the same name.
func matchImported(t *source.Text, i imports) []finding.Finding {
	own := map[string]bool{}
	for _, name := range t.Names(topLevelName) {
		own[name] = true
	}
	isQualified := func(name string) bool { return strings.Contains(name, ".") }
	isUnqualified := func(name string) bool { return !isQualified(name) && !own[name] }
	qualified := analyzer.Findings(t, keep(isQualified), i.all)
	return append(qualified, analyzer.Findings(t, keep(isUnqualified), i.unqualified)...)
}

// keep restricts the rules to the names that a function accepts.
func keep(is func(name string) bool) []analyzer.Rule {
	kept := slices.Clone(rules)
	for i, r := range rules {
		kept[i].Proves = func(at *finding.Site, name string) finding.Finding {
			if !is(name) {
				return nil
			}
			return r.Proves(at, name)
		}
	}
	return kept
}

// healthRules are for files with messages of the health service. A client has the messages and the methods too, so the
// rule for methods requires the import of a server's module.
var healthRules = []analyzer.Rule{
	{Code: lazyregexp.New(`\bProtobufMethodsOf\s+(?:\w+\.)*Health\b`), Proves: finding.RegistersHealth},
	{
		Code:    lazyregexp.New(`\b(?:Protobuf|RPC)\s+@?(?:\w+\.)*Health\s+@?"`),
		Imports: source.Exactly(handlerModules + `:.*`), Proves: finding.RegistersHealth,
	},
	{Code: lazyregexp.New(`(?m)[\s.(](?P<at>healthServer)\s+[^\s:=]`), Proves: finding.RegistersHealth},
	{
		Code:   lazyregexp.New(`\bServer(?:T\s+'\[[^\]]{0,99}\]|IO)\s+\w+\s+(?P<at>Health)\b`),
		Proves: finding.RegistersHealth,
	},
}

// healthPathRules match full names of methods of the health service.
var healthPathRules = []analyzer.Rule{{
	Code:    lazyregexp.New(`\b(?P<at>UnaryHandler\s*\(?\s*(?:MethodName\s*)?"(?P<literal> *)")`),
	Literal: source.Exactly(`/grpc\.health\.v1\.Health/Check`), Proves: finding.RegistersHealth,
}}
