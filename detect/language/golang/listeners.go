package golang

import (
	"go/ast"
	"slices"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/language/golang/syntax"
	"github.com/grpc-cnb/health-probe/detect/source"
)

// reusesPort are packages whose listeners share a port with others, and have no TLS.
var reusesPort = source.Exactly(`github\.com/(?:kavu/go_reuseport|libp2p/go-reuseport)`)

// visitListenCall adds the port of a call that names one.
func (p *pass) visitListenCall(call *ast.CallExpr, fun *ast.SelectorExpr) {
	importPath, args := p.file.PathOf(fun), call.Args
	switch name := fun.Sel.Name; {
	case name == "Listen" && crossplaneFunction.MatchString(importPath) && len(args) == 2:
		p.addListener(listener{by: plainGRPC, network: p.file.Span(args[0])}, args[1], call)
	// net.Listen(network, address), a function of another package or a method in its place, and net.ListenConfig's
	// Listen(ctx, network, address)
	case name == "Listen" && importPath != "" && len(args) == 2,
		reusesPort.MatchString(importPath) && strings.HasPrefix(name, "NewReusablePort") && len(args) == 2,
		name == "Listen" && importPath == "" && (len(args) == 3 || len(args) == 2 && isTCP(args[0])):
		if reusesPort.MatchString(importPath) || importPath == "net" || importPath == "" || isTCP(args[0]) {
			p.addListener(listener{by: anyServer, network: p.file.Span(args[len(args)-2])}, args[len(args)-1], call)
		}
	case strings.HasPrefix(name, "ListenAndServe") && len(args) > 1 && importPath == "net/http":
		handler := args[len(args)-1]
		overTLS := name == "ListenAndServeTLS"
		added := p.addListener(listener{by: plainHTTP, http2: p.isH2C(handler), overTLS: overTLS}, args[0], nil)
		p.follow(added, handlesListener, handler)
	case (name == "ListenTCP" || name == "ListenUnix") && importPath == "net" && len(args) == 2,
		name == "Listen" && importPath == "crypto/tls" && len(args) == 3:
		p.addListener(listener{by: anyServer, network: p.file.Span(args[0])}, args[1], call)
	case etcdTransport.MatchString(importPath) && strings.HasPrefix(name, "NewListener") && !takesTLS(call):
		p.addListener(listener{by: anyServer, network: p.file.Span(args[1])}, args[0], call)
	default:
		p.visitServeCall(call, fun)
	}
}

// etcdTransport has functions NewListener(address, scheme, tlsInfo) and NewListenerWithOpts(address, scheme, options).
var etcdTransport = source.Exactly(`go\.etcd\.io/etcd/(?:client/)?pkg/(?:v3/)?transport`)

// takesTLS reports whether such a function is not given an address and a scheme alone, but may be given TLS.
func takesTLS(call *ast.CallExpr) bool {
	return len(call.Args) < 2 || slices.ContainsFunc(call.Args[2:], func(e ast.Expr) bool {
		option, ok := e.(*ast.CallExpr)
		return syntax.Name(e) != "nil" && (!ok || syntax.LastName(option.Fun) == "WithTLSInfo")
	})
}

// visitServeCall adds the port of a call that gives one to a server of a framework.
func (p *pass) visitServeCall(call *ast.CallExpr, fun *ast.SelectorExpr) {
	importPath, args := p.file.PathOf(fun), call.Args
	switch name := fun.Sel.Name; {
	case name == "WithGRPCTarget" && saltMux.MatchString(importPath) && len(args) == 2: // (address, server)
		p.addListener(listener{by: plainGRPC}, args[0], nil)
	case name == "AddGRPCServerOptions": // a method of GoFr's App
		p.add(gofrSecured{p.at(call.Fun).Quiet()})
	case name == "StartH2CServer" && len(args) == 2: // a method of echo's Echo
		p.addListener(listener{by: plainHTTP}, args[0], nil)
	case name == "Address" && len(args) == 1 && addressOption.MatchString(importPath),
		name == "WithServiceAddr" && len(args) == 1 && kitexOption.MatchString(importPath),
		name == "WithPort" && len(args) == 1 && dubboProtocol.MatchString(importPath):
		p.addListener(listener{by: frameworkServer}, args[0], nil)
	}
}

// saltMux listens for servers that it is given with their addresses.
var saltMux = source.Exactly(`github\.com/(?:raystack|goto|odpf)/salt(?:/v\d+)?/(?:server/)?mux`)

// servedBy returns the method of a server, or the function, that a call gives a listener to, and what may be the
// listener: server.Serve(lis), http.Serve(lis, handler), or a function that is given the method: run(lis, s.Serve).
// It returns nil for other calls.
func servedBy(call *ast.CallExpr) (method *ast.SelectorExpr, listeners []ast.Expr) {
	args := call.Args[:min(len(call.Args), maxStarted)]
	for i, arg := range args {
		if fun, ok := arg.(*ast.SelectorExpr); ok && isServe(fun) && len(args) > 1 {
			return fun, slices.Concat(args[:i], args[i+1:])
		}
	}
	if fun, ok := syntax.Called(call).(*ast.SelectorExpr); ok && isServe(fun) && len(args) > 0 {
		return fun, args[:1]
	}
	return nil, nil
}

func isServe(method *ast.SelectorExpr) bool {
	return method.Sel.Name == "Serve" || method.Sel.Name == "ServeTLS"
}

var (
	addressOption = source.Exactly(kratosGRPC.String() + `|(github\.com/(micro|asim|go-micro)|go-micro\.dev)/.*`)
	kitexOption   = source.Exactly(`github\.com/cloudwego/kitex/server`)
)

// visitServerLiteral adds the port of an http.Server{Addr: ...}.
func (p *pass) visitServerLiteral(literal *ast.CompositeLit) {
	if !p.isType(literal.Type, "net/http", "Server") {
		return
	}
	handler := syntax.Element(literal, "Handler")
	if address := syntax.Element(literal, "Addr"); address != nil {
		http2 := syntax.Element(literal, "Protocols") != nil || p.isH2C(handler)
		at := p.addListener(listener{by: plainHTTP, http2: http2}, address, nil)
		if handler != nil {
			p.follow(at, handlesListener, handler)
		}
	}
	if handler != nil {
		p.follow(p.at(literal.Type).Quiet(), handlesOfServer, handler)
	}
}

// isH2C reports whether a handler serves HTTP/2 without TLS.
func (p *pass) isH2C(handler ast.Expr) bool {
	if handler == nil {
		return false
	}
	call, ok := p.file.InitialValue(handler).(*ast.CallExpr)
	return ok && h2c.MatchString(p.file.PathOf(syntax.Called(call)))
}

// addListener adds a listener on an address, which a call makes, and returns its site. Which port that is follows from
// all files of the app: see flow.
func (p *pass) addListener(l listener, address ast.Expr, made ast.Expr) *finding.Site {
	l.Site, l.address = finding.AtLine(p.file.Line(address), ""), p.file.Span(address)
	p.add(l)
	if made == nil {
		made = address
	}
	p.follow(l.Site, makesListener, made)
	return l.Site
}

// follow adds code whose values are followed, which is about the finding at a site.
func (p *pass) follow(about *finding.Site, kind callKind, code ast.Expr) {
	p.add(call{about, kind, p.file.Span(code)})
}

// followCall follows a call that has arguments, if there is one.
func (p *pass) followCall(about *finding.Site, kind callKind, made *ast.CallExpr) {
	if made != nil && (len(made.Args) > 0 || kind == makesServer) {
		p.follow(about, kind, made)
	}
}

// isType reports whether an expression is a name of a package, or a pointer to it.
func (p *pass) isType(e ast.Expr, importPath, name string) bool {
	for {
		pointer, ok := e.(*ast.StarExpr)
		if !ok {
			break
		}
		e = pointer.X
	}
	s, ok := e.(*ast.SelectorExpr)
	return ok && s.Sel.Name == name && p.file.PathOf(s) == importPath
}

// isTCP reports whether the network of a Listen is TCP by a literal.
func isTCP(network ast.Expr) bool {
	text, ok := syntax.StringLiteral(network)
	return ok && strings.HasPrefix(text, "tcp")
}
