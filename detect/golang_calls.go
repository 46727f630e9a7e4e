package detect

import (
	"fmt"
	"go/ast"
	"go/token"
	"strconv"
	"strings"
)

var (
	goYarpc      = exactly(`go\.uber\.org/yarpc/transport/grpc`)
	goYarpcOther = exactly(`go\.uber\.org/yarpc/transport/(http|tchannel)`)
	goNewHandler = exactly(`New\p{Lu}\w*Handler`)
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
	r.port(call, method)
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

// port takes the port from the calls that name one.
func (r *goReader) port(call *ast.CallExpr, fun *ast.SelectorExpr) {
	from, args := r.pathOf(fun), call.Args
	switch name := fun.Sel.Name; {
	case name == "Listen" && from == "net" && len(args) == 2, name == "Listen" && from == "" && len(args) == 3:
		if r.tcp(args[len(args)-2]) {
			r.listens(args[len(args)-1], listens)
		}
	case strings.HasPrefix(name, "ListenAndServe") && len(args) > 1 && from == "net/http":
		r.listens(args[0], goListensHTTP)
	case name == "Address" && len(args) == 1 && goKratosGRPC.MatchString(from):
		r.listens(args[0], listens)
	}
}

// literal takes the address of an http.Server{Addr: ...}.
func (r *goReader) literal(lit *ast.CompositeLit) {
	if s, ok := lit.Type.(*ast.SelectorExpr); !ok || s.Sel.Name != "Server" || r.pathOf(s) != "net/http" {
		return
	}
	for _, element := range lit.Elts {
		if field, ok := element.(*ast.KeyValueExpr); ok && goText(field.Key) == "Addr" {
			r.listens(field.Value, goListensHTTP)
		}
	}
}

// listens takes the port of an address; noPort where the source does not state it, so that another listener's port is
// not taken for it.
func (r *goReader) listens(address ast.Expr, kind kind) {
	port := noPort
	if text, ok := r.constant(address, 0); ok {
		port = statedPort(text)
	}
	r.signs = append(r.signs, sign{kind: kind, port: port})
}

// tcp reports whether a call of Listen may be for TCP: its network is not stated, or is.
func (r *goReader) tcp(network ast.Expr) bool {
	text, ok := r.constant(network, 0)
	return !ok || strings.HasPrefix(text, "tcp")
}

// constant returns the text of a literal, a constant or a variable declared with one in this file, a flag's default, and
// what + and fmt.Sprintf make of them. depth bounds declarations that lead to each other.
func (r *goReader) constant(e ast.Expr, depth int) (string, bool) {
	if depth > 8 {
		return "", false
	}
	switch e := goOrigin(e).(type) {
	case *ast.Ident:
		if declared := goOrigin(e); declared != ast.Expr(e) {
			return r.constant(declared, depth+1)
		}
	case *ast.BasicLit:
		if s, err := strconv.Unquote(e.Value); err == nil {
			return s, true
		}
		return e.Value, e.Kind == token.INT
	case *ast.BinaryExpr:
		x, okX := r.constant(e.X, depth+1)
		y, okY := r.constant(e.Y, depth+1)
		return x + y, okX && okY && e.Op == token.ADD
	case *ast.StarExpr:
		return r.constant(e.X, depth+1)
	case *ast.CallExpr:
		return r.formatted(e, depth)
	}
	return "", false
}

func (r *goReader) formatted(call *ast.CallExpr, depth int) (string, bool) {
	fun, ok := calledExpr(call).(*ast.SelectorExpr)
	if !ok {
		return "", false
	}
	from, name := r.pathOf(fun), fun.Sel.Name
	if from == "flag" && (name == "Int" || name == "String") && len(call.Args) == 3 {
		return r.constant(call.Args[1], depth+1)
	}
	if from != "fmt" || name != "Sprintf" || len(call.Args) > 4 {
		return "", false
	}
	var parts []any
	for _, arg := range call.Args {
		part, ok := r.constant(arg, depth+1)
		if !ok {
			return "", false
		}
		parts = append(parts, part)
	}
	return fmt.Sprintf(strings.ReplaceAll(parts[0].(string), "%d", "%s"), parts[1:]...), true
}
