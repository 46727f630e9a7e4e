package syntax

import (
	"go/ast"
	"go/token"
	"strconv"
)

// Called returns the function of a call, without parentheses and type arguments.
func Called(call *ast.CallExpr) ast.Expr {
	fun := ast.Unparen(call.Fun)
	switch f := fun.(type) {
	case *ast.IndexExpr:
		return f.X
	case *ast.IndexListExpr:
		return f.X
	}
	return fun
}

// Name returns a name as the source has it: "grpc.NewServer", and "Serve" alone for a selection from
// anything longer than a name. Name returns "" for an expression that is no name.
func Name(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		if x, ok := e.X.(*ast.Ident); ok {
			return x.Name + "." + e.Sel.Name
		}
		return e.Sel.Name
	}
	return ""
}

// LastName returns the last name of a function or a type: "Config" of *config.Config. The result is "" without a name.
func LastName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return e.Sel.Name
	case *ast.StarExpr:
		return LastName(e.X)
	case *ast.IndexExpr:
		return LastName(e.X)
	}
	return ""
}

// StringLiteral returns the text of a literal.
func StringLiteral(e ast.Expr) (string, bool) {
	literal, ok := e.(*ast.BasicLit)
	if !ok || literal.Kind != token.STRING {
		return "", false
	}
	s, err := strconv.Unquote(literal.Value)
	return s, err == nil
}

// maxElements bounds the elements of a composite literal. People write fewer.
const maxElements = 500

// Element returns the value of a key in a composite literal, or nil.
func Element(literal *ast.CompositeLit, key string) ast.Expr {
	for _, e := range literal.Elts[:min(len(literal.Elts), maxElements)] {
		if field, ok := e.(*ast.KeyValueExpr); ok && Name(field.Key) == key {
			return field.Value
		}
	}
	return nil
}
