package golang

import (
	"cmp"
	"go/ast"
	"path"
	"slices"

	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/language/golang/values"
)

// serve learns that a server is given a listener, by a call that [servedBy] knows.
func (f *flow) serve(in *values.Source, at *finding.Site, code *ast.CallExpr) {
	fun, args := servedBy(code)
	if fun == nil {
		return
	}
	by, servers := plainHTTP, []ast.Expr(nil)
	switch {
	case in.PathOf(fun) != "net/http":
		by, servers = f.serverKind(in, fun.X), []ast.Expr{fun.X}
	case len(code.Args) > 1:
		servers = code.Args[1:2]
	}
	ways := []values.Made{{}}
	if servers != nil && f.listensByCaller(in, at, args) {
		ways = f.Ways(in, servers[0])
	}
	for _, way := range ways {
		f.serveBy(way, in, at, serving{code, fun, args, by, f.oneOf(f.madeOfAll(way, in, servers, f.isServer))})
	}
}

// listensByCaller reports whether the caller of the function decides where a listener listens that is one of the
// expressions. If not, the servers that callers give to the function are one: they have one address.
func (f *flow) listensByCaller(in *values.Source, at *finding.Site, args []ast.Expr) bool {
	all := slices.Clone(args)
	for _, made := range f.madeOfAll(values.Made{}, in, args, f.isListener) {
		if made.Path == at.Path {
			all = append(all, f.listenerCalls[made.Call])
		}
	}
	return f.UsesParameter(in, all)
}

func (f *flow) isListener(c values.Call) bool { return f.listeners[c] != nil }

// serving is a call by which a server is given a listener.
type serving struct {
	code   *ast.CallExpr
	fun    *ast.SelectorExpr
	args   []ast.Expr
	by     listenerOf
	server *finding.Site
}

// serveBy learns what [flow.serve] does of a call that is reached in one way.
func (f *flow) serveBy(way values.Made, in *values.Source, at *finding.Site, s serving) {
	by, server := s.by, s.server
	if server != nil {
		by = plainGRPC
		f.listening[server] = true
	}
	f.served[at] = by
	f.serveHTTP[path.Dir(at.Path)] = f.serveHTTP[path.Dir(at.Path)] || by == plainHTTP
	if by == anyServer {
		return
	}
	secured := f.madeOfAll(way, in, s.args, func(c values.Call) bool { _, ok := f.tls[c]; return ok })
	for _, made := range secured {
		f.secured[cmp.Or(server, at)] = f.ServedSecurity(f.tls[made.Call].In, f.tls[made.Call].Call, made)
	}
	listeners := f.madeOfAll(way, in, s.args, f.isListener)
	if len(listeners)+len(secured) == 0 {
		f.mayBeSecured(by, cmp.Or(server, at), at)
	}
	over, byHTTP := f.listenersOverTLS(secured), f.ServersOf(in, s.code)
	for _, made := range listeners {
		listener := f.listeners[made.Call]
		overTLS := s.fun.Sel.Name == "ServeTLS" || slices.ContainsFunc(over, made.IsSame)
		of := server
		if by == plainHTTP && len(byHTTP) == 1 {
			of = cmp.Or(server, f.handledIn[byHTTP[0]])
		}
		f.give(listener, handedOn{by, of, made, overTLS})
		if f.served[listener] != plainGRPC {
			f.served[listener] = by
		}
	}
}

// madeOfAll returns the calls that make the values of expressions in a way: see [values.Sources.MadeWithin].
func (f *flow) madeOfAll(
	way values.Made, in *values.Source, all []ast.Expr, isOne func(values.Call) bool,
) []values.Made {
	var made []values.Made
	for _, e := range all {
		made = append(made, f.MadeWithin(way, in, e, isOne)...)
	}
	return made
}

// give learns that a server of grpc-go or of net/http is given a listener. Of several that are given the same one in
// the same way the first one of grpc-go counts, or else the first one: they stand in the branches of a condition, or
// share the listener by cmux.
func (f *flow) give(listener *finding.Site, to handedOn) {
	for i, before := range f.given[listener] {
		if !before.made.IsSame(to.made) {
			continue
		}
		if before.by != plainGRPC && to.by == plainGRPC {
			f.given[listener][i] = to
		}
		return
	}
	f.given[listener] = append(f.given[listener], to)
}
