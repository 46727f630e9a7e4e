package golang

import (
	"go/ast"
	"slices"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/language/golang/syntax"
	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
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
	case "StripPrefix":
		p.visitStripPrefix(call)
	case "Handle", "HandleFunc":
		p.visitHandle(call, method.X)
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
	p.visitMicroHealth(call, method)
	p.visitStatus(call, method)
	if len(call.Args) > 0 && p.file.PathOf(method) != "" && startsServers.MatchString(method.Sel.Name) {
		p.follow(p.at(method).Quiet(), startsServer, call)
	}
	if importPath := p.file.PathOf(method); len(call.Args) > 0 && importPath != "" &&
		aboutHealth.MatchString(importPath+"."+method.Sel.Name) && !generatedRegistration.MatchString(method.Sel.Name) {
		p.follow(p.at(method).Quiet(), mayRegisterHealth, call)
	}
	p.visitListenCall(call, method)
}

var (
	// aboutHealth are functions that may register the health service with a server which they are given.
	aboutHealth = lazyregexp.New(`(?i)health`)
	// generatedRegistration are those that protoc-gen-go-grpc generates: they register what their name says.
	generatedRegistration = source.Exactly(`Register\p{Lu}\w*Server`)
)

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

var (
	goMicroAny = source.Exactly(`(github\.com/(micro|asim|go-micro)|go-micro\.dev)/.*`)
	// standardHealth are packages that are generated from grpc/health/v1/health.proto, as far as their paths tell.
	standardHealth = source.Exactly(`.*grpc[/_]?health.*`)
)

// visitMicroHealth adds the health service of go-micro, which finds a service by its name, without its package
// (ServiceMethod of internal/util/grpc): that of a generated RegisterHealthHandler(service.Server(), handler). Another
// service Health, or a handler of this name, may not have its methods.
func (p *pass) visitMicroHealth(call *ast.CallExpr, fun *ast.SelectorExpr) {
	if !p.file.Imports.AnyMatches(goMicroAny) {
		return
	}
	health, isSure := finding.Health{Site: p.at(fun)}, false
	switch {
	case fun.Sel.Name == "RegisterHealthHandler":
		if len(call.Args) < 2 || p.isContext(call.Args[0]) { // that of grpc-gateway is given a context and a mux
			return
		}
		isSure = standardHealth.MatchString(p.file.PathOf(fun))
	case fun.Sel.Name == "Handle" && len(call.Args) != 1: // a mux takes a path too
		return
	case givesHandler.MatchString(fun.Sel.Name) && slices.ContainsFunc(call.Args, makesHealth):
	default:
		return
	}
	if !isSure {
		health.Site = health.AsUnsure()
	}
	p.add(health)
	p.followCall(health.Site, registersHealthWith, call)
}

// givesHandler are the functions of go-micro that take an object whose methods are those of a service.
var givesHandler = source.Exactly(`Handle|NewHandler|RegisterHandler`)

// makesHealth reports whether an expression makes an object of a type Health: new(Health), &Health{}.
func makesHealth(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.UnaryExpr:
		return makesHealth(e.X)
	case *ast.CompositeLit:
		return syntax.LastName(e.Type) == "Health"
	case *ast.CallExpr:
		return syntax.Name(e.Fun) == "new" && len(e.Args) == 1 && syntax.LastName(e.Args[0]) == "Health"
	}
	return false
}

// isContext reports whether an argument is a context, as far as its name tells.
func (p *pass) isContext(e ast.Expr) bool {
	if made, ok := e.(*ast.CallExpr); ok {
		return p.file.PathOf(syntax.Called(made)) == "context"
	}
	return strings.HasSuffix(strings.ToLower(syntax.LastName(e)), "ctx")
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
