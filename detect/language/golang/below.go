package golang

import (
	"go/ast"
	"slices"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/language/golang/syntax"
	"github.com/grpc-cnb/health-probe/detect/source"
)

// below is what a file serves below a path, by http.StripPrefix: no health check has that path.
type below struct {
	// stripped are the handlers that http.StripPrefix is given, and within says which handler hands on to another one.
	stripped map[any]bool
	within   map[any]any
	// of is the handler which the result of a call becomes a part of: a mux, or the variable that it is assigned to.
	of map[*ast.CallExpr]any
	// healths are the registrations of the health service, by the server or the handler that has it.
	healths map[any][]*finding.Site
}

func newBelow() below {
	return below{map[any]bool{}, map[any]any{}, map[*ast.CallExpr]any{}, map[any][]*finding.Site{}}
}

// handler returns what tells a handler from others of the file: its declaration or, for a field, its name.
func (p *pass) handler(e ast.Expr) any {
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		if d := p.file.Declaration(e); d != nil {
			return d
		}
	case *ast.SelectorExpr:
		if name := syntax.Name(e); name != "" && p.file.PathOf(e) == "" {
			return name
		}
	}
	return nil
}

// visitStripPrefix learns what http.StripPrefix is given.
func (p *pass) visitStripPrefix(call *ast.CallExpr) {
	if len(call.Args) != 2 || p.file.PathOf(syntax.Called(call)) != "net/http" {
		return
	}
	ast.Inspect(call.Args[1], func(n ast.Node) bool {
		if e, ok := n.(ast.Expr); ok {
			if h := p.handler(e); h != nil {
				p.below.stripped[h] = true
			}
		}
		return true
	})
}

// visitHandle learns which handler gets the requests of another one: mux.Handle(path, handler), or
// mux.Handle(grpchealth.NewHandler(checker)).
func (p *pass) visitHandle(call *ast.CallExpr, mux ast.Expr) {
	switch len(call.Args) {
	case 1:
		if made, ok := call.Args[0].(*ast.CallExpr); ok {
			p.below.of[made] = p.handler(mux)
		}
	case 2:
		if h := p.handler(call.Args[1]); h != nil {
			p.below.within[h] = p.handler(mux)
		}
	}
}

// addHealth learns which server or handler has a health service.
func (p *pass) addHealth(at *finding.Site, call *ast.CallExpr) {
	if call == nil {
		return
	}
	h := p.below.of[call]
	if h == nil && len(call.Args) > 1 {
		h = p.handler(call.Args[0])
	}
	if h != nil {
		p.below.healths[h] = append(p.below.healths[h], at)
	}
}

// doubtHealthBelow says of health services below a path alone that they are not known to answer at their own path.
func (p *pass) doubtHealthBelow() {
	if len(p.below.healths) > maxBelow {
		return
	}
	unsure := map[*finding.Site]bool{}
	for h, sites := range p.below.healths {
		for range maxWithin {
			if p.below.stripped[h] && !p.isServedElsewhere(h) {
				for _, at := range sites {
					unsure[at] = true
				}
			}
			h = p.below.within[h]
		}
	}
	p.doubtHealth(func(at *finding.Site) bool { return unsure[at] })
}

const (
	// maxBelow is how many handlers of a file may have health services, and maxWithin in how many others one is.
	maxBelow  = 16
	maxWithin = 3
)

// doubtHealthAlone says of the health services of a mux that has no other handler that they are not known to be for the
// servers of other handlers: it has a server of its own.
func (p *pass) doubtHealthAlone() {
	if len(p.below.healths) > maxBelow {
		return
	}
	unsure := map[*finding.Site]bool{}
	for h, sites := range p.below.healths {
		mux, ok := h.(*syntax.Declaration)
		if !ok {
			continue
		}
		made, ok := p.file.InitialValue(mux.Name).(*ast.CallExpr)
		if !ok || !mux.Local || syntax.LastName(made.Fun) != "NewServeMux" {
			continue
		}
		if p.isAlone(mux) {
			for _, at := range sites {
				unsure[at] = true
			}
		}
	}
	p.doubtHealth(func(at *finding.Site) bool { return unsure[at] })
}

// isAlone reports whether a mux gets the health service and reflection alone, and is given to what serves it alone.
func (p *pass) isAlone(mux *syntax.Declaration) bool {
	uses, known := 0, 0
	for _, d := range p.file.Decls {
		ast.Inspect(d, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.Ident:
				if p.file.Declaration(n) == mux {
					uses++
				}
			case *ast.CallExpr:
				if p.isOfHealthAlone(n, mux) {
					known++
				}
			case *ast.KeyValueExpr: // http.Server{Handler: mux}
				if p.handler(n.Value) == mux && syntax.Name(n.Key) == "Handler" {
					known++
				}
			}
			return true
		})
	}
	return uses == known+1 // with what declares it
}

// isOfHealthAlone reports whether a call gives a mux the health service or reflection, or is given it to serve it.
func (p *pass) isOfHealthAlone(call *ast.CallExpr, mux *syntax.Declaration) bool {
	method, ok := syntax.Called(call).(*ast.SelectorExpr)
	if !ok || len(call.Args) == 0 {
		return false
	}
	if p.handler(method.X) == mux && method.Sel.Name == "Handle" {
		made, ok := call.Args[0].(*ast.CallExpr)
		return ok && besideConnect.MatchString(p.file.PathOf(syntax.Called(made)))
	}
	name := method.Sel.Name
	return (h2c.MatchString(p.file.PathOf(method)) || strings.Contains(name, "Serve")) &&
		slices.ContainsFunc(call.Args, func(arg ast.Expr) bool { return p.handler(arg) == mux })
}

// besideConnect are the packages of the health service and of reflection for connect.
var besideConnect = source.Exactly(`connectrpc\.com/grpc(?:health|reflect)|` +
	`github\.com/bufbuild/connect-grpc(?:health|reflect)-go`)

// isServedElsewhere reports whether a handler may be served otherwise than by http.StripPrefix: it serves itself, is
// returned or assigned, or a function other than one that registers services gets it.
func (p *pass) isServedElsewhere(h any) bool {
	isElsewhere := false
	var visit func(n ast.Node) bool
	visit = func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for _, value := range n.Rhs {
				ast.Inspect(value, visit)
			}
			return false
		case *ast.CallExpr:
			return !p.registersWithin(n, visit)
		case ast.Expr:
			isElsewhere = isElsewhere || p.handler(n) == h
		}
		return !isElsewhere
	}
	for _, d := range p.file.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok && fn.Body != nil {
			ast.Inspect(fn.Body, visit)
		}
	}
	return isElsewhere
}

// registersWithin visits what else a call has that registers a service, strips a path, makes a handler a part of
// another one, or does something else with it than to serve. It reports whether the call is one of these.
func (p *pass) registersWithin(call *ast.CallExpr, visit func(ast.Node) bool) bool {
	method, ok := syntax.Called(call).(*ast.SelectorExpr)
	if !ok {
		return false
	}
	args := call.Args
	switch name := method.Sel.Name; {
	case name == "StripPrefix":
		return true
	case strings.HasPrefix(name, "Register") && len(args) > 0:
		args = args[1:]
	case strings.HasPrefix(name, "Handle") && len(args) == 2 && p.handler(args[1]) != nil:
		args = args[:1]
	case strings.HasPrefix(name, "Handle"):
	case p.handler(method.X) != nil && !strings.Contains(name, "Serve"):
	default:
		return false
	}
	for _, arg := range args {
		ast.Inspect(arg, visit)
	}
	return true
}
