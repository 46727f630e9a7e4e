package golang

import (
	"go/ast"
	"go/token"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/language/golang/syntax"
	"github.com/grpc-cnb/health-probe/detect/source"
)

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
		p.addListener(args[len(args)-1], p.listenerOf(call))
	case strings.HasPrefix(name, "ListenAndServe") && len(args) > 1 && importPath == "net/http":
		p.addListener(args[0], plainHTTP)
	case name == "ListenTCP" && importPath == "net" && len(args) == 2,
		name == "Listen" && importPath == "crypto/tls" && len(args) == 3:
		p.addListener(args[1], p.listenerOf(call))
	case name == "StartH2CServer" && len(args) == 2: // a method of echo's Echo
		p.addListener(args[0], plainHTTP)
	case name == "Address" && len(args) == 1 && addressOption.MatchString(importPath),
		name == "WithServiceAddr" && len(args) == 1 && kitexOption.MatchString(importPath):
		p.addListener(args[0], frameworkServer)
	}
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
	if address := syntax.Element(literal, "Addr"); address != nil {
		p.addListener(address, plainHTTP)
	}
	if p.isGRPCServer(syntax.Element(literal, "Handler")) {
		p.add(handledByHTTP{p.at(literal.Type).Quiet()})
	}
}

// addListener adds a listener of a server on an address. Which port that is follows from all files of the app: see
// resolvePorts.
func (p *pass) addListener(address ast.Expr, by listenerOf) {
	p.add(listener{finding.AtLine(p.file.Line(address), ""), by, p.file.Span(address)})
}

// listenerOf returns which server the file gives the listener to that a call makes.
func (p *pass) listenerOf(listen *ast.CallExpr) listenerOf {
	if p.served == nil {
		p.findServed()
	}
	return p.served[listen]
}

// findServed finds which listeners the file gives to which servers.
func (p *pass) findServed() {
	p.served = map[ast.Expr]listenerOf{}
	p.assigned = map[string]ast.Expr{}
	ast.Inspect(p.file.File, func(n ast.Node) bool {
		if a, ok := n.(*ast.AssignStmt); ok && len(a.Rhs) == 1 {
			if name := selection(a.Lhs[0]); name != "" && isMade(a.Rhs[0]) {
				p.assigned[name] = a.Rhs[0]
			}
		}
		return true
	})
	ast.Inspect(p.file.File, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || len(call.Args) == 0 {
			return true
		}
		fun, ok := syntax.Called(call).(*ast.SelectorExpr)
		if !ok || fun.Sel.Name != "Serve" && fun.Sel.Name != "ServeTLS" {
			return true
		}
		byGRPC := p.isGRPCServer(fun.X) || len(call.Args) > 1 && p.isGRPCServer(call.Args[1])
		listener := p.madeBy(call.Args[0])
		switch {
		case byGRPC:
			p.served[listener] = plainGRPC
		case p.served[listener] == anyServer && (p.file.PathOf(fun) == "net/http" || p.isHTTPServer(fun.X)):
			p.served[listener] = plainHTTP
		}
		return true
	})
}

// isMade reports whether an expression makes a listener or a server.
func isMade(e ast.Expr) bool {
	switch e := ast.Unparen(e).(type) {
	case *ast.CallExpr, *ast.CompositeLit:
		return true
	case *ast.UnaryExpr:
		return e.Op == token.AND
	}
	return false
}

// madeBy returns the call that made a listener, also if another listener is wrapped around it.
func (p *pass) madeBy(listener ast.Expr) ast.Expr {
	for range maxDeclarations {
		call, ok := p.made(listener).(*ast.CallExpr)
		if !ok {
			break
		}
		if name := syntax.LastName(syntax.Called(call)); strings.HasPrefix(name, "Listen") || len(call.Args) == 0 {
			return call
		}
		listener = call.Args[0]
	}
	return listener
}

// made returns the expression that the file makes a variable or a field with. It returns any other expression itself.
func (p *pass) made(e ast.Expr) ast.Expr {
	if value := p.file.InitialCall(e); selection(value) == "" {
		return value
	}
	if value, ok := p.assigned[selection(e)]; ok {
		return value
	}
	return ast.Unparen(e)
}

// selection returns a name with the names of the fields that are selected from it, as in server.listener; "" for other
// expressions.
func selection(e ast.Expr) string {
	fields := ""
	for range maxDeclarations {
		switch x := ast.Unparen(e).(type) {
		case *ast.Ident:
			return x.Name + fields
		case *ast.StarExpr:
			e = x.X
		case *ast.SelectorExpr:
			e, fields = x.X, "."+x.Sel.Name+fields
		default:
			return ""
		}
	}
	return ""
}

// isGRPCServer reports whether an expression is a server of grpc-go, as far as the file tells.
func (p *pass) isGRPCServer(e ast.Expr) bool {
	if e == nil {
		return false
	}
	if call, ok := p.made(e).(*ast.CallExpr); ok {
		fun := syntax.Called(call)
		return p.isType(fun, "google.golang.org/grpc", "NewServer")
	}
	return p.isType(p.typeOf(e), "google.golang.org/grpc", "Server")
}

// isHTTPServer reports whether an expression is an http.Server, as far as the file tells.
func (p *pass) isHTTPServer(e ast.Expr) bool {
	value := p.made(e)
	if address, ok := value.(*ast.UnaryExpr); ok && address.Op == token.AND {
		value = address.X
	}
	if literal, ok := value.(*ast.CompositeLit); ok {
		return p.isType(literal.Type, "net/http", "Server")
	}
	return p.isType(p.typeOf(e), "net/http", "Server")
}

// typeOf returns the type that the file declares a variable or a parameter with, or nil.
func (p *pass) typeOf(e ast.Expr) ast.Expr {
	e = ast.Unparen(e)
	if pointer, ok := e.(*ast.StarExpr); ok {
		e = ast.Unparen(pointer.X)
	}
	name, ok := e.(*ast.Ident)
	if !ok {
		return nil
	}
	d := p.file.Declaration(name)
	if d == nil {
		return nil
	}
	switch n := d.Node.(type) {
	case *ast.Field:
		return n.Type
	case *ast.ValueSpec:
		return n.Type
	}
	return nil
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

// maxDeclarations is how many declarations and fields are followed one into another: they may lead in a circle.
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
