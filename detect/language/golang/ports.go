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

// serverKind says which server something is.
type serverKind int

const (
	anyServer serverKind = iota // not known
	ofGRPC
	ofHTTP
	ofFramework // given its address in the source
)

// listener is what listens on an address.
type listener struct {
	address, network expression
	by               serverKind
	// http2 says that it is of a server of net/http which is set up for HTTP/2 without TLS, and overTLS that it is of
	// one that serves TLS there.
	http2, overTLS bool
	handler        ast.Expr        // of net/http, or nil
	function       *ast.FuncDecl   // the one that it stands in
	of             []*finding.Site // the servers that are given it
}

// wiring is what the sources of one package say together: which server listens where, and which one has the health
// service.
type wiring struct {
	*values
	units     []*unit
	servers   map[*ast.CallExpr]*finding.Site
	listeners []*listener
	byCall    map[ast.Expr]*listener
	within    map[*finding.Site]*ast.FuncDecl
	// unwired are the servers that are given what is not known to be a listener.
	unwired []*finding.Site
	// handled are the servers that net/http gives requests.
	handled []*finding.Site
	// same are servers that are one with another: the branches of an if make them for one variable.
	same map[*finding.Site]*finding.Site
	// health are the servers that the health service is registered with, by the places of the registrations.
	health map[plan.Place]*finding.Site
	// statuses are the names whose statuses are set, by the places of the calls.
	statuses map[plan.Place][]text
}

// newWiring reads the sources of a package, with the servers that they make.
func newWiring(units []*unit, servers []finding.Server) *wiring {
	w := &wiring{
		values: newValues(units), units: units, servers: map[*ast.CallExpr]*finding.Site{},
		byCall: map[ast.Expr]*listener{}, within: map[*finding.Site]*ast.FuncDecl{},
		same: map[*finding.Site]*finding.Site{}, health: map[plan.Place]*finding.Site{},
		statuses: map[plan.Place][]text{},
	}
	sites := map[plan.Place][]*finding.Site{} // of a line, in order
	for _, s := range servers {
		sites[s.Place] = append(sites[s.Place], s.Site)
	}
	w.eachCall(func(in *unit, fn *ast.FuncDecl, call *ast.CallExpr) {
		fun := syntax.Called(call)
		r := reference{in.PathOf(fun), syntax.LastName(fun), call, false}
		if at := in.place(fun); len(sites[at]) > 0 {
			w.within[sites[at][0]] = fn
			if _, ok := r.finding(sites[at][0]).(finding.Server); ok {
				w.servers[call] = sites[at][0]
				sites[at] = sites[at][1:]
			}
		}
		w.addListener(in, fn, call, fun)
	})
	w.findSame()
	w.eachCall(func(in *unit, _ *ast.FuncDecl, call *ast.CallExpr) { w.serve(in, call) })
	for _, l := range w.listeners {
		if l.handler != nil {
			l.of = w.handlers(l.address.in, l.handler)
		}
	}
	return w
}

// eachCall calls do with each call of the package, and with the function that it stands in.
func (w *wiring) eachCall(do func(in *unit, fn *ast.FuncDecl, call *ast.CallExpr)) {
	for _, u := range w.units {
		for _, d := range u.Decls {
			fn, _ := d.(*ast.FuncDecl)
			ast.Inspect(d, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.CallExpr:
					do(u, fn, n)
				case *ast.CompositeLit:
					w.addServerLiteral(u, fn, n)
				}
				return true
			})
		}
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

var (
	// reusesPort are packages whose listeners share a port with others.
	reusesPort = source.Exactly(`github\.com/(?:kavu/go_reuseport|libp2p/go-reuseport)`)
	// takesAddress are the options of frameworks that take an address or a port, and their packages.
	takesAddress = source.Exactly(`Address|WithServiceAddr|WithPort|NewService`)
	byOption     = source.Exactly(kratosGRPC.String() + `|(github\.com/(micro|asim|go-micro)|go-micro\.dev)/.*|` +
		`github\.com/cloudwego/kitex/server|dubbo\.apache\.org/dubbo-go/v3/protocol|` +
		`github\.com/dapr/go-sdk(/v\d+)?/service/grpc`)
	// saltMux listens for servers that it is given with their addresses.
	saltMux = source.Exactly(`github\.com/(?:raystack|goto|odpf)/salt(?:/v\d+)?/(?:server/)?mux`)
)

// addListener adds what a call listens on.
func (w *wiring) addListener(in *unit, fn *ast.FuncDecl, call *ast.CallExpr, fun ast.Expr) {
	importPath, name, args := in.PathOf(fun), syntax.LastName(fun), call.Args
	n := len(args)
	l := &listener{function: fn}
	switch {
	case name == "Listen" && (importPath == "" && n == 3 || n == 2 && (importPath != "" || isTCP(args[0]))),
		reusesPort.MatchString(importPath) && strings.HasPrefix(name, "NewReusablePort") && n == 2,
		importPath == "net" && (name == "ListenTCP" || name == "ListenUnix") && n == 2:
		l.network, l.address = expression{in, args[n-2]}, expression{in, args[n-1]}
		if importPath != "" && importPath != "net" && !reusesPort.MatchString(importPath) && !isTCP(args[0]) &&
			!crossplaneFunction.MatchString(importPath) {
			return
		}
	case importPath == "crypto/tls" && name == "Listen" && n == 3:
		l.network, l.address = expression{in, args[0]}, expression{in, args[1]}
	case importPath == "net/http" && strings.HasPrefix(name, "ListenAndServe") && n > 1:
		l.by, l.handler, l.overTLS = ofHTTP, args[n-1], name == "ListenAndServeTLS"
		l.address, l.http2 = expression{in, args[0]}, isH2C(in, l.handler)
	case name == "StartH2CServer" && n == 2: // a method of echo's Echo
		l.by, l.http2, l.address = ofHTTP, true, expression{in, args[0]}
	case saltMux.MatchString(importPath) && name == "WithGRPCTarget" && n == 2:
		l.by, l.address = ofGRPC, expression{in, args[0]}
	case byOption.MatchString(importPath) && takesAddress.MatchString(name) && n == 1:
		l.by, l.address = ofFramework, expression{in, args[0]}
	default:
		return
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
func (w *wiring) addServerLiteral(in *unit, fn *ast.FuncDecl, literal *ast.CompositeLit) {
	to := syntax.Element(literal, "Addr")
	if to == nil || syntax.LastName(literal.Type) != "Server" || in.PathOf(literal.Type) != "net/http" ||
		w.byCall[literal] != nil {
		return
	}
	handler := syntax.Element(literal, "Handler")
	l := &listener{function: fn, by: ofHTTP, address: expression{in, to}, handler: handler}
	l.http2 = syntax.Element(literal, "Protocols") != nil || isH2C(in, handler)
	w.byCall[literal] = l
	w.listeners = append(w.listeners, l)
}

// isH2C reports whether a handler serves HTTP/2 without TLS.
func isH2C(in *unit, handler ast.Expr) bool {
	if handler == nil {
		return false
	}
	call, ok := syntax.InitialValue(handler).(*ast.CallExpr)
	return ok && h2c.MatchString(in.PathOf(syntax.Called(call)))
}

// serve learns from a call which server is given which listener, or has the health service.
func (w *wiring) serve(in *unit, call *ast.CallExpr) {
	fun, ok := syntax.Called(call).(*ast.SelectorExpr)
	if ok && fun.Sel.Name == "RegisterHealthServer" && len(call.Args) == 2 {
		if servers := w.serversOf(in, call.Args[0]); len(servers) == 1 {
			w.health[in.place(fun)] = servers[0]
		}
	}
	if ok && len(call.Args) == 2 && (fun.Sel.Name == "SetServingStatus" || fun.Sel.Name == "SetStatus") {
		w.statuses[in.place(fun.Sel)] = w.texts(expression{in, call.Args[0]}, 0)
	}
	if ok && fun.Sel.Name == "ServeHTTP" {
		w.handled = append(w.handled, w.serversOf(in, fun.X)...)
	}
	given := call.Args
	if !ok || !isServe(fun) { // a function may be given the method: run(lis, s.Serve)
		at := slices.IndexFunc(call.Args, func(e ast.Expr) bool {
			method, ok := e.(*ast.SelectorExpr)
			return ok && isServe(method)
		})
		if at < 0 || len(call.Args) < 2 {
			return
		}
		fun, _ = call.Args[at].(*ast.SelectorExpr)
	}
	if len(given) == 0 {
		return
	}
	servers, by := w.alternatives(in, fun.X), anyServer
	switch {
	case len(servers) > 0:
		by = ofGRPC
	case in.PathOf(fun) == "net/http" && len(given) > 1:
		by = ofHTTP
		servers = w.handlers(in, given[1])
	case in.PathOf(fun) == "net/http" || w.isHTTP(in, fun.X):
		by = ofHTTP
	case strings.HasSuffix(w.typeOf(in, fun.X, 0), "grpc.Server"):
		by = ofGRPC
	}
	found := false
	for _, arg := range given {
		w.partsOf(expression{in, arg}, map[ast.Expr]bool{}, func(call *ast.CallExpr) bool {
			l := w.byCall[call]
			if l == nil {
				return false
			}
			found = true
			if by != anyServer && (l.by != ofGRPC || by == ofGRPC) {
				l.by = by
			}
			l.overTLS = l.overTLS || fun.Sel.Name == "ServeTLS"
			l.of = append(l.of, servers...)
			return true
		})
	}
	if !found {
		w.unwired = append(w.unwired, servers...)
	}
}

func isServe(method *ast.SelectorExpr) bool {
	return method.Sel.Name == "Serve" || method.Sel.Name == "ServeTLS"
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
	isHTTP := w.typeOf(in, e, 0) == "http.Server"
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
// reports whether that is what is looked for.
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

// findings returns the listeners of a server that are given to it, and those that may be its own: byHTTP says that the
// servers of the package are handlers of net/http, and isH2C that this serves HTTP/2 without TLS.
func (w *wiring) findings(servers []*finding.Site, byHTTP, isH2C bool) []finding.Finding {
	var own, others []finding.Finding
	wired := map[*finding.Site]bool{}
	onTCP := w.onTCP()
	for _, l := range w.listeners {
		f := w.finding(l)
		for _, of := range l.of {
			if f.Address.Host == plan.UnixSocket && onTCP[w.the(of)] {
				continue // it is for the app itself
			}
			if l.by == ofHTTP && l.overTLS {
				own = append(own, finding.Security{Site: f.Quiet(), Says: plan.Security{Transport: plan.TLS}, Of: w.the(of)})
			}
			if of = w.the(of); !wired[of] || len(l.of) == 1 {
				f.Of = of
				own = append(own, f)
			}
			wired[of] = true
		}
	}
	for _, of := range slices.Concat(w.unwired, w.handled) {
		if of = w.the(of); !wired[of] && len(servers) > 1 {
			wired[of] = true
			f := finding.Listens(plan.Address{Place: of.Place}, "it is not seen what the server listens on")
			f.Of = of
			own = append(own, f)
		}
	}
	for _, l := range w.candidates(byHTTP, isH2C) {
		f := w.finding(l)
		if l.by == ofFramework && f.Address.Certainty == address.Unknown && f.Address.Variable == "" {
			continue // the settings, or the framework, have it
		}
		var inFunction []*finding.Site
		for _, s := range servers {
			if w.within[s] == l.function && w.the(s) == s {
				inFunction = append(inFunction, s)
			}
		}
		if len(servers) > 1 && len(inFunction) == 1 {
			f.Of = inFunction[0]
		}
		if !(len(servers) == 1 && wired[servers[0]]) && !wired[f.Of] {
			others = append(others, f)
		}
	}
	return append(own, others...)
}

// onTCP returns the servers that listen on TCP.
func (w *wiring) onTCP() map[*finding.Site]bool {
	onTCP := map[*finding.Site]bool{}
	for _, l := range w.listeners {
		for _, of := range l.of {
			onTCP[w.the(of)] = onTCP[w.the(of)] || w.finding(l).Address.Host != plan.UnixSocket
		}
	}
	return onTCP
}

// candidates returns the listeners that no server is seen to be given. Of those of net/http the ones that are set up
// for HTTP/2 go before others: without TLS, or else with it.
func (w *wiring) candidates(byHTTP, isH2C bool) []*listener {
	var all, http2, overTLS []*listener
	for _, l := range w.listeners {
		switch {
		case len(l.of) > 0 || l.by == ofHTTP && !byHTTP:
			continue
		case l.by == ofHTTP && l.http2:
			http2 = append(http2, l)
		case l.by == ofHTTP && l.overTLS:
			overTLS = append(overTLS, l)
		}
		all = append(all, l)
	}
	switch {
	case len(http2) > 0:
		return http2
	case len(overTLS) > 0 && !isH2C:
		return overTLS
	}
	return all
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
		s := address.TrimScheme(t.s)
		m := lastColon.FindStringSubmatch(s)
		stated := address.Parse(s)
		switch {
		case isUnix && strings.HasPrefix(s, "$"):
			stated = plan.Address{}
		case isUnix && strings.Contains(s, "$"), strings.HasPrefix(s, "unix:") && strings.Contains(s, "$"):
			stated = plan.Address{Host: plan.UnixSocket}
		case isUnix:
			stated = address.Parse("unix:" + s)
		case m != nil && strings.HasPrefix(m[2], "$"):
			s, stated = m[2], plan.Address{}
		case m != nil && strings.Contains(m[1], "$"):
			stated = address.Parse(m[2])
		}
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
