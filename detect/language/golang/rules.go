package golang

import (
	"go/ast"

	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
	"github.com/grpc-cnb/health-probe/internal/plan"
)

// symbolRule is a row of the table: names of a package, and the finding that a reference to a name proves. The code of
// the finding is the import path.
type symbolRule struct {
	importPath, name *lazyregexp.Regexp
	proves           finding.Make
}

// reference is the use of a name of another package.
type reference struct {
	importPath, name string        // the path is "" if unknown
	call             *ast.CallExpr // nil for a name that is passed on, as in fx.Provide(grpc.NewServer)
}

var (
	kratosGRPC = source.Exactly(`github\.com/go-kratos/kratos(/v\d+)?/transport/grpc`)
	// yokai makes a server of grpc-go for the services that an app provides. Settings decide on the health service
	// (fxgrpcserver/module.go).
	yokai    = source.Exactly(`github\.com/ankorstore/yokai/fxgrpcserver`)
	daprGRPC = source.Exactly(`github\.com/dapr/go-sdk(/v\d+)?/service/grpc`)
	// crossplaneFunction makes a server of grpc-go, by default on port 9443 (sdk.go).
	crossplaneFunction = source.Exactly(`github\.com/crossplane/function-sdk-go`)

	fabricShim = source.Exactly(`github\.com/hyperledger/fabric-chaincode-go(/v\d+)?/shim`)

	// kitexHealth matches packages with the server of a service Health. Kitex finds a service by the name without the
	// package (SearchService of server/service.go). kitexStandardHealth matches packages of
	// grpc/health/v1/health.proto.
	kitexHealth         = source.Exactly(`.*/kitex_gen/.*/health`)
	kitexStandardHealth = source.Exactly(`.*/kitex_gen/(.*/)?grpc[/_]health(/|_).*health`)

	// otherCredentials are credentials of grpc-go without TLS, or not always with TLS.
	otherCredentials = source.Exactly(`google\.golang\.org/grpc/credentials/(alts|insecure|local|xds)`)

	grpcWeb = source.Exactly(`.*/grpcweb`) // WrapServer makes a server of grpc-go a handler of net/http
	h2c     = source.Exactly(`golang\.org/x/net/http2/h2c`)
)

// chaincodeServer is the type with the settings of a chaincode's server.
const chaincodeServer = "ChaincodeServer"

// symbolRules are the names that prove a finding. The first row that matches decides. A reference with an unknown
// import path has the path "". A generated name has a capital letter after the verb.
var symbolRules = []symbolRule{
	{source.Exactly(`google\.golang\.org/grpc`), source.Exactly(`NewServer`), finding.Constructs(grpcGo)},
	{source.Exactly(`google\.golang\.org/grpc/xds`), source.Exactly(`NewGRPCServer`), finding.Constructs(grpcGo)},
	{
		source.Exactly(`github\.com/zeromicro/go-zero/zrpc`), source.Exactly(`NewServer|MustNewServer`),
		finding.WithHealth(finding.Constructs(goZero)),
	},
	// go-zero had no health service before the move to zeromicro.
	{
		source.Exactly(`github\.com/tal-tech/go-zero/zrpc`), source.Exactly(`NewServer|MustNewServer`),
		finding.Constructs(goZero),
	},
	{yokai, source.Exactly(`AsGrpcServerService`), made(registration)},
	{yokai, source.Exactly(`AsGrpcServerOptions?`), finding.UsesOther},
	{crossplaneFunction, source.Exactly(`Serve`), finding.Constructs(grpcGo)},
	{crossplaneFunction, source.Exactly(`WithHealthServer`), finding.RegistersHealth},
	{kratosGRPC, source.Exactly(`NewServer`), finding.WithHealth(finding.Constructs(kratos))},
	{kratosGRPC, source.Exactly(`CustomHealth`), disablesHealth},
	{
		source.Exactly(`(github\.com/(micro|asim|go-micro)|go-micro\.dev)/.*server/grpc(/v\d+)?`),
		source.Exactly(`NewServer`), finding.Constructs(goMicro),
	},
	{
		daprGRPC,
		source.Exactly(`NewService|NewServiceWithListener|NewServiceWithGrpcServer`), finding.Constructs(dapr),
	},
	{fabricShim, source.Exactly(chaincodeServer), finding.Constructs(fabric)},
	{source.Exactly(`github\.com/cloudwego/kitex/server`), source.Exactly(`WithGRPC\w*`), finding.Constructs(kitex)},
	{source.Exactly(`.*/kitex_gen/.*`), source.Exactly(`NewServer`), made(kitexServer)},
	{kitexStandardHealth, source.Exactly(`RegisterService`), finding.RegistersHealth},
	{kitexHealth, source.Exactly(`RegisterService|NewServiceInfo`), finding.MayRegisterHealth},
	{source.Exactly(`.*/kitex_gen/.*`), source.Exactly(`RegisterService`), made(kitexRegistration)},
	{source.Exactly(`github\.com/cloudwego/kitex/server`), source.Exactly(`NewServer`), made(kitexBareServer)},
	{source.Exactly(`.*connect`), source.Exactly(`New\p{Lu}\w*Handler`), made(connectHandler)},
	{source.Exactly(`connectrpc\.com/vanguard`), source.Exactly(`NewTranscoder`), made(connectHandler)},
	{
		source.Exactly(`(connectrpc\.com/grpchealth|github\.com/bufbuild/connect-grpchealth-go)`),
		source.Exactly(`NewHandler`), finding.RegistersHealth,
	},
	{
		source.Exactly(`(.*health.*)?`), source.Exactly(`RegisterHealthServer|Health_ServiceDesc`),
		finding.RegistersHealth,
	},
	{h2c, source.Exactly(`NewHandler`), servesH2C},
	{source.Exactly(`golang\.org/x/net/http2`), source.Exactly(`ConfigureServer`), servesHTTP2},
	{source.Exactly(`golang\.org/x/crypto/acme/autocert`), source.Exactly(`NewListener`), servesTLS},
	{source.Exactly(`net/http`), source.Exactly(`ListenAndServeTLS|ServeTLS`), servesTLS},
	{source.Exactly(`net/http`), source.Exactly(`Server`), constructsHTTP},
	{source.Exactly(`google\.golang\.org/grpc`), source.Exactly(`Creds`), finding.UsesTLS},
	{
		source.Exactly(`google\.golang\.org/grpc/security/advancedtls`), source.Exactly(`NewServerCreds`),
		finding.UsesTLS,
	},
	{source.Exactly(`crypto/tls`), source.Exactly(`Listen|NewListener`), finding.UsesTLS},
	{kratosGRPC, source.Exactly(`TLSConfig`), finding.UsesTLS},
	{goMicroAny, source.Exactly(`AuthTLS`), finding.UsesTLS},
	{yarpcGRPC, source.Exactly(`InboundCredentials`), finding.UsesTLS},
	{crossplaneFunction, source.Exactly(`MTLSCertificates|Insecure`), finding.UsesOther},
	{dubboServerPackage, source.Exactly(`WithTLS|WithServerTLSOption`), finding.UsesOther},
	{dubboServerPackage, source.Exactly(`WithConfigCenter|Load`), listensElsewhere},
	{dubboProtocol, source.Exactly(`WithTriple`), made(dubboTriple)},
	{dubboProtocol, source.Exactly(`WithDubbo|WithJSONRPC|WithREST`), made(dubboOther)},
	{source.Exactly(`.*`), source.Exactly(`Register\p{Lu}\w*ServerWithGofr`), finding.Constructs(gofr)},
	{source.Exactly(`.*`), source.Exactly(`Register\p{Lu}\w*Server`), made(registration)},
}

func disablesHealth(at *finding.Site, _ string) finding.Finding {
	return finding.HealthDisabled{Site: at}
}

func servesHTTP2(at *finding.Site, _ string) finding.Finding { return http2Served{Site: at} }

func servesTLS(at *finding.Site, _ string) finding.Finding {
	return http2Served{Site: at, overTLS: true}
}

func servesH2C(at *finding.Site, _ string) finding.Finding { return http2Served{Site: at, h2c: true} }

func constructsHTTP(at *finding.Site, _ string) finding.Finding { return httpServer{at} }

func listensElsewhere(at *finding.Site, _ string) finding.Finding {
	return finding.Listens(plan.Address{Place: at.Place}, "settings from elsewhere have it")
}

// made makes a finding of a name. The package of the name decides on the meaning.
func made(kind kind) finding.Make {
	return func(at *finding.Site, importPath string) finding.Finding {
		return ofPackage{Site: at, kind: kind, pkg: importPath}
	}
}

// otherRegistration matches registrations of plugins beside protoc-gen-go-grpc: of grpc-gateway, of gin, and of kratos'
// HTTP and blademaster.
var otherRegistration = lazyregexp.New(`^Register.+(HTTP|Handler|BM|Gin)Server$`)

// finding returns the finding of the reference at a site, or nil. The arguments of a generated registration are the
// server and the implementation: functions of such a name with different arguments are helpers.
func (r reference) finding(at *finding.Site) finding.Finding {
	for _, rule := range symbolRules {
		if !rule.importPath.MatchString(r.importPath) || !rule.name.MatchString(r.name) {
			continue
		}
		f := rule.proves(at, r.importPath)
		switch of, _ := f.(ofPackage); {
		case of.kind == registration && !yokai.MatchString(r.importPath) &&
			(otherRegistration.MatchString(r.name) || r.call != nil && len(r.call.Args) != 2):
			return nil
		case of.kind == kitexRegistration && (r.call == nil || len(r.call.Args) < 2):
			return nil
		}
		return f
	}
	return nil
}
