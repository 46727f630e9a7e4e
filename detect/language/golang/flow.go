package golang

import (
	"cmp"
	"go/ast"
	"path"
	"slices"

	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/language/golang/syntax"
	"github.com/grpc-cnb/health-probe/detect/language/golang/values"
	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/plan"
)

// flow follows values through all files of an app: which address a listener has, which server is given which listener,
// which server the health service is registered with, and which credentials a server has.
type flow struct {
	*values.Sources
	parsed map[string]*values.Source
	// servers and listeners are the sites of what calls make.
	servers, listeners map[values.Call]*finding.Site
	// listenerCalls are the calls that make listeners.
	listenerCalls map[values.Call]ast.Expr
	// served says which server is given a listener, and of which one something is, by their sites. given are the
	// listeners that servers of grpc-go and of net/http are given.
	served map[*finding.Site]listenerOf
	of     map[*finding.Site]*finding.Site
	given  map[*finding.Site][]handedOn
	// listening are the servers of grpc-go that are given a listener themselves, and not requests of net/http.
	listening map[*finding.Site]bool
	// started are the servers of grpc-go that a function of another module is given, which may start them, with where.
	started map[*finding.Site]*finding.Site
	isOwn   func(importPath string) bool
	// choices are the conditions on which calls register the health service, by the sites of these.
	choices map[*finding.Site][]values.Choice
	// unsure are the sites of registrations of the health service of which it is not known whether they are executed.
	unsure map[*finding.Site]bool
	// registered are the ways in which the servers are made that calls register services with, by the sites of these
	// calls. Those in healthy register the health service.
	registered, healthy map[*finding.Site][]values.Made
	// registering are the calls of each file, by its path, that register other services.
	registering map[string][]values.Call
	// handled says which handlers of requests of net/http are a server of grpc-go, and handledIn which ones get the
	// requests of the servers of net/http, by where these are made. overTLSOf are the places where those are made
	// that a call serves TLS by.
	handled   map[*finding.Site]bool
	handledIn map[plan.Place]*finding.Site
	overTLSOf map[*finding.Site][]plan.Place
	// same are servers that are one with another: the branches of an if make them for one variable.
	same map[*finding.Site]*finding.Site
	// made are the calls that make servers, and secured the listeners with TLS that a server is given.
	made    map[*finding.Site]values.Constructor
	secured map[*finding.Site]plan.Security
	// tls are calls that make listeners with TLS, and tlsListeners where they are.
	tls          map[values.Call]values.Constructor
	tlsListeners []*finding.Site
	// programs are the folders of programs.
	programs map[string]bool
	// handlers are servers that get their requests from a server of net/http, with the places that hand these on, and
	// overTLS calls of one that serves TLS. serveHTTP are the folders that say otherwise how one serves: with h2c, or
	// by a listener.
	handlers  map[*finding.Site][]*finding.Site
	overTLS   []*finding.Site
	serveHTTP map[string]bool
	unsettled []unsettled
}

// handedOn is a listener as a server gets it. The server is nil if it is not known which one it is.
type handedOn struct {
	by     listenerOf
	server *finding.Site
	made   values.Made
	// overTLS says that the server speaks TLS there.
	overTLS bool
}

// followValues replaces the findings of files by what they are together. It returns where servers listen by their
// programs: see addressesByProgram.
func followValues(
	files []analyzer.File[Extra], lookup func(importPath string) (dir string, ok bool),
) map[plan.Place]map[string]plan.Address {
	if !slices.ContainsFunc(files, isFollowed) {
		return nil
	}
	f := newFlow(files, lookup)
	for _, file := range files {
		f.each(file, f.follow)
	}
	for _, file := range files {
		f.each(file, f.handle)
	}
	for _, file := range files {
		f.each(file, f.associate)
	}
	for server, at := range f.started {
		if _, isKnown := f.secured[server]; !isKnown && !f.listening[server] {
			f.secured[server] = plan.Security{Place: at.Place}
		}
	}
	for server, handed := range f.handlers {
		if _, isKnown := f.secured[server]; !isKnown && !f.listening[server] {
			f.secureHandler(server, handed)
		}
	}
	f.markHealth()
	f.decide(files)
	return f.addressesByProgram(files, lookup)
}

func newFlow(files []analyzer.File[Extra], lookup func(importPath string) (dir string, ok bool)) *flow {
	f := &flow{
		Sources: values.NewSources(lookup), parsed: map[string]*values.Source{},
		servers: map[values.Call]*finding.Site{}, listeners: map[values.Call]*finding.Site{},
		listenerCalls: map[values.Call]ast.Expr{},
		served:        map[*finding.Site]listenerOf{}, of: map[*finding.Site]*finding.Site{},
		given: map[*finding.Site][]handedOn{}, listening: map[*finding.Site]bool{},
		started: map[*finding.Site]*finding.Site{}, isOwn: func(importPath string) bool {
			_, ok := lookup(importPath)
			return ok
		},
		handled: map[*finding.Site]bool{}, handlers: map[*finding.Site][]*finding.Site{},
		handledIn: map[plan.Place]*finding.Site{}, overTLSOf: map[*finding.Site][]plan.Place{},
		same: map[*finding.Site]*finding.Site{}, made: map[*finding.Site]values.Constructor{},
		secured: map[*finding.Site]plan.Security{}, tls: map[values.Call]values.Constructor{},
		serveHTTP: foldersOfH2C(files), programs: map[string]bool{},
		registering: map[string][]values.Call{}, choices: map[*finding.Site][]values.Choice{},
		unsure:     map[*finding.Site]bool{},
		registered: map[*finding.Site][]values.Made{}, healthy: map[*finding.Site][]values.Made{},
	}
	left, isUsed := values.MaxParsed, usedBy(files, lookup)
	for _, file := range byRelevance(files) {
		if !isUsed(path.Dir(file.Path)) && !isFollowed(file) {
			continue
		}
		if left -= len(file.Extra.Text); left < 0 {
			break
		}
		f.parsed[file.Path] = f.Parse(file.Path, file.Extra.Text)
	}
	for _, file := range files {
		f.AddProcesses(file.Processes)
	}
	for _, file := range files {
		f.AddSettings(file.Path, file.Extra.Settings)
		if file.Extra.ModulePath != "" {
			f.AddModule(path.Dir(file.Path))
		}
		if file.Extra.Main {
			f.programs[path.Dir(file.Path)] = true
		}
	}
	return f
}

// isFollowed reports whether a file has something whose values are followed.
func isFollowed(f analyzer.File[Extra]) bool { return finding.Has[call](f.Findings) }

// byRelevance returns the files whose text is kept: those with listeners or servers first, then those of programs, then
// others.
func byRelevance(files []analyzer.File[Extra]) []analyzer.File[Extra] {
	var kept []analyzer.File[Extra]
	for _, f := range files {
		if f.Extra.Text != nil {
			kept = append(kept, f)
		}
	}
	rank := func(f analyzer.File[Extra]) int {
		switch {
		case isFollowed(f):
			return 0
		case f.Extra.Main:
			return 1
		}
		return 2
	}
	slices.SortStableFunc(kept, func(a, b analyzer.File[Extra]) int { return cmp.Compare(rank(a), rank(b)) })
	return kept
}

// each calls do with each call of a file that is followed.
func (f *flow) each(file analyzer.File[Extra], do func(in *values.Source, c call, code ast.Expr)) {
	in := f.parsed[file.Path]
	if in == nil || !isFollowed(file) {
		return
	}
	var spans []source.Span
	for c := range finding.All[call](file.Findings) {
		spans = append(spans, c.code)
	}
	code := in.ExpressionsAt(spans)
	for c := range finding.All[call](file.Findings) {
		if e := code[c.code]; e != nil {
			do(in, c, e)
		}
	}
}

// follow learns what makes servers and listeners.
func (f *flow) follow(in *values.Source, c call, code ast.Expr) {
	made, isCall := code.(*ast.CallExpr)
	switch {
	case c.kind == makesListener:
		f.listeners[in.Call(code)], f.listenerCalls[in.Call(code)] = c.Site, code
	case !isCall:
	case c.kind == makesServer:
		f.servers[in.Call(code)] = c.Site
		f.made[c.Site] = values.Constructor{In: in, Call: made}
	case c.kind == registersWith, c.kind == makesHandler:
		if of := f.registering[c.Path]; len(of) < maxBorrowing {
			f.registering[c.Path] = append(of, in.Call(code))
		}
	case c.kind == makesByConfiguration:
		if method, ok := syntax.Called(made).(*ast.SelectorExpr); ok && f.isConfigGRPC(in, method.X) {
			f.servers[in.Call(code)] = c.Site
			f.secured[c.Site] = plan.Security{Transport: plan.Plaintext, Setting: "the setting tls", Place: c.Place}
		}
	case c.kind == listensTLS:
		f.tls[in.Call(code)] = values.Constructor{In: in, Call: made}
		f.tlsListeners = append(f.tlsListeners, c.Site)
	case c.kind == servesTLS:
		f.secured[c.Site] = f.ServedSecurity(in, made, values.Made{})
		f.overTLS = append(f.overTLS, c.Site)
		f.overTLSOf[c.Site] = f.ServersOf(in, made)
	case c.kind == addsOptions:
		f.secured[c.Site] = f.Security([]values.Constructor{{In: in, Call: made}})
	}
}

// isConfigGRPC reports whether an expression is a configuration of configGRPC. If its type is not known, that is one
// if the file imports no package with a method of the same name.
func (f *flow) isConfigGRPC(in *values.Source, e ast.Expr) bool {
	importPath, _ := f.TypeName(in, e)
	return configGRPC.MatchString(importPath) ||
		importPath == "" && !in.Imports.Has("go.opentelemetry.io/collector/config/confighttp")
}

// handle learns which servers of grpc-go get the requests of a server of net/http that is made there.
func (f *flow) handle(in *values.Source, c call, code ast.Expr) {
	if c.kind == handlesOfServer {
		f.handledIn[c.Place] = f.serverOf(in, code)
	}
}

// associate learns which server gets which listener, and which one the health service is registered with.
func (f *flow) associate(in *values.Source, c call, code ast.Expr) {
	made, isCall := code.(*ast.CallExpr)
	switch {
	case c.kind == handlesHTTP, c.kind == handlesOfServer:
		server := f.serverOf(in, code)
		f.handled[c.Site] = server != nil || f.serverKind(in, code) == plainGRPC
		if server != nil {
			f.handlers[server] = append(f.handlers[server], c.Site)
		}
	case c.kind == handlesListener:
		if server := f.serverOf(in, code); server != nil && path.Dir(server.Path) == path.Dir(c.Path) {
			f.of[c.Site] = server
		}
	case !isCall:
	case c.kind == startsServer && !f.isOwn(in.PathOf(syntax.Called(made))):
		f.start(in, c.Site, made)
	case c.kind == mayRegisterHealth && !f.isOwn(in.PathOf(syntax.Called(made))):
		for _, arg := range made.Args[:min(len(made.Args), maxStarted)] {
			f.of[c.Site] = cmp.Or(f.of[c.Site], f.serverOf(in, arg))
		}
	case c.kind == registersWith:
		f.registered[c.Site] = f.serversOf(in, made.Args[0])
		f.of[c.Site] = f.serverOf(in, made.Args[0])
	case c.kind == registersHealthWith:
		f.healthy[c.Site] = f.serversOf(in, made.Args[0])
		f.of[c.Site] = f.serverOf(in, made.Args[0])
		f.choose(in, c, made)
	case c.kind == givesListener:
		f.serve(in, c.Site, made)
	}
}

// start learns which servers a function of another module is given.
func (f *flow) start(in *values.Source, at *finding.Site, code *ast.CallExpr) {
	for _, arg := range code.Args[:min(len(code.Args), maxStarted)] {
		if server := f.serverOf(in, arg); server != nil && in.PathOf(syntax.Called(code)) != "net/http" {
			f.started[server] = at
		}
	}
}

// maxStarted is how many arguments of such a call are looked at.
const maxStarted = 8

// serverKind returns which server an expression is, by its type.
func (f *flow) serverKind(in *values.Source, e ast.Expr) listenerOf {
	switch importPath, name := f.TypeName(in, e); {
	case importPath == "google.golang.org/grpc" && name == "Server":
		return plainGRPC
	case importPath == "net/http" && name == "Server":
		return plainHTTP
	}
	return anyServer
}

// serverOf returns the server that an expression is, or nil. Several that may be its value are one, but not those that
// different calls give to a parameter.
func (f *flow) serverOf(in *values.Source, e ast.Expr) *finding.Site {
	var first *finding.Site
	for _, way := range f.Ways(in, e) {
		server := f.oneOf(f.madeOfAll(way, in, []ast.Expr{e}, f.isServer))
		if first != nil && server != nil && server != first {
			return nil
		}
		first = cmp.Or(first, server)
	}
	return first
}

func (f *flow) serversOf(in *values.Source, e ast.Expr) []values.Made {
	return f.Made(in, e, f.isServer)
}

func (f *flow) isServer(c values.Call) bool { return f.servers[c] != nil }

// oneOf is serverOf for what makes the servers.
func (f *flow) oneOf(all []values.Made) *finding.Site {
	var first *finding.Site
	for _, made := range all {
		switch site := f.the(f.servers[made.Call]); {
		case first == nil:
			first = site
		case first != site && path.Dir(first.Path) != path.Dir(site.Path):
			return nil
		case first != site:
			f.same[site] = first
		}
	}
	return first
}

// the returns the server that a server is one with.
func (f *flow) the(server *finding.Site) *finding.Site {
	for f.same[server] != nil {
		server = f.same[server]
	}
	return server
}
