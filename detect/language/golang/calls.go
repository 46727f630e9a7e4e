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

// visitCall adds the findings from the name of a method or from the arguments of a call. visitReference adds the
// findings from the name of a package.
func (p *pass) visitCall(call *ast.CallExpr, method *ast.SelectorExpr) {
	importPath, args := p.file.PathOf(method), call.Args
	switch method.Sel.Name {
	case "SetUnencryptedHTTP2":
		if len(args) == 1 && syntax.Name(args[0]) == "true" {
			p.add(unencryptedHTTP2{p.at(method)})
		}
	case "StartH2CServer": // a method of echo's Echo
		p.add(http2Served{Site: p.at(method), h2c: true})
	case "ListenAndServeTLS", "ServeTLS":
		if importPath == "" {
			p.add(http2Served{Site: p.at(method), overTLS: true})
		}
	case "ListenAndServe":
		p.add(httpServer{p.at(method).Quiet()})
	case "ToServer":
		isOther := p.file.Imports.AnyMatches(configHTTP) && syntax.LastName(method.X) != "GRPC"
		if p.file.Imports.AnyMatches(configGRPC) && !isOther {
			server := finding.Server{Site: p.at(method), Framework: grpcGo}
			p.findings = append(p.findings, server, finding.Security{Site: server.Quiet(), Of: server.Site})
		}
	case "NewInbound":
		if p.isYarpcTransport(method.X) {
			p.add(finding.Server{Site: p.at(method), Framework: yarpc})
		}
	case "SetServingStatus", "SetStatus":
		if len(args) == 2 {
			p.statuses[p.file.Span(method).To] = args[0]
		}
	case "Handle", "HandleFunc":
		if len(args) == 2 && isLiteral(args[0], healthService) {
			p.add(finding.Health{Site: p.at(method)})
		}
		if at, ok := p.connectConstructor(call); ok {
			p.add(ofPackage{Site: p.at(at), kind: connectHandler, pkg: p.file.PathOf(at)})
		}
	case "AddGRPCServerOptions": // a method of GoFr's App
		p.add(finding.Security{Site: p.at(method).Quiet()})
	}
	if p.registersMicroHandler(call, method) {
		p.add(finding.Server{Site: p.at(method), Framework: goMicro})
	}
	p.visitMicroHealth(call, method)
	if importPath != "" && aboutHealth.MatchString(importPath+"."+method.Sel.Name) &&
		!generatedRegistration.MatchString(method.Sel.Name) && slices.ContainsFunc(args, p.isServer) {
		p.add(ofPackage{Site: p.at(method).Quiet(), kind: healthCall, pkg: importPath})
	}
}

var (
	// aboutHealth matches functions that may register the health service with a server in the arguments.
	aboutHealth = lazyregexp.New(`(?i)health`)
	makesServer = lazyregexp.New(`^(?:grpc\.NewServer$|\w*[sS]erver\.New)`)
	// generatedRegistration matches functions of protoc-gen-go-grpc, which register the service in the name.
	generatedRegistration = source.Exactly(`Register\p{Lu}\w*Server`)

	// configGRPC makes a server of grpc-go, and configHTTP a server of net/http, by a method ToServer of the
	// configuration. The setting tls decides on TLS (config/configgrpc/configgrpc.go of the OpenTelemetry collector).
	configGRPC = source.Exactly(`go\.opentelemetry\.io/collector/config/configgrpc`)
	configHTTP = source.Exactly(`go\.opentelemetry\.io/collector/config/confighttp`)
)

// isServer reports whether an expression is a server of grpc-go, as far as the file tells.
func (p *pass) isServer(e ast.Expr) bool {
	switch e := syntax.InitialValue(e).(type) {
	case *ast.CallExpr:
		return makesServer.MatchString(syntax.Name(e.Fun))
	case *ast.Ident:
		field, ok := syntax.Declaration(e).(*ast.Field)
		return ok && syntax.LastName(field.Type) == "Server" && strings.HasPrefix(typeName(field.Type), "grpc.")
	}
	return false
}

// typeName returns a type as the source has it, without the sign of a pointer.
func typeName(e ast.Expr) string {
	if pointer, ok := e.(*ast.StarExpr); ok {
		e = pointer.X
	}
	return syntax.Name(e)
}

// The generations of go-micro whose services serve gRPC by default: go-micro v2 (its defaults.go), and from v3 on
// micro, the platform of the same makers. The remaining generations have a different protocol.
var (
	goMicroV2  = source.Exactly(`github\.com/micro/go-micro/v2`)
	microV3    = source.Exactly(`github\.com/micro/micro/v\d+/service`)
	goMicroAny = source.Exactly(`(github\.com/(micro|asim|go-micro)|go-micro\.dev)/.*`)

	registerHandler = source.Exactly(`Register\w+Handler`)
	// standardHealth matches packages generated from grpc/health/v1/health.proto, as far as a path tells.
	standardHealth = source.Exactly(`.*grpc[/_]?health.*`)
	// givesHandler matches the functions of go-micro that take an object with the methods of a service.
	givesHandler = source.Exactly(`Handle|NewHandler|RegisterHandler`)
	// madeHealth makes an object of a type Health.
	madeHealth = lazyregexp.New(`^(?:new\((?:\w+\.)?Health\)|&?(?:\w+\.)?Health\{)`)
)

// registersMicroHandler reports whether a call gives a handler to a service of goMicroV2 or microV3: by a generated
// RegisterXHandler(service.Server(), ...), or by service.Handle(...) from micro v3 on. A program that only calls
// services makes a service without a handler.
func (p *pass) registersMicroHandler(call *ast.CallExpr, fun *ast.SelectorExpr) bool {
	if fun.Sel.Name == "Handle" {
		return len(call.Args) == 1 && p.file.Imports.AnyMatches(microV3)
	}
	if !registerHandler.MatchString(fun.Sel.Name) || len(call.Args) < 2 || fun.Sel.Name == "RegisterHealthHandler" {
		return false
	}
	service, ok := call.Args[0].(*ast.CallExpr)
	return ok && strings.HasSuffix(syntax.Name(service.Fun), "Server") &&
		(p.file.Imports.AnyMatches(goMicroV2) || p.file.Imports.AnyMatches(microV3))
}

// visitMicroHealth adds the health service of go-micro, from a generated RegisterHealthHandler(service.Server(),
// handler). go-micro finds a service by the name without the package (ServiceMethod of internal/util/grpc). A different
// service Health, or a handler of the same name, may lack the methods.
func (p *pass) visitMicroHealth(call *ast.CallExpr, fun *ast.SelectorExpr) {
	if !p.file.Imports.AnyMatches(goMicroAny) || len(call.Args) == 0 {
		return
	}
	health := finding.Health{Site: p.at(fun)}
	switch name := fun.Sel.Name; {
	case name == "RegisterHealthHandler" && len(call.Args) > 1 && !p.isContext(call.Args[0]):
		if !standardHealth.MatchString(p.file.PathOf(fun)) {
			health.Site = health.AsUnsure()
		}
	case givesHandler.MatchString(name) && slices.ContainsFunc(call.Args, p.makesHealth) &&
		(name != "Handle" || len(call.Args) == 1): // a mux takes a path too
		health.Site = health.AsUnsure()
	default:
		return
	}
	p.add(health)
}

func (p *pass) makesHealth(e ast.Expr) bool {
	span := p.file.Span(e)
	return madeHealth.Match(p.text.Code[span.From:span.To])
}

// isContext reports whether an argument is a context by the name, as in the registrations of grpc-gateway.
func (p *pass) isContext(e ast.Expr) bool {
	if made, ok := e.(*ast.CallExpr); ok {
		return p.file.PathOf(syntax.Called(made)) == "context"
	}
	return strings.HasSuffix(strings.ToLower(syntax.LastName(e)), "ctx")
}

var newHandler = source.Exactly(`New\p{Lu}\w*Handler`)

// connectConstructor returns the constructor in mux.Handle(somepkg.NewGreeterHandler(...)), a call with one argument
// for two parameters. The generated constructors of connect return a path and a handler. Constructors of packages whose
// import paths end in connect are in symbolRules.
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
	return fun, ok && syntax.Declaration(x) == nil
}

var (
	yarpcGRPC  = source.Exactly(`go\.uber\.org/yarpc/transport/grpc`)
	yarpcOther = source.Exactly(`go\.uber\.org/yarpc/transport/(http|tchannel)`)
)

// isYarpcTransport reports whether an expression is yarpc's transport for gRPC: the file makes the transport, or
// imports no second transport of yarpc.
func (p *pass) isYarpcTransport(e ast.Expr) bool {
	if call, ok := syntax.InitialValue(e).(*ast.CallExpr); ok {
		return yarpcGRPC.MatchString(p.file.PathOf(syntax.Called(call)))
	}
	return p.file.Imports.AnyMatches(yarpcGRPC) && !p.file.Imports.AnyMatches(yarpcOther)
}

// healthService is the name by which a health service written by hand is registered.
const healthService = "grpc.health.v1.Health"

// isLiteral reports whether an expression is the string text, or begins with "/"+text+"/".
func isLiteral(e ast.Expr, text string) bool {
	s, ok := syntax.StringLiteral(e)
	return ok && (s == text || strings.HasPrefix(s, "/"+text+"/"))
}
