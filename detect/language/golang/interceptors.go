package golang

import (
	"go/ast"

	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/language/golang/syntax"
	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

var (
	// rejectsCalls is in files that answer calls without a valid token (google.golang.org/grpc/codes).
	rejectsCalls = source.NewKeywords("codes.Unauthenticated")
	// readsToken is where such a file takes a token from.
	readsToken = lazyregexp.New(`(?i)"authorization"|\bbearer\b|"(?:x-)?api-?key"|"(?:access|x)?-?token"`)
	// exemptsHealth is a name of the health service, or of a method of it: calls of that need no token.
	exemptsHealth = lazyregexp.New(`grpc\.health|Health_(?:Check|Watch|List)`)
	namesHealth   = lazyregexp.New(`(?i)health`)
)

// maxHelpers is how many functions of a file are looked at that an interceptor calls.
const maxHelpers = 16

// findInterceptors adds the first interceptor of the app's own that asks calls for a token, itself or by functions of
// its file, unless it knows the health service.
func (p *pass) findInterceptors(text []byte) {
	if !rejectsCalls.In(text) || exemptsHealth.Match(text) {
		return
	}
	for _, d := range p.file.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok || !p.isInterceptor(fn) {
			continue
		}
		code := p.withHelpers(fn, text)
		if rejectsCalls.In(code) && readsToken.Match(code) && !namesHealth.Match(code) {
			p.add(finding.Authentication{Site: finding.AtLine(p.file.Line(fn), fn.Name.Name), OfAll: true})
			return
		}
	}
}

// isInterceptor reports whether a function, or one that it returns, has the parameters of an interceptor of grpc-go.
func (p *pass) isInterceptor(fn *ast.FuncDecl) bool {
	found := false
	ast.Inspect(fn, func(n ast.Node) bool {
		if t, ok := n.(*ast.FuncType); ok {
			for _, field := range t.Params.List {
				found = found || p.isType(field.Type, "google.golang.org/grpc", "UnaryServerInfo")
			}
		}
		return !found
	})
	return found
}

// withHelpers returns the code of a function and of those of the file that it calls.
func (p *pass) withHelpers(fn *ast.FuncDecl, text []byte) []byte {
	called := map[string]bool{fn.Name.Name: true}
	ast.Inspect(fn, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok && len(called) < maxHelpers {
			called[syntax.LastName(syntax.Called(call))] = true
		}
		return true
	})
	var code []byte
	for _, d := range p.file.Decls {
		if helper, ok := d.(*ast.FuncDecl); ok && called[helper.Name.Name] {
			span := p.file.Span(helper)
			code = append(code, text[span.From:span.To]...)
		}
	}
	return code
}
