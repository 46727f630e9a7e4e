// Package swift recognizes gRPC servers in Swift with grpc-swift 2 or grpc-swift 1. Begin with [Analyzer].
package swift

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

// Analyzer recognizes gRPC servers in Swift.
var Analyzer = analyzer.New(definition)

var definition = analyzer.Definition[struct{}]{
	Language:    analyzer.Language{Name: "swift", Title: "Swift", Frameworks: frameworks, Toolchain: toolchain},
	Required:    required,
	MayServe:    keywords.In,
	Analyze:     analyzeFile,
	PostAnalyze: analyzer.ServersInFiles,
}

// Neither major version registers the health service: servers (Sources/GRPCCore/GRPCServer.swift, and
// Sources/GRPC/Server.swift in version 1) have only the services given by the app.
const (
	grpcSwift  = "grpc-swift"
	grpcSwift1 = "grpc-swift-1"
)

var frameworks = []analyzer.Framework{{
	Name:     grpcSwift,
	Evidence: "`GRPCServer(transport:`, `withGRPCServer(`",
	Health:   "the app, by `HealthService` of `GRPCHealthService`, or by a handler of `grpc.health.v1.Health`",
	Advice: "let health = HealthService(); put health into the server's services, and " +
		"health.provider.updateStatus(.serving, forService: \"\"), with import GRPCHealthService from " +
		"grpc-swift-extras",
	Keywords:            []string{"GRPC"},
	ExplicitCredentials: true,
}, {
	Name:     grpcSwift1,
	Evidence: "`Server.insecure`, `Server.usingTLS...`, `Server.secure`, `Server.start`",
	Health:   "the app, by a `Grpc_Health_V1_HealthProvider`",
	Advice: "generate code from grpc/health/v1/health.proto with protoc-gen-grpc-swift, implement " +
		"Grpc_Health_V1_HealthAsyncProvider, and give it to withServiceProviders",
	Keywords: []string{"GRPC", "Server.insecure"},
}}

// generatedOrTest are the files of protoc's plugins for Swift, and of tests.
var generatedOrTest = lazyregexp.New(`(?:\.pb|\.grpc|Tests)\.swift$`)

// otherDirs are directories of tests and examples, as named by SwiftPM and Xcode, and directories of other package
// managers for dependencies.
var otherDirs = source.Exactly(`\w*Tests|Test|Test(Utils?|Utilities|Helpers?|Support)|tests?|Mocks?|Examples?|` +
	`Benchmarks?|Snippets|Pods|Carthage|DerivedData|SourcePackages|checkouts|\w+\.docc`)

func required(file string) bool {
	name := path.Base(file)
	if !strings.HasSuffix(name, ".swift") || generatedOrTest.MatchString(name) {
		return false
	}
	return !tree.AnyDirMatches(file, otherDirs)
}

// entry is the attribute of the type that starts a program.
var entry = lazyregexp.New(`@main\b`)

// analyzeFile reads a file. The statements of a main.swift are the main of a program.
func analyzeFile(f *tree.File) (*analyzer.Result[struct{}], error) {
	result, err := analyzer.SourceFiles(analyze, "Package.swift")(f)
	if result != nil && path.Base(f.Path) == "main.swift" {
		result.Findings = finding.InMain(result.Findings, func(finding.Server) bool { return true })
	}
	return result, err
}

var keywords = analyzer.Keywords(frameworks)

func analyze(text []byte) *analyzer.Result[struct{}] {
	if !keywords.In(text) {
		return nil
	}
	t := grammar.Read(text)
	imports := t.Names(importDeclaration)
	if slices.ContainsFunc(imports, testModule.MatchString) || isLibrary.Match(t.Code) ||
		inProcess.Match(t.Code) && !http2Transport.Match(t.Code) {
		return nil
	}
	found := append(analyzer.Findings(t, rules, imports), analyzer.HealthMade(t, healthMade, classHead)...)
	if handlerByHand.Match(t.Code) {
		found = append(found, analyzer.Findings(t, handlerRules, nil)...)
	}
	if finding.Has[finding.Server](found) {
		found = slices.Concat(found, listeners(t), analyzer.Findings(t, transports, nil))
	}
	found = analyzer.MarkConditional(t, found, nil)
	found = analyzer.Associate(t, found)
	isMain := entry.Match(t.Code)
	found = finding.InMain(found, func(finding.Server) bool { return isMain })
	return &analyzer.Result[struct{}]{Findings: append(found, analyzer.HealthChecks(t)...)}
}

// grammar is the syntax of comments and strings in Swift (Swift's reference, Lexical Structure). In a string between
// hashes a backslash is a backslash.
var grammar = source.Grammar{
	source.Uncompiled(`DEBUG|false`),
	source.LineComment("//"),
	source.BlockComment("/*", "*/", true),
	source.String(`##"""`, `"""##`, source.Quoting{Raw: true, Multiline: true}),
	source.String(`##"`, `"##`, source.Quoting{Raw: true}),
	source.String(`#"""`, `"""#`, source.Quoting{Raw: true, Multiline: true}),
	source.String(`#"`, `"#`, source.Quoting{Raw: true}),
	source.String(`"""`, `"""`, source.Quoting{Multiline: true, Embeds: `\(`}),
	source.String(`"`, `"`, source.Quoting{Embeds: `\(`}),
}
