package detect

import (
	"go/ast"
	"strings"
)

var (
	goYarpc        = exactly(`go\.uber\.org/yarpc/transport/grpc`)
	goYarpcOther   = exactly(`go\.uber\.org/yarpc/transport/(http|tchannel)`)
	goNewHandler   = exactly(`New\p{Lu}\w*Handler`)
	goMicroHandler = exactly(`Register\w+Handler`)
)

// call takes what is told by a method's name or by a call's arguments; names of packages are reference's.
func (r *goReader) call(call *ast.CallExpr, fun ast.Expr) {
	method, ok := fun.(*ast.SelectorExpr)
	if !ok {
		return
	}
	switch method.Sel.Name {
	case "SetUnencryptedHTTP2":
		if len(call.Args) == 1 && goText(call.Args[0]) == "true" {
			r.add(method, sign{kind: goUnencrypted})
		}
	case "StartH2CServer": // echo's
		r.add(method, sign{kind: goHTTP2})
	case "ListenAndServeTLS", "ServeTLS":
		if r.pathOf(method) == "" {
			r.add(method, sign{kind: goHTTP2})
		}
	case "NewInbound":
		if r.yarpc(method.X) {
			r.add(method, sign{kind: constructs, framework: "yarpc"})
		}
	case "Handle":
		r.handle(call)
	}
	r.micro(call, method)
	r.port(call, method)
}

// Generations of go-micro whose services serve gRPC unless told otherwise: defaults.go of v2 says so, and micro from v3 on,
// go-micro's own platform. Those before and after speak a protocol of their own.
var (
	goMicro2 = exactly(`github\.com/micro/go-micro/v2`)
	goMicro3 = exactly(`github\.com/micro/micro/v\d+/service`)
)

// micro takes what gives a handler to such a service: a generated RegisterXHandler(service.Server(), ...), or, from micro
// v3 on, service.Handle(...). A client of services makes one too, and gives it none.
func (r *goReader) micro(call *ast.CallExpr, fun *ast.SelectorExpr) {
	handles := false
	switch {
	case fun.Sel.Name == "Handle":
		handles = len(call.Args) == 1 && r.imports.any(goMicro3)
	case goMicroHandler.MatchString(fun.Sel.Name) && len(call.Args) > 1:
		server, ok := call.Args[0].(*ast.CallExpr)
		handles = ok && strings.HasSuffix(goText(server.Fun), "Server") && (r.imports.any(goMicro2) || r.imports.any(goMicro3))
	}
	if handles {
		r.add(fun, sign{kind: constructs, framework: "go-micro"})
	}
}

// handle takes mux.Handle(somepkg.NewGreeterHandler(...)): one argument for two parameters, the pair of path and handler
// that connect's generated constructors return. It finds those whose package is not called somethingconnect.
func (r *goReader) handle(call *ast.CallExpr) {
	if len(call.Args) != 1 {
		return
	}
	inner, ok := call.Args[0].(*ast.CallExpr)
	if !ok {
		return
	}
	fun, ok := calledExpr(inner).(*ast.SelectorExpr)
	if !ok || !goNewHandler.MatchString(fun.Sel.Name) || strings.HasSuffix(r.pathOf(fun), "connect") {
		return
	}
	if x, ok := fun.X.(*ast.Ident); ok && x.Obj == nil {
		r.add(fun, sign{kind: goHandles, framework: "connect-go", from: r.pathOf(fun)})
	}
}

// pathOf returns the import path that a selector selects from; "" for a method or a field.
func (r *goReader) pathOf(e ast.Expr) string {
	if s, ok := e.(*ast.SelectorExpr); ok {
		if x, ok := s.X.(*ast.Ident); ok && x.Obj == nil {
			return r.imports.byName[x.Name]
		}
	}
	return ""
}

// yarpc reports whether transport is yarpc's gRPC transport: made so here, or made elsewhere in a file that knows of no
// other transport.
func (r *goReader) yarpc(transport ast.Expr) bool {
	if call, ok := goOrigin(transport).(*ast.CallExpr); ok {
		return goYarpc.MatchString(r.pathOf(calledExpr(call)))
	}
	return r.imports.any(goYarpc) && !r.imports.any(goYarpcOther)
}

// goOrigin returns the expression that a name was declared with, or the expression itself.
func goOrigin(e ast.Expr) ast.Expr {
	id, ok := ast.Unparen(e).(*ast.Ident)
	if !ok || id.Obj == nil {
		return ast.Unparen(e)
	}
	switch d := id.Obj.Decl.(type) {
	case *ast.AssignStmt:
		return declaredWith(id, d.Lhs, d.Rhs)
	case *ast.ValueSpec:
		lhs := make([]ast.Expr, len(d.Names))
		for i, n := range d.Names {
			lhs[i] = n
		}
		return declaredWith(id, lhs, d.Values)
	}
	return id
}

// goFirstResult is goOrigin for the first result of a call that gives several, such as a listener and an error.
func goFirstResult(e ast.Expr) ast.Expr {
	origin := goOrigin(e)
	id, ok := origin.(*ast.Ident)
	if !ok || id.Obj == nil {
		return origin
	}
	if d, ok := id.Obj.Decl.(*ast.AssignStmt); ok && len(d.Rhs) == 1 && len(d.Lhs) > 1 {
		if first, ok := d.Lhs[0].(*ast.Ident); ok && first.Obj == id.Obj {
			return ast.Unparen(d.Rhs[0])
		}
	}
	return id
}

func declaredWith(id *ast.Ident, lhs, rhs []ast.Expr) ast.Expr {
	if len(lhs) != len(rhs) {
		return id
	}
	for i, l := range lhs {
		if l, ok := l.(*ast.Ident); ok && l.Obj == id.Obj {
			return rhs[i]
		}
	}
	return id
}
