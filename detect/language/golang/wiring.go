package golang

import (
	"go/ast"
	"slices"

	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/language/golang/syntax"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
	"github.com/grpc-cnb/health-probe/internal/plan"
)

// wiring links the servers of a file to their listeners and to the health service, by the calls of the file.
type wiring struct {
	file *syntax.File
	// given has the values of variables, parameters and fields, and parameters the keys of given for parameters.
	given      map[any][]ast.Expr
	parameters map[any]bool
	servers    map[ast.Node]*finding.Site // by the calls that make them
	listeners  []*listener
	serves     []*ast.CallExpr // calls that give listeners to servers
	// registers has the servers with the health service, by the sites of the registering calls, and statuses the names
	// of services with a set status, by the offsets of the brackets.
	registers map[*finding.Site]ast.Expr
	statuses  map[int]ast.Expr
	handled   []ast.Expr // handlers of HTTP requests
	left      int        // expressions that may still be followed
}

func newWiring(file *syntax.File) *wiring {
	return &wiring{
		file: file, given: map[any][]ast.Expr{}, parameters: map[any]bool{}, servers: map[ast.Node]*finding.Site{},
		registers: map[*finding.Site]ast.Expr{}, statuses: map[int]ast.Expr{}, left: maxFollowed,
	}
}

const (
	// maxGiven bounds the values of a name and the arguments of a call that are followed, maxDepth the depth, and
	// maxFollowed the expressions of a file.
	maxGiven    = 8
	maxDepth    = 6
	maxFollowed = 20_000
)

// variable returns the key of a variable. Fields with the same name have the same key.
func variable(e ast.Expr) any {
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		if e.Obj != nil {
			return e.Obj
		}
		return e.Name
	case *ast.SelectorExpr:
		return "." + e.Sel.Name
	}
	return nil
}

func (w *wiring) give(to, from ast.Expr) {
	if key := variable(to); len(w.given[key]) <= maxGiven {
		w.given[key] = append(w.given[key], from)
	}
}

// read keeps the values that a node gives to variables, parameters and fields.
func (w *wiring) read(n ast.Node) {
	switch n := n.(type) {
	case *ast.AssignStmt:
		for i, to := range n.Lhs {
			w.give(to, n.Rhs[min(i, len(n.Rhs)-1)])
		}
	case *ast.ValueSpec:
		for i, to := range n.Names[:min(len(n.Names), len(n.Values))] {
			w.give(to, n.Values[i])
		}
	case *ast.RangeStmt:
		if list, ok := syntax.InitialValue(n.X).(*ast.CompositeLit); ok && n.Value != nil {
			for _, e := range list.Elts[:min(len(list.Elts), maxGiven)] {
				w.give(n.Value, e)
			}
		}
	case *ast.CallExpr:
		name, _ := n.Fun.(*ast.Ident)
		if name == nil {
			return
		}
		if function, ok := syntax.Declaration(name).(*ast.FuncDecl); ok {
			at := 0
			for _, field := range function.Type.Params.List {
				for _, parameter := range field.Names {
					if at < len(n.Args) {
						w.give(parameter, n.Args[at])
						w.parameters[variable(parameter)] = true
					}
					at++
				}
			}
		}
	}
}

// makers calls do with the nodes that make the value of an expression, and with the makers of their arguments:
// netutil.LimitListener(lis, 9).
func (w *wiring) makers(e ast.Expr, do func(n ast.Node)) {
	w.follow(e, map[ast.Node]bool{}, 0, do)
}

func (w *wiring) follow(e ast.Expr, seen map[ast.Node]bool, depth int, do func(n ast.Node)) {
	if w.left--; w.left < 0 || e == nil || seen[e] || depth > maxDepth {
		return
	}
	seen[e] = true
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident, *ast.SelectorExpr:
		for _, value := range w.given[variable(e)] {
			w.follow(value, seen, depth+1, do)
		}
	case *ast.UnaryExpr:
		w.follow(e.X, seen, depth+1, do)
	case *ast.CompositeLit:
		do(e)
	case *ast.CallExpr:
		do(e)
		if w.servers[e] != nil {
			return
		}
		if method, ok := syntax.Called(e).(*ast.SelectorExpr); ok && w.file.PathOf(method) == "" {
			w.follow(method.X, seen, depth+1, do)
		}
		for _, arg := range e.Args[:min(len(e.Args), maxGiven)] {
			w.follow(arg, seen, depth+1, do)
		}
	}
}

// serversOf returns the sites of the servers that an expression is, or is made of.
func (w *wiring) serversOf(e ast.Expr) []*finding.Site {
	var found []*finding.Site
	w.makers(e, func(n ast.Node) {
		if s := w.servers[n]; s != nil && !slices.Contains(found, s) {
			found = append(found, s)
		}
	})
	return found
}

// literals returns the strings that an expression may be, or nil if any value is unknown.
func (w *wiring) literals(e ast.Expr) []string {
	if text, ok := syntax.StringLiteral(e); ok {
		return []string{text}
	}
	var all []string
	for _, value := range w.given[variable(e)] {
		text, ok := syntax.StringLiteral(value)
		if !ok {
			return nil
		}
		all = append(all, text)
	}
	return all
}

// merge makes one server of all servers made for the same variable. It returns the site of the first server by the
// sites of the rest.
func (w *wiring) merge() map[*finding.Site]*finding.Site {
	same := map[*finding.Site]*finding.Site{}
	for key, values := range w.given {
		if _, isField := key.(string); isField || w.parameters[key] {
			continue
		}
		var first *finding.Site
		for _, value := range values {
			switch site := w.servers[value]; {
			case site == nil || site == first:
			case first == nil:
				first = site
			default:
				same[site], w.servers[value] = first, first
			}
		}
	}
	return same
}

// associate returns the findings of a file, with the site of the server in each finding about a server.
func (p *pass) associate(found []finding.Finding) []finding.Finding {
	same := p.merge()
	several := map[*finding.Site]*finding.Site{}
	for other, first := range same {
		several[other], several[first] = first, first
	}
	var all []finding.Finding
	for _, f := range found {
		switch of := f.(type) {
		case finding.Server:
			if same[of.Site] != nil {
				continue
			}
		case finding.Security:
			if first := several[of.Of]; first != nil { // the rest may have no credentials
				f = finding.Security{Site: of.Quiet(), Of: first}
			}
		case finding.HealthStatus:
			if names := p.literals(p.statuses[finding.Offset(f)]); names != nil && of.Named != "" {
				f = of.With(names...)
			}
		case finding.Health:
			for _, site := range p.serversOf(p.registers[of.Site]) {
				of.Of = site
				all = append(all, of)
			}
			if of.Of != nil {
				continue
			}
		}
		all = append(all, f)
	}
	return append(all, p.stated()...)
}

// served returns the server whose method Serve a call calls or is given: s.Serve(lis), run(lis, s.Serve).
func served(call *ast.CallExpr) *ast.SelectorExpr {
	for _, e := range append([]ast.Expr{syntax.Called(call)}, call.Args[:min(len(call.Args), maxGiven)]...) {
		if method, ok := e.(*ast.SelectorExpr); ok && (method.Sel.Name == "Serve" || method.Sel.Name == "ServeTLS") {
			return method
		}
	}
	return nil
}

// httpName is in the names of servers of net/http.
var httpName = lazyregexp.New(`(?i)http`)

// isHTTP reports whether an expression is a server of net/http, or that package.
func (w *wiring) isHTTP(e ast.Expr) bool {
	isType := func(t ast.Expr) bool {
		if pointer, ok := t.(*ast.StarExpr); ok {
			t = pointer.X
		}
		return w.file.PathOf(t) == "net/http"
	}
	isHTTP := httpName.MatchString(syntax.LastName(e))
	if name, ok := e.(*ast.Ident); ok {
		switch d := syntax.Declaration(name).(type) {
		case *ast.Field:
			isHTTP = isHTTP || isType(d.Type)
		case *ast.ValueSpec:
			isHTTP = isHTTP || isType(d.Type)
		}
	}
	w.makers(e, func(n ast.Node) {
		literal, ok := n.(*ast.CompositeLit)
		isHTTP = isHTTP || ok && isType(literal.Type)
	})
	return isHTTP
}

// serve assigns the listeners in the arguments of a call to a server of gRPC or of net/http. A multiplexer divides a
// listener that both have.
func (w *wiring) serve(call *ast.CallExpr, at map[ast.Node]*listener) (unwired []*finding.Site) {
	of := served(call)
	servers := w.serversOf(of.X)
	isHTTP := len(servers) == 0 && w.isHTTP(of.X)
	if isHTTP && len(call.Args) > 1 {
		w.handled = append(w.handled, call.Args[1])
	}
	unwired = servers
	for _, arg := range call.Args[:min(len(call.Args), maxGiven)] {
		w.makers(arg, func(n ast.Node) {
			l := at[n]
			switch {
			case l == nil:
			case !isHTTP:
				l.kind, l.server, l.of, unwired = bySocket, call, append(l.of, servers...), nil
			case l.server == nil:
				l.kind = byHTTP
			}
		})
	}
	return unwired
}

// stated returns the findings of the file's listeners. If a server of gRPC is seen to have a listener, the rest are not
// for gRPC.
func (p *pass) stated() []finding.Finding {
	at := map[ast.Node]*listener{}
	for _, l := range p.listeners {
		at[l.node] = l
	}
	var found []finding.Finding
	var unwired []*finding.Site
	for _, call := range p.serves {
		unwired = append(unwired, p.serve(call, at)...)
	}
	isGiven := slices.ContainsFunc(p.listeners, func(l *listener) bool { return l.server != nil })
	for _, l := range p.listeners {
		f, isKnown := p.finding(l)
		switch {
		case l.kind == byHTTP:
			p.handled = append(p.handled, l.handler)
			found = append(found, httpListener{Site: f.Site, address: f, isH2C: l.isH2C})
		case l.kind == byOption && !isKnown, l.kind == bySocket && isGiven && l.server == nil, p.isBesidePort(l):
		case len(l.of) == 0:
			found = append(found, f)
		}
		for _, f.Of = range l.of {
			if !p.isBesidePort(l) {
				found = append(found, f)
			}
		}
	}
	for _, e := range p.handled {
		for _, site := range p.serversOf(e) {
			found = append(found, handledByHTTP{site.Quiet(), site})
		}
	}
	if len(p.servers) > 1 {
		for _, site := range unwired {
			found = append(found, notSeen(site))
		}
	}
	return found
}

// notSeen returns the listener of a server whose address is not seen.
func notSeen(server *finding.Site) finding.Listener {
	l := finding.Listens(plan.Address{Place: server.Place}, "it is not seen what the server listens on")
	l.Of = server
	return l
}

// isBesidePort reports whether a listener is a Unix domain socket for the app itself: a server listens on a port too.
func (w *wiring) isBesidePort(l *listener) bool {
	isPort := func(other *listener) bool {
		return other.server != nil && other.server != l.server && other.network != nil && !w.isSocket(other)
	}
	return l.kind == bySocket && w.isSocket(l) && slices.ContainsFunc(w.listeners, isPort)
}

func (w *wiring) isSocket(l *listener) bool { return slices.Contains(w.literals(l.network), "unix") }
