package golang

import (
	"go/ast"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/language/golang/syntax"
	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

// symbolRule is one row of the table: names of a package, and what a reference to one of them proves.
type symbolRule struct {
	importPath, name *lazyregexp.Regexp
	proves           prove
}

// reference is the use of a name of another package.
type reference struct {
	importPath, name string        // the path is "" if it is not known
	call             *ast.CallExpr // the call of it; nil if it is passed on, as in fx.Provide(grpc.NewServer)
	// mayBeOther says that the file has credentials that are not those of TLS.
	mayBeOther bool
}

// prove makes the finding that a reference is. It is nil for one that proves nothing.
type prove func(at *finding.Site, r reference) finding.Finding

var (
	kratosGRPC = source.Exactly(`github\.com/go-kratos/kratos(/v\d+)?/transport/grpc`)
	// yokai makes a server of grpc-go for the services that an app provides. Settings decide on its health service
	// (fxgrpcserver/module.go).
	yokai = source.Exactly(`github\.com/ankorstore/yokai/fxgrpcserver`)
	// crossplaneFunction makes a server of grpc-go, by default on port 9443 (sdk.go).
	crossplaneFunction = source.Exactly(`github\.com/crossplane/function-sdk-go`)

	// kitexHealth are packages with the server of a service Health, which Kitex finds by this name, without its
	// package (SearchService of server/service.go); kitexStandardHealth those of grpc/health/v1/health.proto.
	kitexHealth         = source.Exactly(`.*/kitex_gen/.*/health`)
	kitexStandardHealth = source.Exactly(`.*/kitex_gen/(.*/)?grpc[/_]health(/|_).*health`)

	// otherCredentials are credentials of grpc-go that are not those of TLS, or not always.
	otherCredentials = source.Exactly(`google\.golang\.org/grpc/credentials/(alts|insecure|local|xds)`)

	grpcWeb = source.Exactly(`.*/grpcweb`) // its WrapServer makes a server of grpc-go a handler of net/http
	h2c     = source.Exactly(`golang\.org/x/net/http2/h2c`)
)

// symbolRules are the names that prove something. The first row that matches decides. A reference whose import path is
// not known has the path "". A generated name has a capital letter after its verb.
var symbolRules = []symbolRule{
	{source.Exactly(`google\.golang\.org/grpc`), source.Exactly(`NewServer`), server(grpcGo)},
	{source.Exactly(`google\.golang\.org/grpc/xds`), source.Exactly(`NewGRPCServer`), server(grpcGo)},
	{
		source.Exactly(`github\.com/zeromicro/go-zero/zrpc`), source.Exactly(`NewServer|MustNewServer`),
		serverWithHealth(goZero),
	},
	// Before it moved, go-zero had no health service.
	{source.Exactly(`github\.com/tal-tech/go-zero/zrpc`), source.Exactly(`NewServer|MustNewServer`), server(goZero)},
	{yokai, source.Exactly(`AsGrpcServerService`), registersYokai},
	{yokai, source.Exactly(`AsGrpcServerOptions?`), usesOther},
	{crossplaneFunction, source.Exactly(`Serve`), server(grpcGo)},
	{crossplaneFunction, source.Exactly(`WithHealthServer`), registersHealth},
	{kratosGRPC, source.Exactly(`NewServer`), serverWithHealth(kratos)},
	{kratosGRPC, source.Exactly(`CustomHealth`), disablesHealth},
	{
		source.Exactly(`(github\.com/(micro|asim|go-micro)|go-micro\.dev)/.*server/grpc(/v\d+)?`),
		source.Exactly(`NewServer`), server(goMicro),
	},
	{
		source.Exactly(`github\.com/dapr/go-sdk(/v\d+)?/service/grpc`),
		source.Exactly(`NewService|NewServiceWithListener|NewServiceWithGrpcServer`), server(dapr),
	},
	{source.Exactly(`github\.com/cloudwego/kitex/server`), source.Exactly(`WithGRPC\w*`), server(kitex)},
	{source.Exactly(`.*/kitex_gen/.*`), source.Exactly(`NewServer`), constructsKitex},
	{kitexStandardHealth, source.Exactly(`RegisterService`), registersHealth},
	{kitexHealth, source.Exactly(`RegisterService|NewServiceInfo`), registersSomeHealth},
	{source.Exactly(`.*/kitex_gen/.*`), source.Exactly(`RegisterService`), registersKitex},
	{source.Exactly(`github\.com/cloudwego/kitex/server`), source.Exactly(`NewServer`), constructsBareKitex},
	{source.Exactly(`.*connect`), source.Exactly(`New\p{Lu}\w*Handler`), handlesConnect},
	{source.Exactly(`connectrpc\.com/vanguard`), source.Exactly(`NewTranscoder`), handlesConnect},
	{
		source.Exactly(`(connectrpc\.com/grpchealth|github\.com/bufbuild/connect-grpchealth-go)`),
		source.Exactly(`NewHandler`), registersHealth,
	},
	{source.Exactly(`(.*health.*)?`), source.Exactly(`RegisterHealthServer|Health_ServiceDesc`), registersHealth},
	{h2c, source.Exactly(`NewHandler`), servesH2C},
	{source.Exactly(`golang\.org/x/net/http2`), source.Exactly(`ConfigureServer`), servesHTTP2},
	{source.Exactly(`golang\.org/x/crypto/acme/autocert`), source.Exactly(`NewListener`), servesTLS},
	{source.Exactly(`net/http`), source.Exactly(`ListenAndServeTLS|ServeTLS`), servesTLS},
	{source.Exactly(`net/http`), source.Exactly(`Server`), constructsHTTP},
	{source.Exactly(`google\.golang\.org/grpc`), source.Exactly(`Creds`), credentialsOf},
	{source.Exactly(`google\.golang\.org/grpc/security/advancedtls`), source.Exactly(`NewServerCreds`), usesTLS},
	{source.Exactly(`crypto/tls`), source.Exactly(`Listen|NewListener`), usesTLS},
	{kratosGRPC, source.Exactly(`TLSConfig`), usesTLS},
	{goMicroAny, source.Exactly(`AuthTLS`), usesTLS},
	{yarpcGRPC, source.Exactly(`InboundCredentials`), usesTLS},
	{crossplaneFunction, source.Exactly(`MTLSCertificates|Insecure`), usesOther},
	{dubboServerPackage, source.Exactly(`WithTLS|WithServerTLSOption`), usesOther},
	{source.Exactly(`.*`), source.Exactly(`Register\p{Lu}\w*ServerWithGofr`), server(gofr)},
	{source.Exactly(`.*`), source.Exactly(`Register\p{Lu}\w*Server`), registersGRPC},
}

func server(framework string) prove {
	return func(at *finding.Site, _ reference) finding.Finding {
		return finding.Server{Site: at, Framework: framework}
	}
}

func serverWithHealth(framework string) prove {
	return func(at *finding.Site, _ reference) finding.Finding {
		return finding.Server{Site: at, Framework: framework, AutomaticHealth: true}
	}
}

func registersHealth(at *finding.Site, _ reference) finding.Finding { return finding.Health{Site: at} }

func registersSomeHealth(at *finding.Site, _ reference) finding.Finding {
	return finding.MayRegisterHealth(at, "")
}

func disablesHealth(at *finding.Site, _ reference) finding.Finding {
	return finding.HealthDisabled{Site: at}
}

func usesTLS(at *finding.Site, _ reference) finding.Finding { return finding.UsesTLS(at.Quiet(), "") }

func usesOther(at *finding.Site, _ reference) finding.Finding {
	return finding.UsesOther(at.Quiet(), "")
}

// credentialsOf takes what a server of grpc-go is given: it is not known what a variable holds in a file which has
// other credentials than those of TLS, too.
func credentialsOf(at *finding.Site, r reference) finding.Finding {
	if r.call == nil || len(r.call.Args) != 1 {
		return usesOther(at, r)
	}
	made, isCall := syntax.InitialValue(r.call.Args[0]).(*ast.CallExpr)
	switch {
	case isCall && strings.HasPrefix(syntax.Name(made.Fun), "insecure."):
		return finding.Insecure(at, "")
	case r.mayBeOther:
		return usesOther(at, r)
	}
	return usesTLS(at, r)
}

func servesHTTP2(at *finding.Site, _ reference) finding.Finding { return http2Served{Site: at} }

func servesTLS(at *finding.Site, _ reference) finding.Finding {
	return http2Served{Site: at, overTLS: true}
}

func servesH2C(at *finding.Site, _ reference) finding.Finding {
	return http2Served{Site: at, h2c: true}
}

func constructsHTTP(at *finding.Site, _ reference) finding.Finding { return httpServer{at} }

func handlesConnect(at *finding.Site, r reference) finding.Finding {
	return connectHandler{at, r.importPath}
}

func constructsKitex(at *finding.Site, r reference) finding.Finding {
	return kitexServer{at, r.importPath}
}

func constructsBareKitex(at *finding.Site, _ reference) finding.Finding { return kitexBareServer{at} }

func registersKitex(at *finding.Site, r reference) finding.Finding {
	if r.call == nil || len(r.call.Args) < 2 {
		return nil
	}
	return kitexRegistration{at, r.importPath}
}

// otherRegistration are the registrations that plugins beside protoc-gen-go-grpc generate: those of grpc-gateway, of
// gin, and of kratos' HTTP and blademaster.
var otherRegistration = lazyregexp.New(`^Register.+(HTTP|Handler|BM|Gin)Server$`)

func registersYokai(at *finding.Site, r reference) finding.Finding {
	return registration{Site: at, pkg: r.importPath}
}

// registersGRPC takes a generated registration, which has the server and the implementation for its arguments. Other
// functions with such names are helpers.
func registersGRPC(at *finding.Site, r reference) finding.Finding {
	if otherRegistration.MatchString(r.name) || r.call != nil && len(r.call.Args) != 2 {
		return nil
	}
	return registration{Site: at, pkg: r.importPath}
}

// finding returns what the reference proves at a site, or nil.
func (r reference) finding(at *finding.Site) finding.Finding {
	for _, rule := range symbolRules {
		if rule.importPath.MatchString(r.importPath) && rule.name.MatchString(r.name) {
			return rule.proves(at, r)
		}
	}
	return nil
}
