package values

import (
	"go/ast"

	"github.com/grpc-cnb/health-probe/detect/language/golang/syntax"
	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/detect/tree"
)

// Call is a call in a file, by which it is known what makes a server or a listener. The zero value is none.
type Call struct {
	Path string
	At   source.Span
}

// Made is a call that makes a value, as it is reached from where the value is used.
type Made struct {
	Call
	// by is the call by which the function was entered that the call stands in; nil if it is not known.
	by *frame
}

// IsSame reports whether a value is made by the same call in the same way.
func (m Made) IsSame(other Made) bool {
	by, otherBy := m.apart(other)
	return m.Call == other.Call && by == otherBy
}

// Includes reports whether a value that is made by the same call may be this one: no call on the way to one of them is
// another than on the way to the other.
func (m Made) Includes(other Made) bool {
	by, otherBy := m.apart(other)
	return m.Call == other.Call && (by == nil || otherBy == nil)
}

// IsMadeElsewhere reports whether the app calls a function on the way to a call that makes a value on no way to others.
func (s *Sources) IsMadeElsewhere(made Made, others []Made) bool {
	known := map[ast.Expr]bool{}
	for _, m := range others {
		for by := m.by; by != nil; by = by.call.call {
			known[by.call.Expr] = true
		}
	}
	for by := made.by; by != nil; by = by.call.call {
		calls := s.callsOf(by.function.in, by.function.decl)
		for _, c := range calls[:min(len(calls), maxCalls)] {
			aside, _ := tree.Aside(c.in.path)
			if aside == "" && !known[c.Expr] && s.isCallOf(c, by.function.decl) {
				return true
			}
		}
	}
	return false
}

// apart returns the frames in which the ways to two calls begin to differ.
func (m Made) apart(other Made) (by, otherBy *frame) {
	by, otherBy = m.by, other.by
	for by != nil && otherBy != nil && by.call.Expr == otherBy.call.Expr {
		by, otherBy = by.call.call, otherBy.call.call
	}
	return by, otherBy
}

// Call returns the call that an expression of the source is.
func (f *Source) Call(e ast.Expr) Call { return Call{f.path, f.Span(e)} }

// Made returns those of the calls for which a function says so that may make the value of an expression: directly, by
// the functions and variables of the app, or wrapped in other values.
func (s *Sources) Made(in *Source, e ast.Expr, isOne func(Call) bool) []Made {
	return s.MadeWithin(Made{}, in, e, isOne)
}

// MadeWithin is [Sources.Made] for an expression in a call that makes a value, as the call is reached.
func (s *Sources) MadeWithin(made Made, in *Source, e ast.Expr, isOne func(Call) bool) []Made {
	s.nameDefaults()
	s.begin()
	w := maker{Sources: s, isOne: isOne, seen: map[evaluation]bool{}}
	w.walk(expression{Expr: e, in: in, call: made.by}, 0)
	return w.found
}

// maker follows a value to the calls that make it.
type maker struct {
	*Sources
	isOne func(Call) bool
	seen  map[evaluation]bool
	found []Made
}

func (w *maker) walk(x expression, nesting int) {
	at := evaluation{x.Expr, x.call, x.result}
	if x.constant != nil || w.seen[at] || len(w.found) > maxValues || w.spend(nesting) {
		return
	}
	w.seen[at] = true
	switch e := ast.Unparen(x.Expr).(type) {
	case *ast.CallExpr:
		if call := x.in.Call(e); w.isOne(call) {
			w.found = append(w.found, Made{call, x.call})
			return
		}
		if syntax.Name(e.Fun) == "append" {
			for _, arg := range e.Args {
				w.walk(x.with(arg), nesting+1)
			}
			return
		}
	case *ast.Ident:
		if local := x.in.Local(e); local != nil {
			if ranged, ok := local.Node.(*ast.RangeStmt); ok {
				w.walk(x.with(ranged.X), nesting+1)
				return
			}
		}
	case *ast.CompositeLit:
		w.walkEmbedded(x.with(e), nesting)
		return
	case *ast.FuncLit:
		w.walkHandlers(x, e, nesting)
		return
	}
	origins, _ := w.origins(x, nesting)
	before := len(w.found)
	for _, from := range origins {
		w.walk(from, nesting+1)
	}
	if len(origins) == 0 {
		w.walkWrapped(x, nesting)
	}
	if len(w.found) == before {
		w.walkReceived(x, nesting)
	}
}

// walkReceived follows the composite literals of the type of a variable of which it is not known where it gets its
// value, such as the receiver of a method that is called through an interface.
func (w *maker) walkReceived(x expression, nesting int) {
	if x.declaredBy() == nil {
		return
	}
	for _, literal := range w.literals[w.symbolOf(w.typeOf(x, nesting+1))] {
		w.walk(literal, nesting+1)
	}
}

// walkHandlers follows what a function gives requests of HTTP to.
func (w *maker) walkHandlers(x expression, handler *ast.FuncLit, nesting int) {
	ast.Inspect(handler.Body, func(n ast.Node) bool {
		if method, ok := n.(*ast.SelectorExpr); ok && method.Sel.Name == "ServeHTTP" {
			w.walk(x.with(method.X), nesting+1)
		}
		return true
	})
}

// walkEmbedded follows the values that are embedded in a struct, whose methods it has.
func (w *maker) walkEmbedded(literal expression, nesting int) {
	fields, _ := w.structOf(w.typeOf(literal, nesting))
	if fields == nil {
		return
	}
	for _, field := range fields.Fields.List[:min(len(fields.Fields.List), maxElements)] {
		if len(field.Names) == 0 {
			if value := w.element(literal, syntax.LastName(field.Type)); value.Expr != nil {
				w.walk(value, nesting+1)
			}
		}
	}
}

// walkWrapped follows what a function of others is given first: netutil.LimitListener(lis, 100), cmux.New(lis). A
// method of others has it for its receiver: cmux.New(lis).Match(cmux.Any()).
func (w *maker) walkWrapped(x expression, nesting int) {
	call, ok := ast.Unparen(x.Expr).(*ast.CallExpr)
	if !ok {
		return
	}
	fun := syntax.Called(call)
	if method, ok := fun.(*ast.SelectorExpr); ok && x.in.PathOf(fun) == "" {
		w.walk(x.with(method.X), nesting+1)
	} else if len(call.Args) > 0 {
		w.walk(x.with(call.Args[0]), nesting+1)
	}
}

// TypeName returns the import path and the name of a type that is not the app's, if the sources say that an
// expression has it, or a pointer to it.
func (s *Sources) TypeName(in *Source, e ast.Expr) (importPath, name string) {
	s.begin()
	t := s.typeOf(expression{Expr: e, in: in}, 0).pointedTo()
	if fields, in := s.structOf(t); fields != nil {
		for _, field := range fields.Fields.List[:min(len(fields.Fields.List), maxElements)] {
			if len(field.Names) == 0 && syntax.LastName(field.Type) == "Server" {
				t = typeOfApp{field.Type, in}.pointedTo()
			}
		}
	}
	if t.Expr == nil {
		return "", ""
	}
	return t.in.PathOf(t.Expr), syntax.LastName(t.Expr)
}

// Qualified returns the name of what a call calls, with the import path of its package if it is that of another one.
func (f *Source) Qualified(call *ast.CallExpr) string {
	fun := syntax.Called(call)
	if importPath := f.PathOf(fun); importPath != "" {
		return importPath + "." + syntax.LastName(fun)
	}
	return syntax.Name(fun)
}
