package detect

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

func init() {
	register(language{
		name:       "swift",
		title:      "Swift",
		frameworks: swiftFrameworks,
		wants:      swiftWants,
		look:       lookAtSources("Package.swift", swiftSource),
		conclude:   serversInFiles,
	})
}

// Neither major version registers the health service: Sources/GRPCCore/GRPCServer.swift and, in 1, Sources/GRPC/Server.swift
// have the services that they are given.
var swiftFrameworks = []framework{
	{"grpc-swift", "`GRPCServer(transport:`, `withGRPCServer(`; an implementation of a generated `SimpleServiceProtocol` or kin",
		"the app, by `HealthService` of `GRPCHealthService`",
		"let health = HealthService(); put health into the server's services, and health.provider.updateStatus(.serving, " +
			"forService: \"\"), with import GRPCHealthService from grpc-swift-extras"},
	{"grpc-swift-1", "`Server.insecure`, `Server.usingTLS...`, `Server.start`; an implementation of a generated `XProvider`",
		"the app, by a `Grpc_Health_V1_HealthProvider`",
		"generate code from grpc/health/v1/health.proto with protoc-gen-grpc-swift, implement " +
			"Grpc_Health_V1_HealthAsyncProvider, and give it to withServiceProviders"},
}

// swiftNotOwn are folders of tests and examples, as SwiftPM and Xcode name them, and of what other package managers copy.
var swiftNotOwn = exactly(`\w*Tests|Test|Test(Utils?|Utilities|Helpers?|Support)|tests?|Mocks?|Examples?|Benchmarks?|` +
	`Snippets|Pods|Carthage|DerivedData|SourcePackages|checkouts|\w+\.docc`)

func swiftWants(p string) bool {
	name := path.Base(p)
	if !strings.HasSuffix(p, ".swift") || strings.HasSuffix(p, ".pb.swift") || strings.HasSuffix(p, ".grpc.swift") {
		return false
	}
	return !strings.HasSuffix(name, "Tests.swift") && !inFolder(p, swiftNotOwn)
}

var swiftWords = lookFor("GRPC", "Server.insecure", "ServiceProtocol")

func swiftSource(text []byte) *sheet {
	if !swiftWords.in(text) {
		return nil
	}
	s := swiftGrammar.read(text)
	imports := s.imports(swiftImport)
	if slices.ContainsFunc(imports, swiftTestOnly.MatchString) || swiftLibrary.Match(s.code) ||
		swiftInProcess.Match(s.code) && !swiftHTTP2.Match(s.code) {
		return nil
	}
	signs := swiftImplementations(s, s.find(swiftClues, imports))
	if len(signs) == 0 {
		return nil
	}
	if !makes(signs) {
		return &sheet{signs: signs}
	}
	values := s.values("\n;,", swiftDeclared)
	for _, m := range swiftListens.FindAllSubmatchIndex(s.code, maxListens) {
		signs = append(signs, sign{kind: listens, port: swiftPort(s, values, m[1])})
	}
	return &sheet{signs: signs}
}

// Methods of an implementation take the server's context.
var swiftContext = regexp.MustCompile(`\b(?:ServerContext|ServerRequest|StreamingServerRequest|GRPCAsyncServerCallContext|` +
	`StatusOnlyCallContext|StreamingResponseCallContext|UnaryResponseCallContext)\b`)

// swiftImplementations drops the implementations of other protocols of such names, and those of grpc.health.v1 and of
// grpc.reflection, which are no services of the app's.
func swiftImplementations(s *source, signs []sign) []sign {
	implements := swiftContext.Match(s.code)
	return slices.DeleteFunc(signs, func(s sign) bool {
		tool := strings.HasPrefix(s.what, "Grpc_Health_V1") || strings.HasPrefix(s.what, "Grpc_Reflection_V1")
		return s.kind == registers && (tool || !implements)
	})
}

var (
	swiftImport   = regexp.MustCompile(`\bimport\s+(?:(?:struct|class|enum|protocol|func|typealias)\s+)?(?P<name>\w+)`)
	swiftGRPC1    = exactly(`GRPC`)
	swiftGRPC0    = exactly(`SwiftGRPC|gRPC`)
	swiftTestOnly = exactly(`XCTest|Testing`)
	// The package GRPCCore itself.
	swiftLibrary = regexp.MustCompile(`\bfunc\s+withGRPCServer\b`)
	// A server within its client's process, for tests and previews, is none for a probe.
	swiftInProcess = regexp.MustCompile(`\bInProcessTransport\b`)
	swiftHTTP2     = regexp.MustCompile(`\bHTTP2ServerTransport\b|\.http2NIO`)
)

var (
	swiftMakes  = sign{kind: constructs, framework: "grpc-swift"}
	swiftMakes1 = sign{kind: constructs, framework: "grpc-swift-1"}
)

var swiftClues = []clue{
	{code: regexp.MustCompile(`\bHealthService\s*\(`), imports: exactly(`GRPCHealthService`), sign: sign{kind: health}},
	{code: regexp.MustCompile(`[:,]\s*(?P<at>Grpc_Health_V1_Health(?:(?:Async)?Provider|\.\w*ServiceProtocol))\b`),
		sign: sign{kind: health}},
	{code: regexp.MustCompile(`\b(?:GRPCServer|withGRPCServer)\s*\(\s*transport\s*:`), sign: swiftMakes},
	{code: regexp.MustCompile(`\bServer\.insecure\s*\(\s*group\s*:|\bServer\.usingTLS\w*\s*\(\s*(?:on|group|with)\s*:`),
		sign: swiftMakes1},
	{code: regexp.MustCompile(`\bServer\.start\s*\(\s*configuration\s*:`), imports: swiftGRPC1, sign: swiftMakes1},
	{code: regexp.MustCompile(`\b(?:Service)?Server\s*\(\s*(?:address|channel)\s*:`), imports: swiftGRPC0, sign: swiftMakes1},
	{code: regexp.MustCompile(`\b(?:class|struct|actor|extension)\s+[\w.]+[^{:]*:[^{]*?\b(?P<at>(?:\w+\.)*(?:Simple|Streaming)?ServiceProtocol)\b`),
		sign: sign{kind: registers, framework: "grpc-swift"}},
	{code: regexp.MustCompile(`\b(?:class|struct|actor|extension)\s+[\w.]+[^{:]*:[^{]*?\b(?P<at>\w+Provider)\b`), imports: swiftGRPC1,
		sign: sign{kind: registers, framework: "grpc-swift-1"}},
}

var (
	swiftListens  = regexp.MustCompile(`\.\s*bind\s*\(|\baddress\s*:\s*\.\w+\s*\(|\bServer\.Configuration(?:\.default)?\s*\(`)
	swiftTarget   = regexp.MustCompile(`\.hostAndPort\s*\([^,()]*,\s*`)
	swiftPortArg  = regexp.MustCompile(`\bport\s*:\s*`)
	swiftDeclared = regexp.MustCompile(`\b(?:let|var)\s+(?P<name>\w+)\s*(?::\s*[\w.]+\??\s*)?=\s*`)
)

// swiftPort returns the port among the arguments from an offset: an address without one is a socket's.
func swiftPort(s *source, values *values, from int) int {
	arguments := s.code[from:s.until(from, "")]
	m := swiftPortArg.FindIndex(arguments)
	if m == nil {
		m = swiftTarget.FindIndex(arguments)
	}
	if m == nil {
		return noPort
	}
	return values.port(span{from + m[1], s.until(from+m[1], ",")})
}

// swiftGrammar is how Swift writes comments and strings (its reference, Lexical Structure). Hashes around a string make a
// backslash a backslash.
var swiftGrammar = grammar{
	toLineEnd("//"),
	between("/*", "*/", true),
	quoted(`##"""`, `"""##`, quoting{raw: true, multiline: true}), quoted(`##"`, `"##`, quoting{raw: true}),
	quoted(`#"""`, `"""#`, quoting{raw: true, multiline: true}), quoted(`#"`, `"#`, quoting{raw: true}),
	quoted(`"""`, `"""`, quoting{multiline: true, embeds: `\(`}),
	quoted(`"`, `"`, quoting{embeds: `\(`}),
}
