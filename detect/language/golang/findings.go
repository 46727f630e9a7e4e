package golang

import (
	"slices"

	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/source"
)

// The types here are findings that mean something only together with others of the app: see servers.go and connect.go.
// A pkg is the import path of the package that a name belongs to.

// registration is a call of a RegisterXServer, which is generated for grpc-go or is a function of the app's own.
type registration struct {
	*finding.Site
	pkg string
}

// healthGiven is a server of grpc-go that the health service is registered with: something makes it.
type healthGiven struct{ *finding.Site }

// connectHandler is a handler of connect-go, which serves gRPC too if it is served over HTTP/2.
type connectHandler struct {
	*finding.Site
	pkg string
}

// http2Served is a server of HTTP/2, over TLS or without it (h2c).
type http2Served struct{ *finding.Site }

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

// listener is what listens on an address, which all files of the app together state: see resolvePorts.
type listener struct {
	*finding.Site
	by      listenerOf
	address source.Span // the expression with the address
}

// listenerOf says which server listens, as far as the file tells.
type listenerOf int

const (
	// anyServer is a server that the file does not name.
	anyServer listenerOf = iota
	// plainGRPC is a server of grpc-go, and plainHTTP one of HTTP over TCP: the file gives the listener to it.
	plainGRPC
	plainHTTP
	// frameworkServer gets its address in the source. Without it, the address is in the settings.
	frameworkServer
	// importedServer is a server of a package that a program imports, if there is one: the program itself names no
	// gRPC.
	importedServer
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
