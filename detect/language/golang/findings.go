package golang

import "github.com/grpc-cnb/health-probe/detect/finding"

// The findings here get a meaning only from more findings of the app: see servers.go and connect.go. A pkg is the
// import path of the package of a name.

// ofPackage is a name whose meaning depends on the files of the package, or on the rest of the module.
type ofPackage struct {
	*finding.Site
	kind kind
	pkg  string
	// kratosBy is the import path of the package that makes the server of kratos for a registration; "" if the server
	// is not kratos', or if the maker is not seen.
	kratosBy string
}

type kind int

const (
	// registration is a call of a RegisterXServer, generated for grpc-go or written in the app.
	registration kind = iota + 1
	// healthRegistration registers a service Health by the generated code of a package, "" for the file's package.
	healthRegistration
	// healthCall is a call of a package's function about health, with a server as an argument.
	healthCall
	// connectHandler is a handler of connect-go. Over HTTP/2, the handler serves gRPC too.
	connectHandler
	// kitexServer is a generated server of Kitex, for gRPC if generated from protobuf and not from Thrift.
	// kitexBareServer is a server for registered services, and kitexRegistration a generated registration.
	kitexServer
	kitexBareServer
	kitexRegistration
	// dubboDescribed is a service that is registered with the server of dubbo-go that settings describe.
	dubboDescribed
	// dubboTriple and dubboOther are protocols of a server of dubbo-go: gRPC, and any but gRPC.
	dubboTriple
	dubboOther
)

// isA returns a function that reports whether a finding is of a kind.
func isA(k kind) func(finding.Finding) bool {
	return func(f finding.Finding) bool { of, ok := f.(ofPackage); return ok && of.kind == k }
}

// http2Served is a server of HTTP/2, over TLS or without TLS (h2c), if known.
type http2Served struct {
	*finding.Site
	h2c, overTLS bool
}

// unencryptedHTTP2 allows HTTP/2 without TLS, to a server or to a client.
type unencryptedHTTP2 struct{ *finding.Site }

// httpServer is a server of net/http, or the address of such a server.
type httpServer struct{ *finding.Site }

// httpListener is the address of a server of net/http, with or without h2c.
type httpListener struct {
	*finding.Site
	address finding.Listener
	isH2C   bool
}

// handledByHTTP is a server of grpc-go that is a handler of net/http: the server of a site, or nil if not seen.
type handledByHTTP struct {
	*finding.Site
	of *finding.Site
}
