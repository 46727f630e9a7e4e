package golang

import "go/ast"

// calledExpr returns what a call calls, without parentheses and type arguments.
func calledExpr(call *ast.CallExpr) ast.Expr {
	fun := ast.Unparen(call.Fun)
	switch f := fun.(type) {
	case *ast.IndexExpr:
		return f.X
	case *ast.IndexListExpr:
		return f.X
	}
	return fun
}

// exprName returns a name as the source has it: "grpc.NewServer", and "Serve" alone where it is selected from something
// longer than a name. It is "" for what is no name.
func exprName(e ast.Expr) string {
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

// initialValue returns the expression that the file declares a name with. It returns any other expression itself.
func initialValue(e ast.Expr) ast.Expr {
	id, ok := ast.Unparen(e).(*ast.Ident)
	if !ok || id.Obj == nil {
		return ast.Unparen(e)
	}
	switch d := id.Obj.Decl.(type) {
	case *ast.AssignStmt:
		return assignedValue(id, d.Lhs, d.Rhs)
	case *ast.ValueSpec:
		lhs := make([]ast.Expr, len(d.Names))
		for i, n := range d.Names {
			lhs[i] = n
		}
		return assignedValue(id, lhs, d.Values)
	}
	return id
}

// initialCall is initialValue, which also returns the call for the first of several results of a call, such as the
// listener of a listener and an error.
func initialCall(e ast.Expr) ast.Expr {
	value := initialValue(e)
	id, ok := value.(*ast.Ident)
	if !ok || id.Obj == nil {
		return value
	}
	if d, ok := id.Obj.Decl.(*ast.AssignStmt); ok && len(d.Rhs) == 1 && len(d.Lhs) > 1 {
		if first, ok := d.Lhs[0].(*ast.Ident); ok && first.Obj == id.Obj {
			return ast.Unparen(d.Rhs[0])
		}
	}
	return id
}

// assignedValue returns the expression that is assigned to a name, or the name itself where several results of one call
// are assigned.
func assignedValue(id *ast.Ident, lhs, rhs []ast.Expr) ast.Expr {
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
