package golang

import "github.com/grpc-cnb/health-probe/detect/finding"

// The types here are findings that mean something only together with others of the app: see servers.go and connect.go.
// A pkg is the import path of the package that a name belongs to.

// ofPackage is a name of a package whose files, or the rest of the module, say what it means.
type ofPackage struct {
	*finding.Site
	kind kind
	pkg  string
	// kratosBy is the import path of the package whose function makes the server of kratos that a service is registered
	// with; "" if the server is not kratos', or if it is not seen what makes it.
	kratosBy string
}

type kind int

const (
	// registration is a call of a RegisterXServer, which is generated for grpc-go or is a function of the app's own.
	registration kind = iota + 1
	// healthRegistration is one of a service Health by the generated code of a package, "" for that of the file.
	healthRegistration
	// healthCall is a call of a package's function about health, which is given a server.
	healthCall
	// connectHandler is a handler of connect-go, which serves gRPC too if it is served over HTTP/2.
	connectHandler
	// kitexServer is a generated server of Kitex, which serves gRPC if it is generated from protobuf and not from
	// Thrift, kitexBareServer one that serves what is registered, and kitexRegistration a generated registration.
	kitexServer
	kitexBareServer
	kitexRegistration
	// dubboDescribed is a service that is registered with the server of dubbo-go that settings describe.
	dubboDescribed
	// dubboTriple and dubboOther are protocols that a server of dubbo-go is given: gRPC, and others.
	dubboTriple
	dubboOther
)

// isA returns a function that reports whether a finding is of a kind.
func isA(k kind) func(finding.Finding) bool {
	return func(f finding.Finding) bool { of, ok := f.(ofPackage); return ok && of.kind == k }
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

// httpListener is an address that a server of net/http listens on, with HTTP/2 without TLS or in another way.
type httpListener struct {
	*finding.Site
	address finding.Listener
	isH2C   bool
}

// handledByHTTP is a server of grpc-go that is a handler of net/http: that of a site, nil if it is not seen which one.
type handledByHTTP struct {
	*finding.Site
	of *finding.Site
}
