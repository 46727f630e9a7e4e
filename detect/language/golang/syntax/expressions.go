package syntax

import (
	"go/ast"
	"go/token"
	"slices"
	"strconv"
)

// Called returns what a call calls, without parentheses and type arguments.
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

// Name returns a name as the source has it: "grpc.NewServer", and "Serve" alone if it is selected from something
// longer than a name. It is "" for what is no name.
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

// InitialValue returns the expression that the file declares a variable with. It returns any other expression itself.
func (f *File) InitialValue(e ast.Expr) ast.Expr {
	name, ok := ast.Unparen(e).(*ast.Ident)
	if !ok {
		return ast.Unparen(e)
	}
	d := f.Declaration(name)
	if d == nil {
		return name
	}
	names, values := d.assigned()
	if at := slices.Index(names, d.Name); at >= 0 && len(names) == len(values) {
		return values[at]
	}
	return name
}

// assigned returns the names that a declaration declares, nil for what is no name, and the values that they get.
func (d *Declaration) assigned() (names []*ast.Ident, values []ast.Expr) {
	switch n := d.Node.(type) {
	case *ast.ValueSpec:
		if len(n.Names) <= maxElements {
			return n.Names, n.Values
		}
	case *ast.AssignStmt:
		if len(n.Lhs) > maxElements {
			break
		}
		for _, to := range n.Lhs {
			name, _ := to.(*ast.Ident)
			names = append(names, name)
		}
		return names, n.Rhs
	}
	return nil, nil
}

// LastName returns the last name of a function or a type: "Config" of *config.Config. It is "" for what has none.
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
	case *ast.IndexListExpr:
		return LastName(e.X)
	}
	return ""
}

// FieldAt returns the name and the type of a parameter or a result of a function, by its position. The name is nil for
// one without, and the type too if there is none at the position.
func FieldAt(list *ast.FieldList, at int) (name *ast.Ident, of ast.Expr) {
	if list == nil {
		return nil, nil
	}
	for _, field := range list.List {
		n := len(field.Names)
		switch {
		case at < n:
			return field.Names[at], field.Type
		case at == 0:
			return nil, field.Type
		}
		at -= max(1, n)
	}
	return nil, nil
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

// maxElements is how many elements of a composite literal, and how many names of a declaration, are looked at. People
// write fewer.
const maxElements = 500

// Element returns the value of a key in a composite literal, or nil.
func Element(literal *ast.CompositeLit, key string) ast.Expr {
	if len(literal.Elts) > maxElements {
		return nil
	}
	for _, e := range literal.Elts {
		if field, ok := e.(*ast.KeyValueExpr); ok && Name(field.Key) == key {
			return field.Value
		}
	}
	return nil
}
