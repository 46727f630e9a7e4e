package golang

import "github.com/grpc-cnb/health-probe/detect/finding"

// The types here are findings that mean something only together with others of the app: see servers.go and connect.go.
// A pkg is the import path of the package that a name belongs to.

// registration is a call of a RegisterXServer, which is generated for grpc-go or is a function of the app's own.
type registration struct {
	*finding.Site
	pkg string
	// kratosBy is the import path of the package whose function makes the server of kratos that a service is registered
	// with; "" if the server is not kratos', or if it is not seen what makes it.
	kratosBy string
}

// healthOf is a registration of a service Health by the generated code of a package, "" for that of the file.
type healthOf struct {
	*finding.Site
	pkg string
}

// healthCall is a call of a package's function about health, which is given a server.
type healthCall struct {
	*finding.Site
	pkg string
}

// connectHandler is a handler of connect-go, which serves gRPC too if it is served over HTTP/2.
type connectHandler struct {
	*finding.Site
	pkg string
}

// http2Served is a server of HTTP/2, over TLS or without it (h2c), if that is known.
type http2Served struct {
	*finding.Site
	h2c, overTLS bool
}

// unencryptedHTTP2 allows HTTP/2 without TLS, to a server or to a client.
type unencryptedHTTP2 struct{ *finding.Site }

// httpServer is a server of net/http, or an address that one listens on.
type httpServer struct{ *finding.Site }

// handledByHTTP is a server of grpc-go that is a handler of net/http.
type handledByHTTP struct{ *finding.Site }

// kitexServer is a generated server of Kitex, which serves gRPC if it is generated from protobuf and not from Thrift.
type kitexServer struct {
	*finding.Site
	pkg string
}

// kitexRegistration is a generated registration with a server of Kitex.
type kitexRegistration struct {
	*finding.Site
	pkg string
}

// kitexBareServer is a server of Kitex that serves what is registered.
type kitexBareServer struct{ *finding.Site }
