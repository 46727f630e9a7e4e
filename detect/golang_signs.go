package detect

import "regexp"

// The kinds of signs in Go sources that what lies around them makes general ones of, or nothing.
const (
	goHandles     kind = ownKinds + iota // a connect handler: gRPC too, if over HTTP/2
	goHTTP2                              // HTTP/2 is served: h2c or TLS
	goUnencrypted                        // HTTP/2 without TLS is allowed, to a server or to a client
	goHTTPServer                         // a net/http server
	goKitex                              // a generated Kitex server: gRPC if its stubs are protobuf's
	goListensHTTP                        // a TCP port is named, for an HTTP server
)

// goAPI are the names that decide, by import path ("" where it is not known). A generated name has a capital after its
// verb. A framework's health behaviour is as its own sources have it: kratos' transport/grpc/server.go and go-zero's
// zrpc/internal/rpcserver.go register the service themselves; go-micro's server/grpc, dapr's service/grpc and yarpc's
// transport/grpc make a grpc.Server and do not.
var goAPI = []struct {
	path      *regexp.Regexp
	name      *regexp.Regexp
	kind      kind
	framework string
	automatic bool
}{
	{exactly(`google\.golang\.org/grpc`), exactly(`NewServer`), constructs, "grpc-go", false},
	{exactly(`google\.golang\.org/grpc/xds`), exactly(`NewGRPCServer`), constructs, "grpc-go", false},
	{exactly(`github\.com/(zeromicro|tal-tech)/go-zero/zrpc`), exactly(`NewServer|MustNewServer`), constructs, "go-zero", true},
	{goKratosGRPC, exactly(`NewServer`), constructs, "kratos", true},
	{goKratosGRPC, exactly(`CustomHealth`), noHealth, "", false},
	{exactly(`(github\.com/(micro|asim|go-micro)|go-micro\.dev)/.*server/grpc(/v\d+)?`), exactly(`NewServer`), constructs, "go-micro", false},
	{exactly(`github\.com/dapr/go-sdk(/v\d+)?/service/grpc`),
		exactly(`NewService|NewServiceWithListener|NewServiceWithGrpcServer`), constructs, "dapr", false},
	{exactly(`github\.com/cloudwego/kitex/server`), exactly(`WithGRPC\w*`), constructs, "kitex", false},
	{exactly(`.*/kitex_gen/.*`), exactly(`NewServer`), goKitex, "kitex", false},
	{exactly(`.*connect`), exactly(`New\p{Lu}\w*Handler`), goHandles, "connect-go", false},
	{exactly(`connectrpc\.com/vanguard`), exactly(`NewTranscoder`), goHandles, "connect-go", false},
	{exactly(`(connectrpc\.com/grpchealth|github\.com/bufbuild/connect-grpchealth-go)`), exactly(`NewHandler`), health, "", false},
	{exactly(`(.*health.*)?`), exactly(`RegisterHealthServer|Health_ServiceDesc`), health, "", false},
	{exactly(`golang\.org/x/net/http2/h2c`), exactly(`NewHandler`), goHTTP2, "", false},
	{exactly(`golang\.org/x/net/http2`), exactly(`ConfigureServer`), goHTTP2, "", false},
	{exactly(`golang\.org/x/crypto/acme/autocert`), exactly(`NewListener`), goHTTP2, "", false},
	{exactly(`net/http`), exactly(`ListenAndServeTLS|ServeTLS`), goHTTP2, "", false},
	{exactly(`net/http`), exactly(`Server`), goHTTPServer, "", false},
	{exactly(`.*`), exactly(`Register\p{Lu}\w*Server`), registers, "grpc-go", false},
}

var goKratosGRPC = exactly(`github\.com/go-kratos/kratos(/v\d+)?/transport/grpc`)

func exactly(pattern string) *regexp.Regexp {
	return regexp.MustCompile(`^(?:` + pattern + `)$`)
}

// goReference returns what a reference to an imported name says, if anything. The first row that fits decides.
func goReference(importPath, name string) (sign, bool) {
	for _, api := range goAPI {
		if !api.path.MatchString(importPath) || !api.name.MatchString(name) {
			continue
		}
		if api.kind == registers && otherRegistration.MatchString(name) {
			return sign{}, false
		}
		return sign{kind: api.kind, framework: api.framework, automatic: api.automatic, from: importPath}, true
	}
	return sign{}, false
}

// otherRegistration are the generated registrations of plugins beside protoc-gen-go-grpc: grpc-gateway, kratos' HTTP and
// blademaster, gin.
var otherRegistration = regexp.MustCompile(`^Register.+(HTTP|Handler|BM|Gin)Server$`)
