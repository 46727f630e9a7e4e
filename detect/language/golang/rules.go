package golang

import (
	"regexp"

	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/source"
)

// The kinds of findings that mean something only together with other findings of the app: see postanalyze.go.
const (
	// connectHandler is a handler of connect-go, which serves gRPC too if it is served over HTTP/2.
	connectHandler analyzer.Kind = "go: connect handler"
	// http2Served is a server of HTTP/2, over TLS or without it (h2c).
	http2Served analyzer.Kind = "go: HTTP/2 served"
	// unencryptedHTTP2 allows HTTP/2 without TLS, to a server or to a client.
	unencryptedHTTP2 analyzer.Kind = "go: unencrypted HTTP/2 allowed"
	// httpServer is a server of net/http.
	httpServer analyzer.Kind = "go: net/http server"
	// kitexServer is a generated server of Kitex, which serves gRPC if it is generated from protobuf and not from
	// Thrift.
	kitexServer analyzer.Kind = "go: Kitex server"
	// kitexRegistration is a generated registration with a server of Kitex, and kitexBareServer a server of Kitex that
	// serves what is registered.
	kitexRegistration analyzer.Kind = "go: Kitex registration"
	kitexBareServer   analyzer.Kind = "go: Kitex server of no service"
	// addressGiven is the address that a server of a framework gets in the source. Without it, the address is in the
	// settings.
	addressGiven analyzer.Kind = "go: address given"
	// mainListener is a port that a program listens on which names no gRPC. It is a server's of a package that the
	// program imports, if there is one.
	mainListener analyzer.Kind = "go: listener of a program"
	// httpListener is a TCP port that an HTTP server listens on, and grpcListener one of a server of grpc-go: the file
	// says which server it gives the listener to.
	httpListener analyzer.Kind = "go: HTTP listener"
	grpcListener analyzer.Kind = "go: gRPC listener"
	// handledByHTTP is a server of grpc-go that is a handler of net/http.
	handledByHTTP analyzer.Kind = "go: gRPC handled by net/http"
)

// constructs are the kinds that may turn out to be a server that is constructed.
var constructs = map[analyzer.Kind]bool{
	connectHandler: true, http2Served: true, httpServer: true, kitexServer: true, kitexBareServer: true,
}

// symbolRule is one row of the table: names of a package, and the finding that a reference to one of them is.
type symbolRule struct {
	importPath, name *regexp.Regexp
	finding          analyzer.Finding
}

var (
	kratosGRPC = source.Exactly(`github\.com/go-kratos/kratos(/v\d+)?/transport/grpc`)
	h2c        = source.Exactly(`golang\.org/x/net/http2/h2c`)
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
	{kratosGRPC, source.Exactly(`NewServer`), serverWithHealth(kratos)},
	{kratosGRPC, source.Exactly(`CustomHealth`), analyzer.Finding{Kind: analyzer.HealthDisabled}},
	{
		source.Exactly(`(github\.com/(micro|asim|go-micro)|go-micro\.dev)/.*server/grpc(/v\d+)?`),
		source.Exactly(`NewServer`), server(goMicro),
	},
	{
		source.Exactly(`github\.com/dapr/go-sdk(/v\d+)?/service/grpc`),
		source.Exactly(`NewService|NewServiceWithListener|NewServiceWithGrpcServer`), server(dapr),
	},
	{source.Exactly(`github\.com/cloudwego/kitex/server`), source.Exactly(`WithGRPC\w*`), server(kitex)},
	{
		source.Exactly(`.*/kitex_gen/.*`), source.Exactly(`NewServer`),
		analyzer.Finding{Kind: kitexServer, Framework: kitex},
	},
	{
		source.Exactly(`.*/kitex_gen/.*`), source.Exactly(`RegisterService`),
		analyzer.Finding{Kind: kitexRegistration, Framework: kitex},
	},
	{
		source.Exactly(`github\.com/cloudwego/kitex/server`), source.Exactly(`NewServer`),
		analyzer.Finding{Kind: kitexBareServer, Framework: kitex},
	},
	{source.Exactly(`.*connect`), source.Exactly(`New\p{Lu}\w*Handler`), handler},
	{source.Exactly(`connectrpc\.com/vanguard`), source.Exactly(`NewTranscoder`), handler},
	{
		source.Exactly(`(connectrpc\.com/grpchealth|github\.com/bufbuild/connect-grpchealth-go)`),
		source.Exactly(`NewHandler`), health,
	},
	{source.Exactly(`(.*health.*)?`), source.Exactly(`RegisterHealthServer|Health_ServiceDesc`), health},
	{h2c, source.Exactly(`NewHandler`), http2},
	{source.Exactly(`golang\.org/x/net/http2`), source.Exactly(`ConfigureServer`), http2},
	{source.Exactly(`golang\.org/x/crypto/acme/autocert`), source.Exactly(`NewListener`), http2},
	{source.Exactly(`net/http`), source.Exactly(`ListenAndServeTLS|ServeTLS`), http2},
	{source.Exactly(`net/http`), source.Exactly(`Server`), analyzer.Finding{Kind: httpServer}},
	{
		source.Exactly(`.*`), source.Exactly(`Register\p{Lu}\w*Server`),
		analyzer.Finding{Kind: analyzer.ServiceRegistered, Framework: grpcGo},
	},
}

var (
	handler = analyzer.Finding{Kind: connectHandler, Framework: connectGo}
	health  = analyzer.Finding{Kind: analyzer.HealthRegistered}
	http2   = analyzer.Finding{Kind: http2Served}
)

func server(framework string) analyzer.Finding {
	return analyzer.Finding{Kind: analyzer.ServerConstructed, Framework: framework}
}

func serverWithHealth(framework string) analyzer.Finding {
	return analyzer.Finding{Kind: analyzer.ServerConstructed, Framework: framework, AutomaticHealth: true}
}

// otherRegistration are the registrations that plugins beside protoc-gen-go-grpc generate: those of grpc-gateway, of
// gin, and of kratos' HTTP and blademaster.
var otherRegistration = regexp.MustCompile(`^Register.+(HTTP|Handler|BM|Gin)Server$`)

// matchSymbol returns the finding that a reference to a name of an imported package is, if it is one.
func matchSymbol(importPath, name string) (analyzer.Finding, bool) {
	for _, r := range symbolRules {
		if !r.importPath.MatchString(importPath) || !r.name.MatchString(name) {
			continue
		}
		if r.finding.Kind == analyzer.ServiceRegistered && otherRegistration.MatchString(name) {
			return analyzer.Finding{}, false
		}
		found := r.finding
		found.ImportPath = importPath
		return found, true
	}
	return analyzer.Finding{}, false
}
