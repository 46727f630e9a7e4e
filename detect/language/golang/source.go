package golang

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/language/golang/syntax"
	"github.com/grpc-cnb/health-probe/detect/language/golang/values"
	"github.com/grpc-cnb/health-probe/detect/source"
)

// analyzeSource returns the findings of a source file and what other files need of it, or nil for a file that no build
// for Linux takes. The name of the file may restrict it to an operating system.
func analyzeSource(name string, text []byte) (*analyzer.Result[Extra], error) {
	if !isBuilt(name, text) {
		return nil, nil
	}
	mode := parser.ParseComments
	named := hasKeyword(text)
	evident := named || listenCalls.In(text) && mainClause.Match(text)
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
	p.namesContentType = bytes.Contains(text, []byte(`"application/grpc`))
	result := &analyzer.Result[Extra]{}
	result.Extra.Imports, result.Extra.Main = p.file.Imports.All, file.Name.Name == "main"
	// wire writes the app's own calls of constructors into wire_gen.go. Other generators write code that the app calls.
	isGenerated := evident && ast.IsGenerated(file.File) && name != "wire_gen.go"
	if evident && !isGenerated && !p.servesNoClients() {
		ast.Inspect(file.File, p.visit)
		if !named {
			p.keepListeners()
		}
		if !p.file.Imports.AnyMatches(inMemoryListener) || finding.Has[listener](p.findings) {
			result.Findings = p.findings
		}
	}
	if !isGenerated && values.IsWorthKeeping(name, text, result.Findings != nil || result.Extra.Main) {
		result.Extra.Text = bytes.Clone(text)
	}
	return result, nil
}

var (
	keywords         = analyzer.Keywords(frameworks)
	registrationCall = regexp.MustCompile(`\.Register\p{Lu}\w*Server\b`)
)

var (
	// listenCalls are in a main that listens for a server of another package, and may not name gRPC at all.
	listenCalls = source.NewKeywords("net.Listen(")
	mainClause  = regexp.MustCompile(`(?m)^package main\b`)
)

// keepListeners leaves out all findings but the listeners, which are for a server of a package that the file's package
// imports.
func (p *pass) keepListeners() {
	var kept []finding.Finding
	for l := range finding.All[listener](p.findings) {
		if l.by == anyServer {
			l.by = importedServer
		}
		kept = append(kept, l)
	}
	p.findings = kept
}

// hasKeyword reports whether a text holds a word that every file with a finding holds: most files are not worth
// parsing.
func hasKeyword(text []byte) bool {
	return keywords.In(text) || bytes.Contains(text, []byte("Register")) && registrationCall.Match(text)
}

// isBuilt reports whether `go build` for Linux takes a file, by its name and its build constraint.
func isBuilt(name string, text []byte) bool {
	if !strings.Contains(name, "_") && !bytes.Contains(text, []byte("//go:build")) &&
		!bytes.Contains(text, []byte("// +build")) {
		return true
	}
	linux := build.Default
	linux.GOOS, linux.GOARCH, linux.CgoEnabled = "linux", "amd64", true
	linux.OpenFile = func(string) (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(text)), nil }
	match, err := linux.MatchFile("", name)
	return match && err == nil
}

// pass is the analysis of one source file.
type pass struct {
	file     *syntax.File
	calls    map[ast.Expr]*ast.CallExpr // the calls that were visited, by what they call
	findings []finding.Finding
	// namesContentType says that the file tells gRPC's requests from others by their content type.
	namesContentType bool
	// served says which servers the file gives listeners to, by the calls that make these; nil until one is asked for.
	served map[ast.Expr]listenerOf
	// assigned are the servers and the listeners that variables and fields get, by their names.
	assigned map[string]ast.Expr
}

func newPass(file *syntax.File) *pass {
	return &pass{file: file, calls: map[ast.Expr]*ast.CallExpr{}}
}

var (
	// goPlugin is a server for the process that starts it, and for nobody else.
	goPlugin = source.Exactly(`github\.com/hashicorp/go-plugin`)
	// inMemoryListener is a listener that no other process can reach.
	inMemoryListener = source.Exactly(`google\.golang\.org/grpc/test/bufconn`)
	// testImport is a package that only tests import.
	testImport = source.Exactly(`testing|net/http/httptest`)
	// testHelper are the names of packages that tests use, such as httptest and iotest.
	testHelper    = source.Exactly(`\w+test|\w*testing`)
	noTestHelpers = []string{"attest", "contest", "latest", "protest"}
)

// servesNoClients reports whether the server that a file makes is not for clients of the app: it is a plugin's, or it
// is a helper of tests.
func (p *pass) servesNoClients() bool {
	name := p.file.Name.Name
	if p.file.Imports.AnyMatches(goPlugin) {
		return true
	}
	isHelper := testHelper.MatchString(name) && !slices.Contains(noTestHelpers, name)
	return name != "main" && (isHelper || p.file.Imports.AnyMatches(testImport))
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
	case *ast.SelectorExpr:
		if n.Sel.Name == "ServeHTTP" && (p.isGRPCServer(n.X) || p.namesContentType) {
			p.add(handledByHTTP{p.at(n).Quiet()})
		}
		if n.Sel.Name == "UseH2C" { // a field of gin's Engine
			p.add(http2Served{p.at(n)})
		}
		if x, ok := n.X.(*ast.Ident); ok && p.file.Declaration(x) == nil {
			p.visitReference(n, p.file.PathOf(n), n.Sel.Name)
		}
		ast.Inspect(n.X, p.visit)
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

// healthService is the name of the health service, by which a service that is written by hand is registered.
const healthService = "grpc.health.v1.Health"

// isLiteral reports whether an expression is a string, or one that begins with a slash, this string and another slash.
func isLiteral(e ast.Expr, text string) bool {
	s, ok := syntax.StringLiteral(e)
	return ok && (s == text || strings.HasPrefix(s, "/"+text+"/"))
}

// visitReference adds the finding that a name of another package is. The name is called, or passed on as in
// fx.Provide(grpc.NewServer).
func (p *pass) visitReference(at ast.Expr, importPath, name string) {
	call := p.calls[at]
	found := reference{importPath, name, call}.finding(p.at(at))
	if found == nil {
		return
	}
	p.add(found)
	if _, ok := found.(finding.Health); ok && name == "RegisterHealthServer" {
		p.add(healthGiven{p.at(at).Quiet()})
	}
	if h2c.MatchString(importPath) { // HTTP/2 without TLS is there for gRPC: browsers do not use it
		p.add(handledByHTTP{p.at(at).Quiet()})
	}
	if call != nil && finding.FrameworkOf(found) == dapr && len(call.Args) == 1 {
		p.addListener(call.Args[0], anyServer)
	}
}

// at returns the site of an expression.
func (p *pass) at(e ast.Expr) *finding.Site { return finding.AtLine(p.file.Line(e), syntax.Name(e)) }

func (p *pass) add(f finding.Finding) { p.findings = append(p.findings, f) }
