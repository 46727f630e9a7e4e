package values

import (
	"go/ast"
	"slices"

	"github.com/grpc-cnb/health-probe/detect/language/golang/syntax"
)

// originsOfParameter returns what a parameter of a function gets: by the call that is followed, or by all calls.
func (s *Sources) originsOfParameter(
	x expression, field *ast.Field, name *ast.Ident, nesting int,
) ([]expression, bool) {
	if c, ok := s.callbacks[field]; ok {
		return s.originsByCallback(x, c, field, name, nesting)
	}
	fn := s.parameters[field]
	if fn == nil {
		return nil, s.results[field] // a result has no value before it is assigned one
	}
	at := parameterIndex(fn.decl.Type, name)
	if fn.decl.Recv != nil && slices.Contains(fn.decl.Recv.List, field) {
		at = receiverIndex
	}
	calls := s.calls[symbol{fn.in.dir, fn.decl.Name.Name}]
	if fn.decl.Recv != nil {
		calls = s.calls[symbol{name: fn.decl.Name.Name}]
	}
	if x.call != nil && x.call.function == fn {
		calls = []expression{x.call.call}
	}
	if len(calls) > maxCalls {
		return nil, false
	}
	var from, byInterface []expression
	least := 0
	for _, c := range s.ofProgram(calls) {
		if s.spend(nesting) {
			return nil, false
		}
		call, ok := ast.Unparen(c.Expr).(*ast.CallExpr)
		if !ok || s.callee(c, nesting+1) != fn {
			if ok && s.callsInterface(c, fn.decl, nesting) {
				byInterface = append(byInterface, c)
			}
			continue
		}
		from = append(from, argumentsOf(c, call, at, isVariadic(field))...)
		least = max(least, sharedDirs(c.in.dir, fn.in.dir))
	}
	// Programs in different directories of the app may have the same interface.
	for _, c := range nearest(byInterface, fn.in.dir) {
		if call, ok := ast.Unparen(c.Expr).(*ast.CallExpr); ok && sharedDirs(c.in.dir, fn.in.dir) >= least {
			from = append(from, argumentsOf(c, call, at, isVariadic(field))...)
		}
	}
	return x.ofApp(from), true
}

// callback is a function that is written in a call: as an argument, by its index, or with -1 as what is called:
// func(port int) {...}(8080).
type callback struct {
	call    expression
	literal *ast.FuncLit
	at      int
}

// originsByCallback returns what a parameter of a callback gets: by its call, or by the calls in the function of the
// app that it is given to. It reports whether there are any.
func (s *Sources) originsByCallback(
	x expression, to callback, field *ast.Field, name *ast.Ident, nesting int,
) ([]expression, bool) {
	to.call.call = x.call
	given, _ := to.call.Expr.(*ast.CallExpr)
	at := parameterIndex(to.literal.Type, name)
	if to.at < 0 {
		return argumentsOf(to.call, given, at, isVariadic(field)), true
	}
	fn := s.callee(to.call, nesting+1)
	if fn == nil {
		return nil, false
	}
	parameter, _ := syntax.FieldAt(fn.decl.Type.Params, to.at)
	if parameter == nil {
		return nil, false
	}
	var from []expression
	calls := s.calls[symbol{fn.in.dir, parameter.Name}]
	for _, c := range calls[:min(len(calls), maxCalls)] {
		call, _ := c.Expr.(*ast.CallExpr)
		by, ok := syntax.Called(call).(*ast.Ident)
		if ok && c.in == fn.in && c.in.Local(by) == c.in.Local(parameter) {
			c.call = &frame{fn, to.call}
			from = append(from, argumentsOf(c, call, at, isVariadic(field))...)
		}
	}
	return from, len(from) > 0
}

// argumentsOf returns the arguments of a call for a parameter.
func argumentsOf(of expression, call *ast.CallExpr, at int, variadic bool) []expression {
	var from []expression
	for _, argument := range argumentsAt(call, at, variadic) {
		argument := of.with(argument)
		argument.gets = alternatively
		from = append(from, argument)
	}
	return from
}

// argumentsAt returns the argument of a call for a parameter, or all from there on for a variadic one. The receiver of
// a method has the index receiverIndex.
func argumentsAt(call *ast.CallExpr, at int, variadic bool) []ast.Expr {
	method, isMethod := syntax.Called(call).(*ast.SelectorExpr)
	switch {
	case at == receiverIndex && isMethod:
		return []ast.Expr{method.X}
	case at < 0 || at >= len(call.Args):
		return nil
	case variadic:
		return call.Args[at:]
	}
	return call.Args[at : at+1]
}

func isVariadic(field *ast.Field) bool {
	_, ok := field.Type.(*ast.Ellipsis)
	return ok
}

// callsInterface reports whether a call calls a method by an interface of the app: any type with the method may be
// meant.
func (s *Sources) callsInterface(call expression, method *ast.FuncDecl, nesting int) bool {
	made, ok := ast.Unparen(call.Expr).(*ast.CallExpr)
	if !ok || method.Recv == nil || method.Type.Params.NumFields() != len(made.Args) {
		return false
	}
	fun, ok := syntax.Called(made).(*ast.SelectorExpr)
	if !ok {
		return false
	}
	t := s.typeOf(call.with(fun.X), nesting+1)
	if t.Expr == nil {
		return false
	}
	_, isInterface := s.types[s.symbolOf(t)].Expr.(*ast.InterfaceType)
	return isInterface
}

// maxCalls is how many calls of a function, or of methods of one name, are looked at.
const maxCalls = 500

// receiverIndex stands for the receiver of a method, where the indexes of parameters stand.
const receiverIndex = -2

// parameterIndex returns which parameter has a name, or -1.
func parameterIndex(of *ast.FuncType, name *ast.Ident) int {
	at := 0
	for _, field := range of.Params.List {
		for _, n := range field.Names {
			if n == name {
				return at
			}
			at++
		}
	}
	return -1
}
