package swift

import (
	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

var (
	importDeclaration = lazyregexp.New(`\bimport\s+(?:(?:struct|class|enum|protocol|func|typealias)\s+)?` +
		`(?P<name>\w+)`)
	// moduleGRPC is the module of grpc-swift 1, and moduleGRPC0 the module of the version before.
	moduleGRPC  = source.Exactly(`GRPC`)
	moduleGRPC0 = source.Exactly(`SwiftGRPC|gRPC`)
	testModule  = source.Exactly(`XCTest|Testing`)
	// isLibrary is in the sources of the module GRPCCore itself.
	isLibrary = lazyregexp.New(`\bfunc\s+withGRPCServer\b`)
	// inProcess is a server in the process of its client, as in tests and previews, out of reach for a probe.
	inProcess      = lazyregexp.New(`\bInProcessTransport\b`)
	http2Transport = lazyregexp.New(`\bHTTP2ServerTransport\b|\.http2NIO`)
)

var rules = []analyzer.Rule{
	// HealthService knows no service before a status is set (Sources/GRPCHealthService/HealthService+Service.swift).
	{
		Code: lazyregexp.New(`\bHealthService\s*\(`), Imports: source.Exactly(`GRPCHealthService`),
		Proves: finding.RegistersEmptyHealth,
	},
	{
		Code: lazyregexp.New(
			`\bupdateStatus\s*(?P<at>\([^()]{0,200}\bforService\s*:[^()]{0,200}\))`),
		Proves: finding.SetsHealthStatus,
	},
	{
		Code: lazyregexp.New(`\b(?:class|struct|actor|extension)\s+(?P<at>\w+)[^{]*?[:,]\s*` +
			`Grpc_Health_V1_Health(?:(?:Async)?Provider|\.\w*ServiceProtocol)\b`),
		Proves: finding.ImplementsHealth,
	},
	{
		Code:   lazyregexp.New(`\b(?:GRPCServer|withGRPCServer)\s*\(\s*transport\s*:`),
		Proves: finding.Constructs(grpcSwift),
	},
	{
		Code: lazyregexp.New(`\bServer\.insecure\s*\(\s*group\s*:|` +
			`\bServer\.(?:usingTLS\w*|secure)\s*\(\s*(?:on|group|with)\s*:`),
		Proves: finding.Constructs(grpcSwift1),
	},
	{
		Code: lazyregexp.New(`\bServer\.start\s*\(\s*configuration\s*:`), Imports: moduleGRPC,
		Proves: finding.Constructs(grpcSwift1),
	},
	{
		Code: lazyregexp.New(`\b(?:Service)?Server\s*\(\s*(?:address|channel)\s*:`), Imports: moduleGRPC0,
		Proves: finding.Constructs(grpcSwift1),
	},
}

var (
	classHead  = lazyregexp.New(`\b(?:class|struct|actor|extension)\s+(?P<name>\w+)[^{]*\{`)
	healthMade = lazyregexp.New(`(?:^|[^.\w])(?P<class>\w*(?:Health|Check|Prob)\w*)\s*[(.]`)
)

// handlerRules are for files with a service that is written without generated code. Only in a handler of a server, the
// name of the health service in a descriptor is evidence.
var handlerRules = []analyzer.Rule{{
	Code:    lazyregexp.New(`\b(?:fullyQualifiedService\s*:|serviceName\b[^"=\n]*[{=])\s*"(?P<literal> *)"`),
	Literal: source.Exactly(`grpc\.health\.v1\.Health`), Proves: finding.RegistersHealth,
}}

// handlerByHand is the protocol of a service that is written without generated code, in grpc-swift 2 or grpc-swift 1.
var handlerByHand = lazyregexp.New(`:[^{]*\b(?:RegistrableRPCService|CallHandlerProvider)\b`)
