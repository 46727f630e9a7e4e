package golang

import (
	"slices"

	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/plan"
)

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

// healthGiven is a server of grpc-go that the health service is registered with: something makes it.
type healthGiven struct{ *finding.Site }

// healthOf is a registration of the health service by the generated code of a package, "" for that of the file.
type healthOf struct {
	*finding.Site
	pkg string
}

// connectHandler is a handler of connect-go, which serves gRPC too if it is served over HTTP/2.
type connectHandler struct {
	*finding.Site
	pkg string
}

// http2Served is a server of HTTP/2, over TLS or without it (h2c).
type http2Served struct {
	*finding.Site
	h2c bool
}

// unencryptedHTTP2 allows HTTP/2 without TLS, to a server or to a client.
type unencryptedHTTP2 struct{ *finding.Site }

// httpServer is a server of net/http.
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

// servedTLS is what a call that serves HTTP over TLS says of the security of the transport.
type servedTLS struct {
	*finding.Site
	says plan.Security
}

// call is code whose values are followed through all files of the app: see flow.
type call struct {
	*finding.Site // that of the finding that it is about
	kind          callKind
	code          source.Span
}

// callKind says what is followed.
type callKind int

const (
	makesServer          callKind = iota // a call that makes a server
	makesListener                        // a call that makes a listener
	givesListener                        // a call that gives a listener to a server
	registersWith                        // a call that registers a service with its first argument
	registersHealthWith                  // the same, of the health service
	makesHandler                         // a call that makes a handler of connect for a service
	handlesHTTP                          // what handles the requests of a server of net/http
	handlesOfServer                      // the same, where the server is made
	handlesListener                      // what handles the requests of a listener of net/http
	listensTLS                           // a call that makes a listener with TLS
	servesTLS                            // a call that serves HTTP over TLS
	makesByConfiguration                 // a method that may make a server of configgrpc
	startsServer                         // a call of another module that may start a server
	addsOptions                          // a call that gives options to a server of go-zero
	mayRegisterHealth                    // a call of another module that may register the health service
	setsStatus                           // a call that sets a status of the health service
)

// listener is what listens on an address.
type listener struct {
	*finding.Site
	by listenerOf
	// http2 says that it is of a server of net/http which is set up for HTTP/2 without TLS.
	http2 bool
	// overTLS says that it is of a server of net/http which serves TLS there, and with it HTTP/2.
	overTLS bool
	// address is the expression with the address, and network the one with its network: empty for TCP.
	address, network source.Span
	// says is the address as all files of the app together state it, and of the server that is given it, or nil: see
	// flow.
	says plan.Address
	of   *finding.Site
}

// listenerOf says which server listens.
type listenerOf int

const (
	// anyServer is a server that is not known.
	anyServer listenerOf = iota
	// plainGRPC is a server of grpc-go, and plainHTTP one of HTTP over TCP.
	plainGRPC
	plainHTTP
	// frameworkServer gets its address in the source. Without it, the address is in the settings.
	frameworkServer
	// importedServer is a server of a package that a program imports, if there is one: the program itself names no
	// gRPC.
	importedServer
	// givenServer is one that the listener of a helper package is given to, if that is seen.
	givenServer
)

// listens reports whether one of the findings is a listener of one of the servers.
func listens(findings []finding.Finding, by ...listenerOf) bool {
	for l := range finding.All[listener](findings) {
		if slices.Contains(by, l.by) {
			return true
		}
	}
	return false
}
