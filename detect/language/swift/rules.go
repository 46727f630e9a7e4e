package swift

import (
	"regexp"
	"slices"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/source"
)

var (
	importDeclaration = regexp.MustCompile(`\bimport\s+(?:(?:struct|class|enum|protocol|func|typealias)\s+)?` +
		`(?P<name>\w+)`)
	// moduleGRPC is the module of grpc-swift 1, and moduleGRPC0 that of the version before it.
	moduleGRPC  = source.Exactly(`GRPC`)
	moduleGRPC0 = source.Exactly(`SwiftGRPC|gRPC`)
	// testModule is a module that only tests import.
	testModule = source.Exactly(`XCTest|Testing`)
	// isLibrary is in the sources of the module GRPCCore itself.
	isLibrary = regexp.MustCompile(`\bfunc\s+withGRPCServer\b`)
)

var (
	inProcessTransport = regexp.MustCompile(`\bInProcessTransport\b`)
	http2Transport     = regexp.MustCompile(`\bHTTP2ServerTransport\b|\.http2NIO`)
)

// servesInProcess reports whether the server in a text runs in the process of its client, as in tests and previews. No
// probe can reach it.
func servesInProcess(t *source.Text) bool {
	return inProcessTransport.Match(t.Code) && !http2Transport.Match(t.Code)
}

var (
	serverConstructed  = analyzer.Finding{Kind: analyzer.ServerConstructed, Framework: grpcSwift}
	server1Constructed = analyzer.Finding{Kind: analyzer.ServerConstructed, Framework: grpcSwift1}
	// healthNamed is the name of the health service in a descriptor, which proves it in a handler of a server alone.
	healthNamed      = analyzer.Finding{Kind: "swift: health service named"}
	healthRegistered = analyzer.Finding{Kind: analyzer.HealthRegistered}
)

var rules = []analyzer.Rule{
	{
		Code: regexp.MustCompile(`\bHealthService\s*\(`), Imports: source.Exactly(`GRPCHealthService`),
		Finding: healthRegistered,
	},
	{
		Code: regexp.MustCompile(`[:,]\s*` +
			`(?P<at>Grpc_Health_V1_Health(?:(?:Async)?Provider|\.\w*ServiceProtocol))\b`),
		Finding: healthRegistered,
	},
	{
		Code:    regexp.MustCompile(`\b(?:fullyQualifiedService\s*:|serviceName\b[^"=\n]*[{=])\s*"(?P<literal> *)"`),
		Literal: source.Exactly(`grpc\.health\.v1\.Health`), Finding: healthNamed,
	},
	{Code: regexp.MustCompile(`\b(?:GRPCServer|withGRPCServer)\s*\(\s*transport\s*:`), Finding: serverConstructed},
	{
		Code: regexp.MustCompile(`\bServer\.insecure\s*\(\s*group\s*:|` +
			`\bServer\.usingTLS\w*\s*\(\s*(?:on|group|with)\s*:`),
		Finding: server1Constructed,
	},
	{
		Code: regexp.MustCompile(`\bServer\.start\s*\(\s*configuration\s*:`), Imports: moduleGRPC,
		Finding: server1Constructed,
	},
	{
		Code: regexp.MustCompile(`\b(?:Service)?Server\s*\(\s*(?:address|channel)\s*:`), Imports: moduleGRPC0,
		Finding: server1Constructed,
	},
	{
		Code: regexp.MustCompile(`\b(?:class|struct|actor|extension)\s+[\w.]+[^{:]*:[^{]*?` +
			`\b(?P<at>(?:\w+\.)*(?:Simple|Streaming)?ServiceProtocol)\b`),
		Finding: analyzer.Finding{Kind: analyzer.ServiceImplemented, Framework: grpcSwift},
	},
	{
		Code:    regexp.MustCompile(`\b(?:class|struct|actor|extension)\s+[\w.]+[^{:]*:[^{]*?\b(?P<at>\w+Provider)\b`),
		Imports: moduleGRPC, Finding: analyzer.Finding{Kind: analyzer.ServiceImplemented, Framework: grpcSwift1},
	},
}

// serverContext are the types of the context or request that the methods of a gRPC service take.
var serverContext = regexp.MustCompile(`\b(?:ServerContext|ServerRequest|StreamingServerRequest|` +
	`GRPCAsyncServerCallContext|StatusOnlyCallContext|StreamingResponseCallContext|UnaryResponseCallContext)\b`)

// handlerByHand is what a service implements that is written without generated code: the protocols of grpc-swift 2 and
// of grpc-swift 1.
var handlerByHand = regexp.MustCompile(`:[^{]*\b(?:RegistrableRPCService|CallHandlerProvider)\b`)

// resolveImplementations leaves out implementations of other protocols with such names, and those of grpc.health.v1 and
// of grpc.reflection, which are no services of the app's own.
func resolveImplementations(t *source.Text, found []analyzer.Finding) []analyzer.Finding {
	isService, isHandler := serverContext.Match(t.Code), handlerByHand.Match(t.Code)
	for i := range found {
		if found[i].Kind == healthNamed.Kind && isHandler {
			found[i].Kind = analyzer.HealthRegistered
		}
	}
	return slices.DeleteFunc(found, func(f analyzer.Finding) bool {
		isTool := strings.HasPrefix(f.Excerpt, "Grpc_Health_V1") || strings.HasPrefix(f.Excerpt, "Grpc_Reflection_V1")
		return f.Kind == healthNamed.Kind || f.Kind == analyzer.ServiceImplemented && (isTool || !isService)
	})
}
