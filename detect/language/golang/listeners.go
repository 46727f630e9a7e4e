package golang

import (
	"go/ast"
	"go/token"
	"strings"

	listen "github.com/grpc-cnb/health-probe/detect/address"
	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/language/golang/syntax"
	"github.com/grpc-cnb/health-probe/detect/source"
)

// listenerTable is which listeners a file serves on. It is made when it is first needed.
type listenerTable struct {
	// served are the listeners, and whether net/http serves on them.
	served      map[ast.Expr]bool
	servedOther bool // something else than net/http serves on one of them
}

// visitListenCall adds the port of a call that names one.
func (p *pass) visitListenCall(call *ast.CallExpr, fun *ast.SelectorExpr) {
	importPath, args := p.file.PathOf(fun), call.Args
	switch name := fun.Sel.Name; {
	// net.Listen(network, address), a function of another package in its place, and net.ListenConfig's
	// Listen(ctx, network, address)
	case name == "Listen" && importPath != "" && len(args) == 2,
		name == "Listen" && importPath == "" && len(args) == 3:
		if importPath != "net" && importPath != "" && !isTCP(args[0]) || !p.mayBeTCP(args[len(args)-2]) {
			return
		}
		kind := analyzer.Listener
		if p.isForHTTP(call) {
			kind = httpListener
		}
		p.addListener(args[len(args)-1], kind)
	case strings.HasPrefix(name, "ListenAndServe") && len(args) > 1 && importPath == "net/http":
		p.addListener(args[0], httpListener)
	case name == "ListenTCP" && importPath == "net" && len(args) == 2,
		name == "Listen" && importPath == "crypto/tls" && len(args) == 3:
		p.addListener(args[1], analyzer.Listener)
	case name == "StartH2CServer" && len(args) == 2: // a method of echo's Echo
		p.addListener(args[0], httpListener)
	case name == "Address" && len(args) == 1 && addressOption.MatchString(importPath),
		name == "WithServiceAddr" && len(args) == 1 && kitexOption.MatchString(importPath):
		p.addListener(args[0], addressGiven)
	}
}

var (
	addressOption = source.Exactly(kratosGRPC.String() + `|(github\.com/(micro|asim|go-micro)|go-micro\.dev)/.*`)
	kitexOption   = source.Exactly(`github\.com/cloudwego/kitex/server`)
)

// visitServerLiteral adds the port of an http.Server{Addr: ...}.
func (p *pass) visitServerLiteral(literal *ast.CompositeLit) {
	if !p.isHTTPServerType(literal) {
		return
	}
	for _, element := range literal.Elts {
		if field, ok := element.(*ast.KeyValueExpr); ok && syntax.Name(field.Key) == "Addr" {
			p.addListener(field.Value, httpListener)
		}
	}
}

// addListener adds a listener on an address. Which port that is follows from all files of the app: see
// resolvePorts.
func (p *pass) addListener(address ast.Expr, kind analyzer.Kind) {
	p.findings = append(p.findings, analyzer.Finding{Kind: kind, Port: listen.UnknownPort}.At(p.file.Line(address), ""))
	p.addresses = append(p.addresses, p.file.Span(address))
}

// isForHTTP reports whether the listener that a call of Listen makes is for HTTP and not for gRPC: the file gives it to
// net/http, and another listener to something else, or the file names no gRPC at all. A gRPC server may be a handler of
// net/http, so a listener that is given to net/http is not always for HTTP alone.
func (p *pass) isForHTTP(listen *ast.CallExpr) bool {
	if p.listeners.served == nil {
		p.findServed()
	}
	return p.listeners.served[listen] && (p.listeners.servedOther || !p.namesGRPC)
}

func (p *pass) findServed() {
	served := map[ast.Expr]bool{}
	assigned := map[string]ast.Expr{} // what fields, and variables that are declared without a value, get
	ast.Inspect(p.file.File, func(n ast.Node) bool {
		if a, ok := n.(*ast.AssignStmt); ok && len(a.Rhs) == 1 {
			if call, ok := a.Rhs[0].(*ast.CallExpr); ok && syntax.LastName(call.Fun) == "Listen" {
				assigned[selection(a.Lhs[0])] = call
			}
		}
		call, ok := n.(*ast.CallExpr)
		if !ok || len(call.Args) == 0 {
			return true
		}
		fun, ok := syntax.Called(call).(*ast.SelectorExpr)
		if ok && (fun.Sel.Name == "Serve" || fun.Sel.Name == "ServeTLS") {
			byHTTP := p.file.PathOf(fun) == "net/http" || p.isHTTPServer(fun.X)
			served[p.file.InitialCall(call.Args[0])] = byHTTP
		}
		return true
	})
	p.listeners.served = map[ast.Expr]bool{}
	for listener, byHTTP := range served {
		if call, ok := assigned[selection(listener)]; ok {
			listener = call
		}
		p.listeners.served[listener] = byHTTP
		p.listeners.servedOther = p.listeners.servedOther || !byHTTP
	}
}

// selection returns a name with the names of the fields that are selected from it, as in server.listener; "" for other
// expressions.
func selection(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		if of := selection(e.X); of != "" {
			return of + "." + e.Sel.Name
		}
	}
	return ""
}

// isHTTPServer reports whether an expression is an http.Server that the file makes.
func (p *pass) isHTTPServer(e ast.Expr) bool {
	e = p.file.InitialValue(e)
	if address, ok := e.(*ast.UnaryExpr); ok && address.Op == token.AND {
		e = address.X
	}
	literal, ok := e.(*ast.CompositeLit)
	return ok && p.isHTTPServerType(literal)
}

func (p *pass) isHTTPServerType(literal *ast.CompositeLit) bool {
	s, ok := literal.Type.(*ast.SelectorExpr)
	return ok && s.Sel.Name == "Server" && p.file.PathOf(s) == "net/http"
}

// isTCP reports whether the network of a Listen is TCP by a literal.
func isTCP(network ast.Expr) bool {
	text, ok := syntax.StringLiteral(network)
	return ok && strings.HasPrefix(text, "tcp")
}

// maxDeclarations is how many declarations are followed one into another: they may lead in a circle.
const maxDeclarations = 24

// mayBeTCP reports whether the network of a Listen is TCP, or is not stated by the file.
func (p *pass) mayBeTCP(network ast.Expr) bool {
	for range maxDeclarations {
		text, ok := syntax.StringLiteral(network)
		if ok {
			return strings.HasPrefix(text, "tcp")
		}
		network = p.file.InitialValue(network)
	}
	return true
}
