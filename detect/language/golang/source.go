package golang

import (
	"bytes"
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"slices"

	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/language/golang/syntax"
	"github.com/grpc-cnb/health-probe/detect/language/golang/values"
	"github.com/grpc-cnb/health-probe/detect/oldaddress"
	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

// analyzeSource returns the findings of a source file and what other files need of it, or nil for a file that no build
// for Linux takes. The name of the file may restrict it to an operating system.
func analyzeSource(name string, text []byte) (*analyzer.Result[Extra], error) {
	if !isBuilt(name, text) {
		if injectors.Match(text) {
			return analyzeInjectors(text)
		}
		return nil, nil
	}
	mode := parser.ParseComments
	named := mayServe(text) || http2Words.In(text)
	evident := named || listenCalls.In(text)
	if !evident {
		mode = parser.ImportsOnly
	}
	file, err := syntax.Parse(text, mode)
	if err != nil && !evident {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("leaving out a file that is not Go: %w", err)
	}
	p := newPass(file)
	p.text = text
	p.namesContentType = bytes.Contains(text, []byte(`"application/grpc`))
	result := &analyzer.Result[Extra]{}
	result.Extra.Imports, result.Extra.Main = p.file.Imports.All, file.Name.Name == "main"
	result.Extra.TestHelper = p.isTestHelper()
	// wire writes the app's own calls of constructors into wire_gen.go. Other generators write code that the app calls.
	isGenerated := evident && ast.IsGenerated(file.File) && name != "wire_gen.go"
	if evident && !isGenerated && !p.servesNoClients(text) {
		ast.Inspect(file.File, p.visit)
		isHealthy := finding.Has[finding.Health](p.findings)
		if p.handlesBelow && !p.handlesRoot || isHealthy && analyzer.LeavesStatusUnknown(text) {
			p.doubtHealth(func(*finding.Site) bool { return true })
		}
		p.doubtHealthBelow()
		p.doubtHealthAlone()
		p.findInterceptors(text)
		p.findings = append(p.findings, healthChecks(p.file)...)
		if !named {
			p.keepListeners()
		}
		if !p.file.Imports.AnyMatches(inMemoryListener) || finding.Has[listener](p.findings) {
			result.Findings = p.findings
			result.Extra.Functions = p.functions()
		}
	}
	hasEvidence := result.Findings != nil || result.Extra.Main || p.makesCredentials(text) ||
		named && handsOnAddress.In(text)
	if !isGenerated && values.IsWorthKeeping(name, text, hasEvidence) {
		result.Extra.Text = bytes.Clone(text)
	}
	return result, nil
}

// injectors are the build constraints of the templates from which wire makes wire_gen.go
// (https://github.com/google/wire/blob/main/docs/guide.md).
var injectors = lazyregexp.New(`(?m)^//(?:go:build| \+build) wireinject\s*$`)

// analyzeInjectors returns what a template of wire imports: the file that wire makes of it imports the same, and many
// apps make that before each build.
func analyzeInjectors(text []byte) (*analyzer.Result[Extra], error) {
	file, err := syntax.Parse(text, parser.ImportsOnly)
	if err != nil {
		return nil, fmt.Errorf("leaving out a file that is not Go: %w", err)
	}
	return &analyzer.Result[Extra]{Extra: Extra{Imports: file.Imports.All, Main: file.Name.Name == "main"}}, nil
}

// makesCredentials reports whether a file may make the credentials of a server.
func (p *pass) makesCredentials(text []byte) bool {
	return p.file.Imports.Has("google.golang.org/grpc/credentials") ||
		p.file.Imports.Has("crypto/tls") && bytes.Contains(text, []byte("tls.Config{"))
}

var (
	keywords         = analyzer.Keywords(frameworks)
	registrationCall = lazyregexp.New(`\.Register\p{Lu}\w*Server\b`)
)

// http2Words are in files that serve HTTP/2 or TLS, for handlers of another package too.
var http2Words = source.NewKeywords("http2", "HTTP2", "H2C", "ServeTLS", "autocert")

// listenCalls are in files that listen for a server of another package, and may not name gRPC at all.
var listenCalls = source.NewKeywords("net.Listen(")

// handsOnAddress is in files that may give an address to a server of another package: rpc.New(rpc.Port(cfg.GRPC.Port)).
var handsOnAddress = source.NewKeywords(
	"Port(", "Port)", "Port,", "Addr(", "Addr)", "Addr,", "Address(", "Address)", "Address,",
)

// keepListeners leaves out all findings but the listeners, which are for a server of another package.
func (p *pass) keepListeners() {
	by := givenServer
	if p.file.Name.Name == "main" {
		by = importedServer
	}
	var kept []finding.Finding
	for _, f := range p.findings {
		switch f := f.(type) {
		case listener:
			if f.by == anyServer {
				f.by = by
			}
			kept = append(kept, f)
		case call:
			kept = append(kept, f)
		}
	}
	p.findings = kept
}

// mayServe reports whether a text holds a word that every file with a server or a service holds.
func mayServe(text []byte) bool {
	return keywords.In(text) || bytes.Contains(text, []byte("Register")) && registrationCall.Match(text)
}

// pass is the analysis of one source file.
type pass struct {
	file     *syntax.File
	text     []byte
	calls    map[ast.Expr]*ast.CallExpr // the calls that were visited, by what they call
	findings []finding.Finding
	// namesContentType says that the file tells gRPC's requests from others by their content type.
	namesContentType bool
	// moved are the requests whose paths the file makes shorter before a server gets them.
	moved map[*syntax.Declaration]bool
	// handlesBelow and handlesRoot say whether the file calls ServeHTTP for such requests, and for others.
	handlesBelow, handlesRoot bool
	below                     below
}

func newPass(file *syntax.File) *pass {
	return &pass{
		file: file, calls: map[ast.Expr]*ast.CallExpr{}, moved: map[*syntax.Declaration]bool{}, below: newBelow(),
	}
}

var (
	// goPlugin is a server for the process that starts it, and for nobody else.
	goPlugin = source.Exactly(`github\.com/hashicorp/go-plugin`)
	// inMemoryListener is a listener that no other process can reach.
	inMemoryListener = source.Exactly(`google\.golang\.org/grpc/test/bufconn`)
	// testServer is a server that tests alone make. Others use httptest too: its recorder keeps a response.
	testServer = lazyregexp.New(`\bhttptest\.New\w*Server\(`)
	// testHelper are the names of packages that tests use, such as httptest and iotest.
	testHelper    = source.Exactly(`\w+test|\w*testing`)
	noTestHelpers = []string{"attest", "contest", "latest", "protest"}
)

// servesNoClients reports whether the server that a file makes is not for clients of the app: it is a plugin's, or only
// tests can use it.
func (p *pass) servesNoClients(text []byte) bool {
	return p.file.Imports.AnyMatches(goPlugin) || p.file.Name.Name != "main" &&
		(p.file.Imports.Has("testing") || p.file.Imports.Has("net/http/httptest") && testServer.Match(text))
}

// isTestHelper reports whether a package has the name of one that tests use.
func (p *pass) isTestHelper() bool {
	name := p.file.Name.Name
	return testHelper.MatchString(name) && !slices.Contains(noTestHelpers, name)
}

// visit is called with each node of the file (ast.Inspect).
func (p *pass) visit(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.CallExpr:
		fun := syntax.Called(n)
		p.calls[fun] = n
		p.visitCall(n, fun)
	case *ast.CompositeLit:
		p.visitServerLiteral(n)
		if syntax.LastName(n.Type) == "ServiceDesc" && isLiteral(syntax.Element(n, "ServiceName"), healthService) {
			p.add(finding.Health{Site: p.at(n.Type)})
		}
	case *ast.AssignStmt:
		if request := p.movedBy(n); request != nil {
			p.moved[request] = true
		}
		if made, ok := n.Rhs[0].(*ast.CallExpr); ok && len(n.Lhs) == 2 { // path, handler := NewHandler(...)
			p.below.of[made] = p.handler(n.Lhs[1])
		}
	case *ast.SelectorExpr:
		if n.Sel.Name == "ServeHTTP" {
			p.follow(p.at(n).Quiet(), handlesHTTP, n.X)
			below := p.isBelowPath(p.calls[n])
			p.handlesBelow, p.handlesRoot = p.handlesBelow || below, p.handlesRoot || !below
		}
		if n.Sel.Name == "ServeHTTP" && p.namesContentType {
			p.add(handledByHTTP{p.at(n).Quiet()})
		}
		if n.Sel.Name == "UseH2C" { // a field of gin's Engine
			p.add(http2Served{p.at(n), true})
		}
		if x, ok := n.X.(*ast.Ident); ok && p.file.Declaration(x) == nil {
			p.visitReference(n, p.file.PathOf(n), n.Sel.Name)
		}
		if syntax.LastName(n.X) != "Health_ServiceDesc" { // its fields describe the service and register nothing
			ast.Inspect(n.X, p.visit)
		}
		return false
	case *ast.Ident:
		// Of the names that may come from a dot import, only those of calls count: others may be names of fields or
		// methods.
		if p.calls[n] != nil && p.file.Declaration(n) == nil {
			for _, importPath := range p.file.Imports.Dots {
				p.visitReference(n, importPath, n.Name)
			}
		}
	}
	return true
}

// movedBy returns the request whose path an assignment makes shorter, as in
// r.URL.Path = strings.TrimPrefix(r.URL.Path, "/grpc").
func (p *pass) movedBy(n *ast.AssignStmt) *syntax.Declaration {
	path, ok := n.Lhs[0].(*ast.SelectorExpr)
	if !ok || path.Sel.Name != "Path" || syntax.LastName(path.X) != "URL" {
		return nil
	}
	short, ok := n.Rhs[0].(*ast.CallExpr)
	if !ok || syntax.LastName(short.Fun) != "TrimPrefix" {
		return nil
	}
	url, ok := path.X.(*ast.SelectorExpr)
	if !ok {
		return nil
	}
	request, _ := url.X.(*ast.Ident)
	return p.file.Local(request)
}

// isBelowPath reports whether a call hands on requests whose path was made shorter: no health check has that path.
func (p *pass) isBelowPath(serveHTTP *ast.CallExpr) bool {
	if serveHTTP == nil || len(serveHTTP.Args) != 2 {
		return false
	}
	request, ok := serveHTTP.Args[1].(*ast.Ident)
	return ok && p.moved[p.file.Local(request)]
}

// doubtHealth says of the file's health services at some sites that they are not known to answer at their own path.
func (p *pass) doubtHealth(at func(*finding.Site) bool) {
	unsure := map[*finding.Site]*finding.Site{}
	for h := range finding.All[finding.Health](p.findings) {
		if at(h.Site) {
			unsure[h.Site] = h.AsUnsure()
		}
	}
	for i, f := range p.findings {
		switch f := f.(type) {
		case finding.Health:
			f.Site = cmp.Or(unsure[f.Site], f.Site)
			p.findings[i] = f
		case call:
			f.Site = cmp.Or(unsure[f.Site], f.Site)
			p.findings[i] = f
		}
	}
}

// visitReference adds the finding that a name of another package is. The name is called, or passed on as in
// fx.Provide(grpc.NewServer).
func (p *pass) visitReference(at ast.Expr, importPath, name string) {
	call := p.calls[at]
	if importPath == "crypto/tls" && (name == "Listen" || name == "NewListener") {
		p.followCall(p.at(at).Quiet(), listensTLS, call)
	}
	if grpcWeb.MatchString(importPath) && name == "WrapServer" {
		p.add(handledByHTTP{p.at(at).Quiet()})
	}
	p.visitYokai(p.at(at).Quiet(), importPath, name)
	p.visitDubbo(at, importPath, name)
	found := reference{importPath, name, call}.finding(p.at(at))
	if found == nil {
		return
	}
	if r, ok := found.(registration); ok && call != nil {
		r.kratosBy = p.kratosMaker(call.Args[0])
		found = r
	}
	p.add(found)
	switch f := found.(type) {
	case finding.Health:
		p.followCall(f.Site, registersHealthWith, call)
		p.addHealth(f.Site, call)
		if name == "RegisterHealthServer" {
			p.add(healthOf{p.at(at).Quiet(), importPath})
			p.add(healthGiven{p.at(at).Quiet()})
		}
	case registration:
		p.followCall(f.Site, registersWith, call)
	case connectHandler:
		p.followCall(f.Site, makesHandler, call)
	case finding.Server:
		p.followCall(f.Site, makesServer, call)
	case kitexServer:
		p.followCall(f.Site, makesServer, call)
	case kitexBareServer:
		p.followCall(f.Site, makesServer, call)
	}
	if h2c.MatchString(importPath) { // HTTP/2 without TLS is there for gRPC: browsers do not use it
		p.add(handledByHTTP{p.at(at).Quiet()})
	}
	if crossplaneFunction.MatchString(importPath) && name == "Serve" && !p.listens(call) {
		a := address.Address{Port: crossplanePort, Certainty: address.Default}
		a.Place.Line = p.file.Line(at)
		p.add(finding.ListenerAt(address.Value{Address: a}))
	}
	if call != nil && finding.FrameworkOf(found) == dapr && len(call.Args) == 1 {
		p.addListener(listener{by: anyServer}, call.Args[0], nil)
	}
}

// kratosMaker returns the import path of the package, other than kratos', whose function makes a server of kratos, or
// "". The generated registrations of kratos are those of grpc-go: the package that its server has tells them apart.
func (p *pass) kratosMaker(server ast.Expr) string {
	if !p.file.Imports.AnyMatches(kratosGRPC) || p.file.Imports.Has("google.golang.org/grpc") {
		return ""
	}
	made, _ := p.file.InitialValue(server).(*ast.CallExpr)
	if made == nil || kratosGRPC.MatchString(p.file.PathOf(syntax.Called(made))) {
		return ""
	}
	return p.file.PathOf(syntax.Called(made))
}

// functions returns the lines on which the functions of the file end.
func (p *pass) functions() []int {
	var ends []int
	for _, d := range p.file.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok && fn.Body != nil && len(p.findings) > 0 {
			ends = append(ends, p.file.EndLine(fn))
		}
	}
	return ends
}

// at returns the site of an expression.
func (p *pass) at(e ast.Expr) *finding.Site { return finding.AtLine(p.file.Line(e), syntax.Name(e)) }

func (p *pass) add(f finding.Finding) { p.findings = append(p.findings, f) }
