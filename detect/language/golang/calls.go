package golang

import (
	"go/ast"
	"slices"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/language/golang/syntax"
	"github.com/grpc-cnb/health-probe/detect/source"
)

// visitCall adds the findings that follow from the name of a method or from the arguments of a call. visitReference
// adds those that follow from the name of a package.
func (p *pass) visitCall(call *ast.CallExpr, fun ast.Expr) {
	if method, _ := servedBy(call); method != nil {
		p.follow(p.at(method).Quiet(), givesListener, call)
	}
	method, ok := fun.(*ast.SelectorExpr)
	if !ok {
		return
	}
	switch method.Sel.Name {
	case "SetUnencryptedHTTP2":
		if len(call.Args) == 1 && syntax.Name(call.Args[0]) == "true" {
			p.add(unencryptedHTTP2{p.at(method)})
		}
	case "StartH2CServer": // a method of echo's Echo
		p.add(http2Served{p.at(method), true})
	case "ListenAndServeTLS", "ServeTLS":
		if p.file.PathOf(method) == "" {
			p.add(http2Served{p.at(method), false})
		}
		p.follow(p.at(method).Quiet(), servesTLS, call)
	case "ToServer":
		if p.file.Imports.AnyMatches(configGRPC) {
			p.follow(p.at(method), makesByConfiguration, call)
		}
	case "AddOptions":
		p.follow(p.at(method).Quiet(), addsOptions, call)
	case "NewInbound":
		if p.isYarpcTransport(method.X) {
			server := finding.Server{Site: p.at(method), Framework: yarpc}
			p.add(server)
			p.follow(server.Site, makesServer, call)
		}
	case "Handle", "HandleFunc":
		if len(call.Args) == 2 && isLiteral(call.Args[0], healthService) {
			p.add(finding.Health{Site: p.at(method)})
		}
		if at, ok := p.connectConstructor(call); ok {
			p.add(connectHandler{p.at(at), p.file.PathOf(at)})
		}
	}
	if p.registersMicroHandler(call, method) {
		p.add(finding.Server{Site: p.at(method), Framework: goMicro})
	}
	if len(call.Args) > 0 && p.file.PathOf(method) != "" && startsServers.MatchString(method.Sel.Name) {
		p.follow(p.at(method).Quiet(), startsServer, call)
	}
	p.visitListenCall(call, method)
}

// startsServers are the names of functions that may listen for a server which they are given.
var startsServers = source.Exactly(`(?:Run|Serve|Start|Listen)(?:\p{Lu}\w*)?`)

// configGRPC makes a server of grpc-go, as confighttp makes one of net/http, by a method ToServer of its configuration.
// Its setting tls is empty by default (config/configgrpc/configgrpc.go of the OpenTelemetry collector).
var configGRPC = source.Exactly(`go\.opentelemetry\.io/collector/config/configgrpc`)

// The generations of go-micro whose services serve gRPC by default: go-micro v2 (its defaults.go), and from v3 on
// micro, the platform of the same makers. The other generations have a protocol of their own.
var (
	goMicroV2 = source.Exactly(`github\.com/micro/go-micro/v2`)
	microV3   = source.Exactly(`github\.com/micro/micro/v\d+/service`)

	registerHandler = source.Exactly(`Register\w+Handler`)
)

// registersMicroHandler reports whether a call gives a handler to a service of one of these generations: by a generated
// RegisterXHandler(service.Server(), ...), or by service.Handle(...) from micro v3 on. A program that only calls
// services makes a service too, and gives it no handler.
func (p *pass) registersMicroHandler(call *ast.CallExpr, fun *ast.SelectorExpr) bool {
	if fun.Sel.Name == "Handle" {
		return len(call.Args) == 1 && p.file.Imports.AnyMatches(microV3)
	}
	if !registerHandler.MatchString(fun.Sel.Name) || len(call.Args) < 2 {
		return false
	}
	service, ok := call.Args[0].(*ast.CallExpr)
	return ok && strings.HasSuffix(syntax.Name(service.Fun), "Server") &&
		(p.file.Imports.AnyMatches(goMicroV2) || p.file.Imports.AnyMatches(microV3))
}

var newHandler = source.Exactly(`New\p{Lu}\w*Handler`)

// connectConstructor returns the constructor in mux.Handle(somepkg.NewGreeterHandler(...)), a call with one argument
// for two parameters. The constructors that connect generates return such a pair of a path and a handler. Those of
// packages whose import paths end in connect are in symbolRules.
func (p *pass) connectConstructor(handle *ast.CallExpr) (ast.Expr, bool) {
	if len(handle.Args) != 1 {
		return nil, false
	}
	call, ok := handle.Args[0].(*ast.CallExpr)
	if !ok {
		return nil, false
	}
	fun, ok := syntax.Called(call).(*ast.SelectorExpr)
	if !ok || !newHandler.MatchString(fun.Sel.Name) || strings.HasSuffix(p.file.PathOf(fun), "connect") {
		return nil, false
	}
	x, ok := fun.X.(*ast.Ident)
	return fun, ok && p.file.Declaration(x) == nil
}

var (
	yarpcGRPC  = source.Exactly(`go\.uber\.org/yarpc/transport/grpc`)
	yarpcOther = source.Exactly(`go\.uber\.org/yarpc/transport/(http|tchannel)`)
)

// isYarpcTransport reports whether an expression is yarpc's transport for gRPC: the file makes it so, or the file
// imports no other transport of yarpc.
func (p *pass) isYarpcTransport(e ast.Expr) bool {
	if call, ok := p.file.InitialValue(e).(*ast.CallExpr); ok {
		return yarpcGRPC.MatchString(p.file.PathOf(syntax.Called(call)))
	}
	return p.file.Imports.AnyMatches(yarpcGRPC) && !p.file.Imports.AnyMatches(yarpcOther)
}

// crossplanePort is where a function of crossplane listens if no option says so.
const crossplanePort = 9443

// listens reports whether one of the options of a call is an address to listen on.
func (p *pass) listens(call *ast.CallExpr) bool {
	return call == nil || call.Ellipsis.IsValid() || slices.ContainsFunc(call.Args, func(option ast.Expr) bool {
		made, ok := option.(*ast.CallExpr)
		return ok && syntax.LastName(made.Fun) == "Listen"
	})
}

// healthService is the name of the health service, by which a service that is written by hand is registered.
const healthService = "grpc.health.v1.Health"

// isLiteral reports whether an expression is a string, or one that begins with a slash, this string and another slash.
func isLiteral(e ast.Expr, text string) bool {
	s, ok := syntax.StringLiteral(e)
	return ok && (s == text || strings.HasPrefix(s, "/"+text+"/"))
}
