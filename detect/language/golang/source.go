package golang

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"slices"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/address"
	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/language/golang/syntax"
	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/detect/tree"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
	"github.com/grpc-cnb/health-probe/internal/plan"
)

// grammar is for the patterns on code that all languages share. The parser tells the meaning of names.
var grammar = source.Grammar{
	source.LineComment("//"), source.BlockComment("/*", "*/", false),
	source.String("`", "`", source.Quoting{Raw: true, Multiline: true}),
	source.String(`"`, `"`, source.Quoting{}), source.String("'", "'", source.Quoting{}),
}

var (
	keywords         = analyzer.Keywords(frameworks)
	registrationCall = lazyregexp.New(`\.Register\p{Lu}\w*Server\b`)
	// http2Words are in files that serve HTTP/2 or TLS, for handlers of another package too.
	http2Words = source.NewKeywords("http2", "HTTP2", "H2C", "ServeTLS", "autocert")
	// listens is in files that may make the listener of a server in another package.
	listens = []byte("net.Listen")
	// injectors matches the build constraint of wire's templates. The generated wire_gen.go has the same imports
	// (https://github.com/google/wire/blob/main/docs/guide.md).
	injectors = lazyregexp.New(`(?m)^//(?:go:build| \+build) wireinject\s*$`)
)

// mayServe reports whether a text holds a word that every file with a server or a service holds.
func mayServe(text []byte) bool {
	return keywords.In(text) || bytes.Contains(text, []byte("Register")) && registrationCall.Match(text)
}

// analyzeSource returns the findings of a source file with the Extra for other files, or nil for a file that no build
// for Linux takes. The name of a file may restrict the file to an operating system.
func analyzeSource(f *tree.File, text []byte) (*analyzer.Result[Extra], error) {
	name := path.Base(f.Path)
	isTaken := isBuilt(name, text)
	if !isTaken && !injectors.Match(text) {
		return nil, nil
	}
	isEvident := isTaken && (mayServe(text) || http2Words.In(text) || bytes.Contains(text, listens))
	mode := parser.ImportsOnly
	if isEvident {
		mode = parser.ParseComments
	}
	file, err := syntax.Parse(text, mode)
	switch {
	case err != nil && !isEvident:
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("leaving out a file that is not Go: %w", err)
	}
	result := &analyzer.Result[Extra]{}
	result.Extra.Imports, result.Extra.Main = file.Imports.All, file.Name.Name == "main"
	result.Extra.TestHelper = isTestHelper(file.Name.Name)
	// wire writes the app's own calls of constructors into wire_gen.go. Other generators write code that the app calls.
	isGenerated := isEvident && ast.IsGenerated(file.File) && name != "wire_gen.go"
	if isEvident && !isGenerated && !servesNoClients(file, text) {
		result.Findings = findingsIn(f, file, text)
	}
	return result, nil
}

// healthStatuses are the calls that set a status of the health services of grpc-go and of connect. Both services know
// the whole server from the start (NewServer of health/server.go, Check of grpchealth.go).
var healthStatuses = []analyzer.Rule{{
	Code:    lazyregexp.New(`\.(?:SetServingStatus|SetStatus)\s*(?P<at>\((?:[^()]|\([^()]*\)){1,200}\))`),
	Imports: source.Exactly(`google\.golang\.org/grpc/health(?:/grpc_health_v1)?|.*(?:/|-)grpc-?health(?:-go)?`),
	Proves: func(at *finding.Site, code string) finding.Finding {
		return finding.SetsHealthStatus(at, statusPrefix.ReplaceAllString(code, "."))
	},
}}

var statusPrefix = lazyregexp.New(`\.(?:HealthCheckResponse_|Status)`)

func findingsIn(f *tree.File, file *syntax.File, text []byte) []finding.Finding {
	t := grammar.Read(text)
	p := &pass{
		wiring: newWiring(file), source: f, text: t, calls: map[ast.Expr]*ast.CallExpr{},
		namesContentType: bytes.Contains(text, []byte(`"application/grpc`)),
		mayBeOther:       file.Imports.AnyMatches(otherCredentials),
	}
	ast.Inspect(file.File, p.visit)
	found := p.associate(slices.Concat(p.findings, analyzer.Findings(t, healthStatuses, file.Imports.All)))
	found = analyzer.MarkConditional(t, found, finding.Is[finding.Security])
	for i, f := range found {
		switch f := f.(type) {
		case finding.Health:
			if analyzer.LeavesStatusUnknown(text) || p.servesBelow() {
				found[i] = finding.AsUnsure(f)
			}
		case finding.Security:
			if f.IsUnsure() || !mayServe(text) { // TLS of a file without gRPC may be for another server
				found[i] = finding.Security{Site: f.Site, Of: f.Of}
			}
		}
	}
	return append(found, analyzer.HealthChecks(t)...)
}

// shortensPath is in files that take a prefix off the path of HTTP requests. A health check has no such prefix.
var shortensPath = lazyregexp.New(`\bURL\.Path\s*=\s*strings\.TrimPrefix\(|\bhttp\.StripPrefix\([^,\n]*,\s*` +
	`(?:api|mux|s|handler|\w*(?:[gG]rpc\w*|[mM]ux))\)`)

// servesBelow reports whether net/http may hand requests to the server below a path. A server with its own listener
// gets requests without net/http too.
func (p *pass) servesBelow() bool {
	hasListener := slices.ContainsFunc(p.listeners, func(l *listener) bool { return l.server != nil })
	return !hasListener && shortensPath.Match(p.text.Code)
}

var (
	// goPlugin serves only the parent process, and no second process can reach an inMemoryListener.
	goPlugin         = source.Exactly(`github\.com/hashicorp/go-plugin`)
	inMemoryListener = source.Exactly(`google\.golang\.org/grpc/test/bufconn`)
	listenCall       = lazyregexp.New(`\bnet\.Listen|\bListenAndServe`)
	// testServer is a server for tests alone. Apps use httptest too: httptest's recorder keeps a response.
	testServer = lazyregexp.New(`\bhttptest\.New\w*Server\(`)
	// testHelper are the names of packages that tests use, such as httptest and iotest.
	testHelper    = source.Exactly(`\w+test|\w*testing`)
	noTestHelpers = []string{"attest", "contest", "latest", "protest"}
)

// servesNoClients reports whether the server of a file is not for clients of the app.
func servesNoClients(file *syntax.File, text []byte) bool {
	isInMemory := file.Imports.AnyMatches(inMemoryListener) && !listenCall.Match(text)
	return isInMemory || file.Imports.AnyMatches(goPlugin) || file.Name.Name != "main" &&
		(file.Imports.Has("testing") || file.Imports.Has("net/http/httptest") && testServer.Match(text))
}

// isTestHelper reports whether a package has the name of a helper of tests.
func isTestHelper(name string) bool {
	return testHelper.MatchString(name) && !slices.Contains(noTestHelpers, name)
}

// pass is the analysis of one source file.
type pass struct {
	*wiring
	source   *tree.File
	isBeside bool // only the names of the package are read
	text     *source.Text
	calls    map[ast.Expr]*ast.CallExpr // visited calls, by the called function
	findings []finding.Finding
	// namesContentType says that the file tells gRPC's requests by the content type, and mayBeOther that the file has
	// credentials other than TLS.
	namesContentType, mayBeOther bool
	declared                     *address.Names // nil until an address is asked for
	// server is the last server that was visited, up to the end of the call that makes it.
	server *finding.Site
	end    token.Pos
}

// visit is called with each node of the file (ast.Inspect).
func (p *pass) visit(n ast.Node) bool {
	p.read(n)
	switch n := n.(type) {
	case *ast.CallExpr:
		fun := syntax.Called(n)
		p.calls[fun] = n
		if method, ok := fun.(*ast.SelectorExpr); ok {
			p.visitCall(n, method)
		}
		p.visitListen(n, p.file.PathOf(fun), syntax.LastName(fun))
		if served(n) != nil {
			p.serves = append(p.serves, n)
		}
	case *ast.CompositeLit:
		p.visitServerLiteral(n)
		if syntax.LastName(n.Type) == "ServiceDesc" && isLiteral(syntax.Element(n, "ServiceName"), healthService) {
			p.add(finding.Health{Site: p.at(n.Type)})
		}
	case *ast.SelectorExpr:
		switch n.Sel.Name {
		case "ServeHTTP":
			if p.handled = append(p.handled, n.X); p.namesContentType {
				p.add(handledByHTTP{Site: p.at(n).Quiet()})
			}
		case "UseH2C": // a field of gin's Engine
			p.add(http2Served{Site: p.at(n), h2c: true})
		}
		if x, ok := n.X.(*ast.Ident); ok && syntax.Declaration(x) == nil {
			p.visitReference(n, p.file.PathOf(n), n.Sel.Name)
		}
		if syntax.LastName(n.X) != "Health_ServiceDesc" { // the fields describe the service and register nothing
			ast.Inspect(n.X, p.visit)
		}
		return false
	case *ast.Ident:
		// Only the names of calls count as names from a dot import: the rest may be names of fields or methods.
		if p.calls[n] != nil && syntax.Declaration(n) == nil {
			for _, importPath := range p.file.Imports.Dots {
				p.visitReference(n, importPath, n.Name)
			}
		}
	}
	return true
}

// visitReference adds the finding for a name of another package. The name is called, or passed on as in
// fx.Provide(grpc.NewServer).
func (p *pass) visitReference(at ast.Expr, importPath, name string) {
	r := reference{importPath, name, p.calls[at]}
	if grpcWeb.MatchString(importPath) && name == "WrapServer" || h2c.MatchString(importPath) {
		p.add(handledByHTTP{Site: p.at(at).Quiet()}) // HTTP/2 without TLS is for gRPC: browsers never use it
	}
	p.visitDubbo(at, name)
	switch f := r.finding(p.at(at)).(type) {
	case nil:
	case ofPackage:
		if f.kind == registration && r.call != nil && len(r.call.Args) == 2 {
			f.kratosBy = p.kratosMaker(r.call.Args[0])
		}
		p.add(f)
		if yokai.MatchString(importPath) {
			p.add(finding.HealthElsewhere{Site: f.Quiet()})
		}
	case finding.Server:
		p.add(f)
		if r.call != nil {
			p.servers[r.call] = f.Site
			p.server, p.end = f.Site, r.call.End()
			if !p.knowsOptions(r.call) {
				p.add(finding.Security{Site: p.at(at).Quiet(), Of: f.Site})
			}
		}
	case finding.Security:
		if name == "Creds" {
			f = p.credentials(f.Site, r.call)
		}
		if at.Pos() < p.end {
			f.Of = p.server
		}
		p.add(f)
	case finding.Health:
		if p.add(f); r.call != nil && len(r.call.Args) == 2 {
			p.registers[f.Site] = r.call.Args[0]
		}
		if name == "RegisterHealthServer" {
			p.add(ofPackage{Site: p.at(at).Quiet(), kind: healthRegistration, pkg: importPath})
		}
	default:
		p.add(f)
	}
}

// credentials returns the credentials of a server of grpc-go. The value of a variable is unknown in a file with
// credentials other than TLS.
func (p *pass) credentials(at *finding.Site, call *ast.CallExpr) finding.Security {
	f := finding.Security{Site: at}
	if call == nil || len(call.Args) != 1 {
		return f
	}
	made, isCall := syntax.InitialValue(call.Args[0]).(*ast.CallExpr)
	switch {
	case isCall && strings.HasPrefix(syntax.Name(made.Fun), "insecure."):
		f.Says.Transport = plan.Plaintext
	case !p.mayBeOther:
		f.Says.Transport = plan.TLS
	}
	return f
}

// knowsOptions reports whether the options of a server come from the package: a list that is passed on whole may come
// from elsewhere, with credentials.
func (p *pass) knowsOptions(call *ast.CallExpr) bool {
	if !call.Ellipsis.IsValid() {
		return true
	}
	switch options := syntax.InitialValue(call.Args[len(call.Args)-1]).(type) {
	case *ast.Ident:
		_, isParameter := syntax.Declaration(options).(*ast.Field)
		return !isParameter
	case *ast.CallExpr:
		return p.file.PathOf(syntax.Called(options)) == ""
	}
	return true
}

// kratosMaker returns the import path of the package, other than kratos', whose function makes a server of kratos, or
// "". Generated registrations of kratos and of grpc-go are the same: the package of the server tells them apart.
func (p *pass) kratosMaker(server ast.Expr) string {
	if !p.file.Imports.AnyMatches(kratosGRPC) || p.file.Imports.Has("google.golang.org/grpc") {
		return ""
	}
	made, _ := syntax.InitialValue(server).(*ast.CallExpr)
	if made == nil || kratosGRPC.MatchString(p.file.PathOf(syntax.Called(made))) {
		return ""
	}
	return p.file.PathOf(syntax.Called(made))
}

func (p *pass) at(n ast.Node) *finding.Site { return finding.At(p.text, p.file.Span(n)) }

func (p *pass) add(f finding.Finding) { p.findings = append(p.findings, f) }
