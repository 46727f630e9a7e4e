package values

import (
	"go/ast"

	"github.com/grpc-cnb/health-probe/detect/language/golang/syntax"
)

// typeOfApp is a type that the app declares, as it is written in a file: a name, or a struct without a name. The zero
// value is a type that is not known.
type typeOfApp struct {
	ast.Expr
	in *Source
}

// pointedTo returns the type that a pointer points to, or the type itself if it is none.
func (t typeOfApp) pointedTo() typeOfApp {
	if pointer, ok := t.Expr.(*ast.StarExpr); ok {
		t.Expr = pointer.X
	}
	return t
}

// symbolOf returns the name of a type of the app, and the zero value for a type without a name and for one of others.
func (s *Sources) symbolOf(t typeOfApp) symbol {
	for e := t.Expr; ; {
		switch x := e.(type) {
		case *ast.StarExpr:
			e = x.X
		case *ast.ParenExpr:
			e = x.X
		case *ast.IndexExpr:
			e = x.X
		case *ast.Ident:
			return symbol{t.in.dir, x.Name}
		case *ast.SelectorExpr:
			if dir, ok := s.lookup(t.in.PathOf(x)); ok {
				return symbol{dir, x.Sel.Name}
			}
			return symbol{}
		default:
			return symbol{}
		}
	}
}

// structOf returns the struct that a type is, or nil, and the file that it is declared in.
func (s *Sources) structOf(t typeOfApp) (*ast.StructType, *Source) {
	for range maxNesting {
		if pointer, ok := t.Expr.(*ast.StarExpr); ok {
			t.Expr = pointer.X
			continue
		}
		if fields, ok := t.Expr.(*ast.StructType); ok {
			return fields, t.in
		}
		if t.Expr == nil {
			break
		}
		t = s.types[s.symbolOf(t)]
	}
	return nil, nil
}

// maxElements is how many fields a struct has at most, and how many elements a composite literal, that is looked into.
const maxElements = 500

// fieldOf returns the field of a struct, or of a struct that is embedded in it, and its file.
func (s *Sources) fieldOf(t typeOfApp, name string, nesting int) (*ast.Field, *Source) {
	fields, in := s.structOf(t)
	if fields == nil || len(fields.Fields.List) > maxElements || s.spend(nesting) {
		return nil, nil
	}
	for _, field := range fields.Fields.List {
		if len(field.Names) == 0 && syntax.LastName(field.Type) == name {
			return field, in
		}
		for _, n := range field.Names {
			if n.Name == name {
				return field, in
			}
		}
	}
	for _, field := range fields.Fields.List {
		if len(field.Names) > 0 {
			continue
		}
		if found, foundIn := s.fieldOf(typeOfApp{field.Type, in}, name, nesting+1); found != nil {
			return found, foundIn
		}
	}
	return nil, nil
}

// typeOf returns the type of an expression, if the sources of the app state it. What is known is not looked for again:
// each field of a chain such as app.config.server.port asks for the types of all that are before it.
func (s *Sources) typeOf(x expression, nesting int) typeOfApp {
	at := evaluation{x.Expr, x.call, x.result}
	if t, ok := s.typed[at]; ok {
		return t
	}
	if s.spend(nesting) {
		return typeOfApp{}
	}
	t := s.typeOfExpression(x, nesting)
	if t.Expr != nil {
		s.typed[at] = t
	}
	return t
}

// typeOfExpression is typeOf for an expression whose type is not known yet.
func (s *Sources) typeOfExpression(x expression, nesting int) typeOfApp {
	switch e := ast.Unparen(x.Expr).(type) {
	case *ast.CompositeLit:
		return typeOfApp{e.Type, x.in}
	case *ast.UnaryExpr:
		return s.typeOf(x.with(e.X), nesting+1)
	case *ast.StarExpr:
		return s.typeOf(x.with(e.X), nesting+1)
	case *ast.TypeAssertExpr:
		return typeOfApp{e.Type, x.in}
	case *ast.Ident:
		return s.typeOfVariable(x, e, nesting)
	case *ast.SelectorExpr:
		if dir, ok := s.lookup(x.in.PathOf(e)); ok {
			return s.typeOfSymbol(symbol{dir, e.Sel.Name}, nesting)
		}
		field, in := s.fieldOf(s.typeOf(x.with(e.X), nesting+1), e.Sel.Name, 0)
		if field != nil {
			return typeOfApp{field.Type, in}
		}
	case *ast.IndexExpr:
		return s.elementType(s.typeOf(x.with(e.X), nesting+1))
	case *ast.CallExpr:
		return s.typeOfCall(x, e, nesting)
	}
	return typeOfApp{}
}

// elementType returns the type of the elements of a list or a map.
func (s *Sources) elementType(of typeOfApp) typeOfApp {
	for range maxNesting {
		if t := elementOf(of); t.Expr != nil || of.Expr == nil {
			return t
		}
		of = s.types[s.symbolOf(of)]
	}
	return typeOfApp{}
}

// elementOf is elementType for a type that is written where it is used.
func elementOf(of typeOfApp) typeOfApp {
	switch t := of.Expr.(type) {
	case *ast.ArrayType:
		return typeOfApp{t.Elt, of.in}
	case *ast.Ellipsis:
		return typeOfApp{t.Elt, of.in}
	case *ast.MapType:
		return typeOfApp{t.Value, of.in}
	}
	return typeOfApp{}
}

func (s *Sources) typeOfVariable(x expression, name *ast.Ident, nesting int) typeOfApp {
	local := x.in.Local(name)
	if local == nil {
		return s.typeOfSymbol(symbol{x.in.dir, name.Name}, nesting)
	}
	switch d := local.Node.(type) {
	case *ast.Field:
		return typeOfApp{d.Type, x.in}
	case *ast.ValueSpec:
		if d.Type != nil {
			return typeOfApp{d.Type, x.in}
		}
	case *ast.RangeStmt:
		if name.Name == syntax.Name(d.Value) {
			return s.elementType(s.typeOf(x.with(d.X), nesting+1))
		}
	}
	return s.firstType(s.locals[local], nesting)
}

func (s *Sources) typeOfSymbol(name symbol, nesting int) typeOfApp {
	if t, ok := s.types[name]; ok {
		return t
	}
	return s.firstType(s.values[name], nesting)
}

// firstType returns the type of the first value whose type is known.
func (s *Sources) firstType(values []expression, nesting int) typeOfApp {
	for _, v := range values[:min(len(values), maxValues)] {
		if t := s.typeOf(v, nesting+1); t.Expr != nil {
			return t
		}
	}
	return typeOfApp{}
}

func (s *Sources) typeOfCall(x expression, call *ast.CallExpr, nesting int) typeOfApp {
	name, ok := call.Fun.(*ast.Ident)
	if ok && (name.Name == "new" && len(call.Args) == 1 || name.Name == "make" && len(call.Args) > 0) {
		return typeOfApp{call.Args[0], x.in}
	}
	callee := s.callee(x, nesting+1)
	if callee == nil {
		return typeArgument(x, call)
	}
	_, result := syntax.FieldAt(callee.decl.Type.Results, x.result)
	return typeOfApp{result, callee.in}
}

// typeArgument returns the type for which a call of a function that is not the app's asks, which is that of the first
// result: do.MustInvoke[*Config](injector), env.ParseAs[Config]().
func typeArgument(x expression, call *ast.CallExpr) typeOfApp {
	if of, ok := call.Fun.(*ast.IndexExpr); ok && x.result == 0 && x.in.PathOf(of.X) != "" {
		return typeOfApp{of.Index, x.in}
	}
	return typeOfApp{}
}

// callee returns the function or method of the app that a call calls, or nil.
func (s *Sources) callee(x expression, nesting int) *function {
	call, ok := ast.Unparen(x.Expr).(*ast.CallExpr)
	if !ok {
		return nil
	}
	switch fun := syntax.Called(call).(type) {
	case *ast.Ident:
		if x.in.Local(fun) == nil {
			return s.functions[symbol{x.in.dir, fun.Name}]
		}
	case *ast.SelectorExpr:
		if importPath := x.in.PathOf(fun); importPath != "" {
			if dir, ok := s.lookup(importPath); ok {
				return s.functions[symbol{dir, fun.Sel.Name}]
			}
			return nil
		}
		if of := s.symbolOf(s.typeOf(x.with(fun.X), nesting+1)); of.name != "" {
			return s.functions[symbol{of.dir, of.name + "." + fun.Sel.Name}]
		}
	}
	return nil
}

// implementation returns the method that a call calls by an interface of the app, if a value of one type alone is given
// to it, or nil.
func (s *Sources) implementation(x expression, nesting int) *function {
	call, ok := ast.Unparen(x.Expr).(*ast.CallExpr)
	if !ok {
		return nil
	}
	fun, ok := syntax.Called(call).(*ast.SelectorExpr)
	if !ok || x.in.PathOf(fun) != "" {
		return nil
	}
	of := s.symbolOf(s.typeOf(x.with(fun.X), nesting+1))
	if _, isInterface := s.types[of].Expr.(*ast.InterfaceType); !isInterface {
		return nil
	}
	made := s.literalsOf(x.with(fun.X), nesting+1)
	if made.isOpen || made.isFilled {
		return nil
	}
	var one symbol
	for i, literal := range made.found {
		of := s.symbolOf(s.typeOf(literal, nesting+1))
		if i > 0 && of != one {
			return nil
		}
		one = of
	}
	return s.functions[symbol{one.dir, one.name + "." + fun.Sel.Name}]
}
