// Package dart recognizes gRPC servers in Dart with package:grpc. Begin with [Analyzer].
package dart

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

// Analyzer recognizes gRPC servers in Dart.
var Analyzer = analyzer.New(definition)

var definition = analyzer.Definition[struct{}]{
	Language:    analyzer.Language{Name: "dart", Title: "Dart", Frameworks: frameworks, Toolchain: toolchain},
	Required:    required,
	MayServe:    keywords.In,
	Analyze:     analyzer.SourceFiles(analyze, "pubspec.yaml"),
	PostAnalyze: analyzer.ServersInFiles,
}

// grpcDart has no health service: a server (lib/src/server/server.dart) has only the services given by the app.
const grpcDart = "grpc-dart"

var frameworks = []analyzer.Framework{{
	Name: grpcDart, SpeaksFirst: true,
	Evidence: "`Server.create`, `Server([...])` of `package:grpc`",
	Health:   "the app, by a subclass of `HealthServiceBase`",
	Advice: "generate code from grpc/health/v1/health.proto with protoc-gen-dart, write class HealthService extends " +
		"HealthServiceBase whose check answers HealthCheckResponse()..status = " +
		"HealthCheckResponse_ServingStatus.SERVING, " +
		"and put HealthService() into the server's services",
	Keywords: []string{"package:grpc", "Server.create", "ServiceBase"},
}}

var (
	// otherDirs are directories of pub and Flutter for tests, examples and build output (the pub package layout).
	otherDirs = source.Exactly(`tests?|integration_test|test_driver|testing|example|examples|build|benchmark|doc|tool`)
	// otherFiles are the output of protoc-gen-dart and build_runner, and tests.
	otherFiles = source.Exactly(`.*\.(pb|pbgrpc|pbenum|pbjson|pbserver|g|freezed|mocks|config|gr)\.dart|.*_test\.dart`)
)

func required(file string) bool {
	name := path.Base(file)
	if !strings.HasSuffix(file, ".dart") && name != "pubspec.yaml" {
		return false
	}
	return !otherFiles.MatchString(name) && !tree.AnyDirMatches(file, otherDirs)
}

var mainFunction = lazyregexp.New(`(?m)^(?:[\w<>]+\s+)?main\s*\(`)

var keywords = analyzer.Keywords(frameworks)

func analyze(text []byte) *analyzer.Result[struct{}] {
	if !keywords.In(text) {
		return nil
	}
	t := grammar.Read(text)
	imports := t.Names(importDirective)
	if slices.ContainsFunc(imports, testLibrary.MatchString) {
		return nil
	}
	found := analyzer.Findings(t, rulesOf(t), imports)
	if server, ok := finding.First[finding.Server](found); ok {
		served := listeners(t)
		if served == nil { // another file serves the server
			served = []finding.Finding{finding.Security{Site: server.Quiet()}}
		}
		found = slices.Concat(found, served, analyzer.Findings(t, transports, nil))
	}
	found = append(found, analyzer.HealthMade(t, healthMade, classHead)...)
	found = analyzer.Associate(t, analyzer.MarkConditional(t, found, nil))
	isMain := mainFunction.Match(t.Code)
	found = finding.InMain(found, func(finding.Server) bool { return isMain })
	return &analyzer.Result[struct{}]{Findings: append(found, analyzer.HealthChecks(t)...)}
}

// grammar is the syntax of comments and strings in Dart (Dart's language specification, Strings and Comments).
var grammar = source.Grammar{
	source.LineComment("//"),
	source.BlockComment("/*", "*/", true),
	rawString(`r'''`, `'''`), rawString(`r"""`, `"""`), rawString(`r'`, `'`), rawString(`r"`, `"`),
	source.String(`'''`, `'''`, source.Quoting{Multiline: true, Embeds: "${"}),
	source.String(`"""`, `"""`, source.Quoting{Multiline: true, Embeds: "${"}),
	source.String(`'`, `'`, source.Quoting{Embeds: "${"}),
	source.String(`"`, `"`, source.Quoting{Embeds: "${"}),
}

func rawString(open, closing string) source.Lexeme {
	l := source.String(open, closing, source.Quoting{Raw: true, Multiline: len(closing) > 1})
	l.Starts = func(text []byte, at int) bool { return at == 0 || !source.IsWordByte(text[at-1]) }
	return l
}
