package detect

import (
	"fmt"
	"go/ast"
	"go/token"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// port takes the port from the calls that name one.
func (r *goReader) port(call *ast.CallExpr, fun *ast.SelectorExpr) {
	from, args := r.pathOf(fun), call.Args
	switch name := fun.Sel.Name; {
	case name == "Listen" && from == "net" && len(args) == 2, name == "Listen" && from == "" && len(args) == 3:
		if r.tcp(args[len(args)-2]) {
			kind := listens
			if r.servesHTTP(call) {
				kind = goListensHTTP
			}
			r.listens(args[len(args)-1], kind)
		}
	case strings.HasPrefix(name, "ListenAndServe") && len(args) > 1 && from == "net/http":
		r.listens(args[0], goListensHTTP)
	case name == "Address" && len(args) == 1 && goKratosGRPC.MatchString(from):
		// An address that is not stated is the settings'.
		if _, ok := r.constant(args[0], 0); ok {
			r.listens(args[0], listens)
		}
	}
}

// literal takes the address of an http.Server{Addr: ...}.
func (r *goReader) literal(lit *ast.CompositeLit) {
	if !r.isHTTPServerType(lit) {
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

// servesHTTP reports whether the listener that a call of Listen makes is given to net/http, where another is given to
// something else in the same file: a gRPC server may be a handler of net/http too.
func (r *goReader) servesHTTP(listen *ast.CallExpr) bool {
	if r.served == nil {
		r.served = map[ast.Expr]bool{}
		ast.Inspect(r.file, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok && len(call.Args) > 0 {
				if fun, ok := calledExpr(call).(*ast.SelectorExpr); ok && (fun.Sel.Name == "Serve" || fun.Sel.Name == "ServeTLS") {
					r.served[goFirstResult(call.Args[0])] = r.pathOf(fun) == "net/http" || r.isHTTPServer(fun.X)
				}
			}
			return true
		})
	}
	return r.served[listen] && slices.Contains(slices.Collect(maps.Values(r.served)), false)
}

// isHTTPServer reports whether an expression is an http.Server that the file makes.
func (r *goReader) isHTTPServer(e ast.Expr) bool {
	e = goOrigin(e)
	if address, ok := e.(*ast.UnaryExpr); ok && address.Op == token.AND {
		e = address.X
	}
	literal, ok := e.(*ast.CompositeLit)
	return ok && r.isHTTPServerType(literal)
}

func (r *goReader) isHTTPServerType(literal *ast.CompositeLit) bool {
	s, ok := literal.Type.(*ast.SelectorExpr)
	return ok && s.Sel.Name == "Server" && r.pathOf(s) == "net/http"
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
		if argument := r.argument(e); argument != nil {
			return r.constant(argument, depth+1)
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

// argument returns what a parameter of a function is given, where the file calls the function once.
func (r *goReader) argument(parameter *ast.Ident) ast.Expr {
	if parameter.Obj == nil {
		return nil
	}
	field, ok := parameter.Obj.Decl.(*ast.Field)
	if !ok {
		return nil
	}
	for _, decl := range r.file.Decls {
		function, ok := decl.(*ast.FuncDecl)
		if !ok || field.Pos() < function.Pos() || field.Pos() >= function.End() || function.Recv != nil {
			continue
		}
		at, calls := parameterIndex(function.Type.Params, parameter), r.callsOf(function.Name.Name)
		if len(calls) == 1 && at >= 0 && at < len(calls[0].Args) {
			return calls[0].Args[at]
		}
	}
	return nil
}

func parameterIndex(parameters *ast.FieldList, parameter *ast.Ident) int {
	at := 0
	for _, field := range parameters.List {
		for _, name := range field.Names {
			if name.Obj == parameter.Obj {
				return at
			}
			at++
		}
	}
	return -1
}

func (r *goReader) callsOf(function string) []*ast.CallExpr {
	if r.byName == nil {
		r.byName = map[string][]*ast.CallExpr{}
		ast.Inspect(r.file, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok {
				if name, ok := call.Fun.(*ast.Ident); ok {
					r.byName[name.Name] = append(r.byName[name.Name], call)
				}
			}
			return true
		})
	}
	return r.byName[function]
}
