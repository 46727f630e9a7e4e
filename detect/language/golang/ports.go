package golang

import (
	"go/ast"
	"slices"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/address"
	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/language/golang/syntax"
	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
	"github.com/grpc-cnb/health-probe/internal/plan"
)

// listener is what listens on an address.
type listener struct {
	address, network expression
	isHTTP           bool            // of a server of net/http
	isOption         bool            // of a framework, which may have the address in its settings
	overTLS, isH2C   bool            // with HTTP/2 over TLS, or without
	handler          ast.Expr        // of net/http, or nil
	of               []*finding.Site // the servers that are given it
}

// wiring is what the sources of one package say together: which server listens where, and which one has the health
// service.
type wiring struct {
	*values
	units     []*unit
	servers   map[*ast.CallExpr]*finding.Site
	listeners []*listener
	byCall    map[ast.Expr]*listener
	// unwired are the servers that serve what is not known to be a listener, and handled those that net/http gives
	// requests.
	unwired, handled []*finding.Site
	// same are servers that are one with another: the branches of an if make them for one variable.
	same map[*finding.Site]*finding.Site
	// health are the servers that the health service is registered with, and statuses the names whose statuses are set,
	// by the places of the calls.
	health   map[plan.Place]*finding.Site
	statuses map[plan.Place][]text
}

// newWiring reads the sources of a package, with the servers that they make.
func newWiring(units []*unit, servers []finding.Server) *wiring {
	w := &wiring{
		values: newValues(units), units: units, servers: map[*ast.CallExpr]*finding.Site{},
		byCall: map[ast.Expr]*listener{}, same: map[*finding.Site]*finding.Site{},
		health: map[plan.Place]*finding.Site{}, statuses: map[plan.Place][]text{},
	}
	sites := map[plan.Place][]*finding.Site{} // of a line, in order
	for _, s := range servers {
		sites[s.Place] = append(sites[s.Place], s.Site)
	}
	w.eachCall(func(in *unit, call *ast.CallExpr) {
		fun := syntax.Called(call)
		if at := in.place(fun); len(sites[at]) > 0 {
			r := reference{importPath: in.PathOf(fun), name: syntax.LastName(fun), call: call}
			if _, ok := r.finding(sites[at][0]).(finding.Server); ok {
				w.servers[call] = sites[at][0]
				sites[at] = sites[at][1:]
			}
		}
		w.addListener(in, call, fun)
	})
	w.findSame()
	w.eachCall(w.serve)
	for _, l := range w.listeners {
		if l.handler != nil {
			l.of = w.handlers(l.address.in, l.handler)
		}
	}
	return w
}

// eachCall calls do with each call of the package.
func (w *wiring) eachCall(do func(in *unit, call *ast.CallExpr)) {
	for _, u := range w.units {
		ast.Inspect(u.File.File, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CallExpr:
				do(u, n)
			case *ast.CompositeLit:
				w.addServerLiteral(u, n)
			}
			return true
		})
	}
}

// findSame learns which servers are made for the same variable of a function.
func (w *wiring) findSame() {
	for key, all := range w.given {
		var first *finding.Site
		if _, isGlobal := key.(string); isGlobal {
			continue
		}
		for _, g := range all {
			call, _ := g.Expr.(*ast.CallExpr)
			switch site := w.servers[call]; {
			case site == nil:
			case first == nil:
				first = site
			case site != first:
				w.same[site] = first
			}
		}
	}
}

// byOption are the packages of frameworks with options that take an address or a port, and takesAddress these options.
var (
	byOption = source.Exactly(kratosGRPC.String() + `|(github\.com/(micro|asim|go-micro)|go-micro\.dev)/.*|` +
		`github\.com/cloudwego/kitex/server|dubbo\.apache\.org/dubbo-go/v3/protocol|` +
		`github\.com/dapr/go-sdk(/v\d+)?/service/grpc`)
	takesAddress = source.Exactly(`Address|WithServiceAddr|WithPort|NewService`)
)

// addListener adds what a call listens on: net.Listen(network, address), a function of another package or a method in
// its place, or net.ListenConfig's Listen(ctx, network, address).
func (w *wiring) addListener(in *unit, call *ast.CallExpr, fun ast.Expr) {
	importPath, name, args := in.PathOf(fun), syntax.LastName(fun), call.Args
	n, at := len(args), 0
	l := &listener{}
	switch {
	case importPath == "crypto/tls" && name == "Listen" && n == 3:
		at = 1
	case importPath == "net" && n == 2 && (name == "Listen" || name == "ListenTCP" || name == "ListenUnix"),
		importPath == "" && name == "Listen" && n == 3,
		n == 2 && isTCP(args[0]) && (name == "Listen" || strings.HasPrefix(name, "NewReusablePort")),
		crossplaneFunction.MatchString(importPath) && name == "Listen" && n == 2:
		at = n - 1
	case importPath == "net/http" && strings.HasPrefix(name, "ListenAndServe") && n > 1:
		l.isHTTP, l.overTLS, l.handler = true, name == "ListenAndServeTLS", args[n-1]
		l.isH2C = isH2C(in, l.handler)
	case name == "StartH2CServer" && n == 2: // a method of echo's Echo
		l.isHTTP = true
	case byOption.MatchString(importPath) && takesAddress.MatchString(name) && n == 1:
		l.isOption = true
	default:
		return
	}
	if l.address = (expression{in, args[at]}); at > 0 {
		l.network = expression{in, args[at-1]}
	}
	w.byCall[call] = l
	w.listeners = append(w.listeners, l)
}

// isTCP reports whether the network of a Listen is TCP by a literal.
func isTCP(network ast.Expr) bool {
	text, ok := syntax.StringLiteral(network)
	return ok && strings.HasPrefix(text, "tcp")
}

// addServerLiteral adds the address of an http.Server{Addr: ...}.
func (w *wiring) addServerLiteral(in *unit, literal *ast.CompositeLit) {
	to := syntax.Element(literal, "Addr")
	isServer := syntax.LastName(literal.Type) == "Server" && in.PathOf(literal.Type) == "net/http"
	if to == nil || !isServer || w.byCall[literal] != nil {
		return
	}
	l := &listener{address: expression{in, to}, isHTTP: true, handler: syntax.Element(literal, "Handler")}
	l.isH2C = syntax.Element(literal, "Protocols") != nil || isH2C(in, l.handler)
	w.byCall[literal] = l
	w.listeners = append(w.listeners, l)
}

// isH2C reports whether a handler serves HTTP/2 without TLS.
func isH2C(in *unit, handler ast.Expr) bool {
	call, ok := syntax.InitialValue(handler).(*ast.CallExpr)
	return ok && h2c.MatchString(in.PathOf(syntax.Called(call)))
}

// serve learns from a call which server is given which listener, or has the health service.
func (w *wiring) serve(in *unit, call *ast.CallExpr) {
	fun, isMethod := syntax.Called(call).(*ast.SelectorExpr)
	if isMethod {
		w.readHealth(in, call, fun)
	}
	isServe := func(e ast.Expr) bool {
		method, ok := e.(*ast.SelectorExpr)
		return ok && (method.Sel.Name == "Serve" || method.Sel.Name == "ServeTLS")
	}
	if !isMethod || !isServe(fun) { // a function may be given the method: run(lis, s.Serve)
		at := slices.IndexFunc(call.Args, isServe)
		if at < 0 {
			return
		}
		fun, _ = call.Args[at].(*ast.SelectorExpr)
	}
	servers := w.alternatives(in, fun.X)
	isHTTP := len(servers) == 0 && w.isHTTP(in, fun.X)
	if in.PathOf(fun) == "net/http" && len(call.Args) > 1 {
		isHTTP, servers = true, w.handlers(in, call.Args[1])
	}
	found := false
	for _, arg := range call.Args[:min(len(call.Args), maxGiven)] {
		w.partsOf(expression{in, arg}, map[ast.Expr]bool{}, func(call *ast.CallExpr) bool {
			l := w.byCall[call]
			if l == nil {
				return false
			}
			found, l.isHTTP = true, isHTTP
			l.overTLS = l.overTLS || fun.Sel.Name == "ServeTLS"
			l.of = append(l.of, servers...)
			return true
		})
	}
	if !found {
		w.unwired = append(w.unwired, servers...)
	}
}

// readHealth learns what a call says of the health service, or of what net/http gives requests.
func (w *wiring) readHealth(in *unit, call *ast.CallExpr, fun *ast.SelectorExpr) {
	switch name := fun.Sel.Name; {
	case len(call.Args) != 2:
	case name == "RegisterHealthServer":
		if servers := w.serversOf(in, call.Args[0]); len(servers) == 1 {
			w.health[in.place(fun)] = servers[0]
		}
	case name == "SetServingStatus" || name == "SetStatus":
		w.statuses[in.place(fun.Sel)] = w.texts(expression{in, call.Args[0]}, 0)
	case name == "ServeHTTP":
		w.handled = append(w.handled, w.serversOf(in, fun.X)...)
	}
}

// serversOf returns the servers that an expression may be.
func (w *wiring) serversOf(in *unit, e ast.Expr) []*finding.Site {
	var found []*finding.Site
	w.sources(expression{in, e}, 0, map[ast.Expr]bool{}, func(x expression) {
		call, _ := ast.Unparen(x.Expr).(*ast.CallExpr)
		if site := w.the(w.servers[call]); call != nil && site != nil && !slices.Contains(found, site) {
			found = append(found, site)
		}
	})
	return found
}

// alternatives is serversOf for what serves. Several servers are one, but not those that different calls give to a
// parameter.
func (w *wiring) alternatives(in *unit, e ast.Expr) []*finding.Site {
	all := []given{{expression: expression{in, e}}}
	if p, ok := w.parameters[w.key(in, e)]; ok {
		all = w.arguments(in, p)
	}
	var found []*finding.Site
	for _, g := range all {
		if g.Expr == nil {
			continue
		}
		servers := w.serversOf(g.in, g.Expr)
		if of := w.given[w.typeOf(g.in, g.Expr, 0)+".Server"]; len(servers) == 0 && len(of) == 1 { // embedded
			servers = w.serversOf(of[0].in, of[0].Expr)
		}
		for _, other := range servers[min(len(servers), 1):] {
			w.same[other] = servers[0]
		}
		if len(servers) > 0 && !slices.Contains(found, servers[0]) {
			found = append(found, servers[0])
		}
	}
	return found
}

// the returns the server that a server is one with.
func (w *wiring) the(server *finding.Site) *finding.Site {
	if first := w.same[server]; first != nil {
		return first
	}
	return server
}

// isHTTP reports whether an expression is a server of net/http.
func (w *wiring) isHTTP(in *unit, e ast.Expr) bool {
	isHTTP := in.PathOf(&ast.SelectorExpr{X: e}) == "net/http" || w.typeOf(in, e, 0) == "http.Server"
	w.sources(expression{in, e}, 0, map[ast.Expr]bool{}, func(x expression) {
		literal, ok := x.Expr.(*ast.CompositeLit)
		isHTTP = isHTTP || ok && x.in.PathOf(literal.Type) == "net/http"
	})
	return isHTTP
}

// handlers returns the servers of grpc-go that a handler of net/http is, or is made of.
func (w *wiring) handlers(in *unit, e ast.Expr) []*finding.Site {
	var found []*finding.Site
	w.partsOf(expression{in, e}, map[ast.Expr]bool{}, func(call *ast.CallExpr) bool {
		site := w.the(w.servers[call])
		if site != nil && !slices.Contains(found, site) {
			found = append(found, site)
		}
		return site != nil
	})
	return found
}

// partsOf calls do with the calls that make an expression, and what these are given: netutil.LimitListener(lis, 9). It
// goes no further where do says so.
func (w *wiring) partsOf(x expression, seen map[ast.Expr]bool, do func(call *ast.CallExpr) bool) {
	w.sources(x, 0, seen, func(x expression) {
		call, ok := ast.Unparen(x.Expr).(*ast.CallExpr)
		if !ok || do(call) {
			return
		}
		if method, ok := syntax.Called(call).(*ast.SelectorExpr); ok && x.in.PathOf(method) == "" {
			w.partsOf(expression{x.in, method.X}, seen, do)
		}
		if w.results(x.in, call, 0) == nil {
			for _, arg := range call.Args[:min(len(call.Args), maxGiven)] {
				w.partsOf(expression{x.in, arg}, seen, do)
			}
		}
	})
}

// findings returns the listeners that servers are given, and those that may be the server's of which that is not seen:
// byHTTP says that the package gives the requests of net/http to its servers, and web is the one of connect beside
// those of others, or nil.
func (w *wiring) findings(servers int, byHTTP bool, web *finding.Site) []finding.Finding {
	var found []finding.Finding
	wired := map[*finding.Site]bool{}
	onTCP := map[*finding.Site]bool{} // their sockets are for the app itself
	stated := map[*listener]finding.Listener{}
	for _, l := range w.listeners {
		stated[l] = w.finding(l)
		for _, of := range l.of {
			onTCP[w.the(of)] = onTCP[w.the(of)] || stated[l].Address.Host != plan.UnixSocket
		}
	}
	for _, l := range w.listeners {
		f := stated[l]
		for _, of := range l.of {
			if f.Of = w.the(of); f.Address.Host == plan.UnixSocket && onTCP[f.Of] {
				continue
			}
			wired[f.Of] = true
			if found = append(found, f); l.isHTTP && l.overTLS {
				says := plan.Security{Transport: plan.TLS}
				found = append(found, finding.Security{Site: f.Quiet(), Says: says, Of: f.Of})
			}
		}
	}
	for _, of := range slices.Concat(w.unwired, w.handled, []*finding.Site{web}) {
		if of = w.the(of); of != nil && !wired[of] && servers > 1 {
			wired[of] = true
			f := finding.Listens(plan.Address{Place: of.Place}, "it is not seen what the server listens on")
			f.Of = of
			found = append(found, f)
		}
	}
	return append(found, w.unassigned(stated, byHTTP, servers == 1 && len(wired) == 1)...)
}

// unassigned returns the listeners that no server is seen to be given, for which a server may listen; none of a server
// that is alone and has one.
func (w *wiring) unassigned(stated map[*listener]finding.Listener, byHTTP, isTold bool) []finding.Finding {
	var found []finding.Finding
	servesH2C := slices.ContainsFunc(w.listeners, func(l *listener) bool { return l.isH2C })
	for _, l := range w.listeners {
		if l.isHTTP && (!byHTTP || servesH2C && !l.isH2C) {
			continue
		}
		isKnown := stated[l].Address.Certainty != address.Unknown || stated[l].Address.Variable != ""
		if len(l.of) == 0 && (!l.isOption || isKnown) && !isTold {
			found = append(found, stated[l])
		}
	}
	return found
}

// finding returns what a listener states.
func (w *wiring) finding(l *listener) finding.Listener {
	a, why := w.address(l.network, l.address)
	if a.Place.Line == 0 {
		a.Place = l.address.in.place(l.address.Expr)
	}
	return finding.Listens(a, why)
}

// lastColon splits an address into a host and a port.
var lastColon = lazyregexp.New(`^(.*):(\d+|\$\{[^}]*\})$`)

// readText returns the address that a text is, with the part of the text that tells the port; isUnix says that the
// text is the path of a socket. What begins with a dollar sign is a variable.
func readText(written string, isUnix bool) (s string, stated plan.Address) {
	s = address.TrimScheme(written)
	m := lastColon.FindStringSubmatch(s)
	switch {
	case isUnix && strings.HasPrefix(s, "$"):
		return s, plan.Address{}
	case isUnix && strings.Contains(s, "$"), strings.HasPrefix(s, "unix:") && strings.Contains(s, "$"):
		return s, plan.Address{Host: plan.UnixSocket}
	case isUnix:
		return s, address.Parse("unix:" + s)
	case m != nil && strings.HasPrefix(m[2], "$"):
		return m[2], plan.Address{}
	case m != nil && strings.Contains(m[1], "$"):
		return s, address.Parse(m[2])
	}
	return s, address.Parse(s)
}

// address returns the address that an expression states for a network.
func (w *wiring) address(network, to expression) (a plan.Address, why string) {
	isUnix, isOption := false, false
	if network.Expr != nil {
		networks := w.texts(network, 0)
		isUnix = slices.ContainsFunc(networks, func(t text) bool { return t.s == "unix" })
		if isUnix && len(networks) > 1 {
			return a, "several networks are stated"
		}
	}
	for _, t := range w.texts(to, 0) {
		s, stated := readText(t.s, isUnix)
		name, isVariable := strings.CutPrefix(strings.TrimSuffix(s, "}"), "${")
		switch {
		case stated.Port != 0 || stated.Host == plan.UnixSocket:
			if a.Port != 0 && a.Port != stated.Port || a.Host != stated.Host && a.Port == 0 && a.Host != 0 {
				return plan.Address{}, "several addresses are stated"
			}
			if a.Port != 0 && a.Host != stated.Host {
				stated.Host = plan.UnknownHost
			}
			stated.Variable, stated.Place = a.Variable, t.at
			a = stated
		case s == "" || s == ":" || s == "0" || s == ":0": // what an option is without a default
		case s == givenByOption:
			isOption = true
		case s == notKnown || !isVariable:
			return plan.Address{}, "not all that gives the address is known in the package"
		case a.Variable != "" && a.Variable != name:
			return plan.Address{}, "several variables are asked"
		default:
			isOption, a.Variable = true, name
		}
	}
	if isOption && a.Certainty > plan.Default {
		a.Certainty = plan.Default
	}
	if a.Port == 0 && a.Host != plan.UnixSocket && a.Variable == "" {
		why = "no port is stated in the package"
	}
	return a, why
}
