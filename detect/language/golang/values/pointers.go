package values

import (
	"go/ast"
	"go/token"
	"slices"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/language/golang/syntax"
)

// pointed is a call that is given the address of a variable, in which the function may store a value.
type pointed struct {
	callee symbol
	call   expression
}

// isAddress reports whether an expression is the address of something.
func isAddress(e ast.Expr) bool {
	address, ok := ast.Unparen(e).(*ast.UnaryExpr)
	return ok && address.Op == token.AND
}

// scans are the functions of package fmt that store what a text says, in its first argument, through a pointer.
var scans = []string{"fmt.Sscan", "fmt.Sscanf", "fmt.Sscanln"}

// declareScanned adds what such a call stores, if it is one value.
func (s *Sources) declareScanned(f *Source, call *ast.CallExpr) {
	if !slices.Contains(scans, syntax.Name(call.Fun)) || len(call.Args) < 2 {
		return
	}
	last := len(call.Args) - 1
	if isAddress(call.Args[last]) && !slices.ContainsFunc(call.Args[1:last], isAddress) {
		s.assignPointer(call.Args[last], expression{Expr: call.Args[0], in: f, gets: f.whenAssigned(call)})
	}
}

// storedBy is added to the index of a parameter where the index of a result stands: it means what a function of the app
// stores through the parameter, which is a pointer.
const storedBy = 1 << 16

// assignPointed adds what functions of the app store through pointers to the variables that these point to, after the
// last file was added.
func (s *Sources) assignPointed() {
	for _, p := range s.pointed {
		fn := s.functions[p.callee]
		call, ok := p.call.Expr.(*ast.CallExpr)
		if fn == nil && ok {
			s.assignUnknown(p.call, call)
		}
		if fn == nil || !ok || fn.decl.Recv != nil {
			continue
		}
		for i, arg := range call.Args {
			if !isAddress(arg) || len(s.stored(fn, i)) == 0 {
				continue
			}
			value := p.call
			value.result, value.gets = storedBy+i, p.call.in.whenAssigned(call)
			s.assignPointer(arg, value)
		}
	}
	s.pointed = nil
}

// assignUnknown says that a function of others may store anything in the variables to which a call points that have a
// literal before. Functions that define flags for variables, and those of package fmt, are read otherwise.
func (s *Sources) assignUnknown(x expression, call *ast.CallExpr) {
	if strings.Contains(syntax.LastName(syntax.Called(call)), "Var") || slices.Contains(scans, syntax.Name(call.Fun)) {
		return
	}
	isLiteral := func(value expression) bool { return !isComputed(value) }
	for _, arg := range call.Args {
		if !isAddress(arg) {
			continue
		}
		name, ok := ast.Unparen(arg).(*ast.UnaryExpr).X.(*ast.Ident)
		if ok && slices.ContainsFunc(s.locals[x.in.Local(name)], isLiteral) {
			value := x
			value.gets = x.in.whenAssigned(call)
			s.assignPointer(arg, value)
		}
	}
}

// stored returns what a function stores through the parameter with an index.
func (s *Sources) stored(fn *function, index int) []expression {
	name, of := syntax.FieldAt(fn.decl.Type.Params, index)
	if _, isPointer := of.(*ast.StarExpr); !isPointer || name == nil {
		return nil
	}
	return s.locals[fn.in.Local(name)]
}

// storedByCall returns what the variable has that a call stores a value in: what the function always stores, or else
// that and what the variable had before.
func (s *Sources) storedByCall(fn *function, x expression) []expression {
	call, ok := x.Expr.(*ast.CallExpr)
	if !ok {
		return nil
	}
	index := x.result - storedBy
	var from []expression
	isAlways := false
	for _, value := range s.stored(fn, index) {
		isAlways = isAlways || value.gets == always
		value.call = &frame{fn, x}
		from = append(from, value)
	}
	if !isAlways {
		from = append(from, x.with(call.Args[index]))
	}
	return from
}
