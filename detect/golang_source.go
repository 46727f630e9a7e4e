package detect

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"io"
	"regexp"
	"slices"
)

// goSource reads the file called name; a nil value where it says nothing.
func goSource(name string, text []byte) (*sheet, error) {
	if !goMayDecide(text) || !goBuilt(name, text) {
		return nil, nil
	}
	fset := token.NewFileSet()
	parsed, err := parser.ParseFile(fset, "", text, parser.ParseComments)
	if err != nil {
		return nil, fmt.Errorf("leaving out a file that is not Go: %w", err)
	}
	// wire writes the app's own wiring (constructor calls) into wire_gen.go; other generators write stubs.
	if ast.IsGenerated(parsed) && name != "wire_gen.go" {
		return nil, nil
	}
	r := &goReader{file: parsed, fset: fset, imports: goImports(parsed), called: map[ast.Expr]*ast.CallExpr{}}
	if r.servesOthers(parsed.Name.Name) {
		return nil, nil
	}
	ast.Inspect(parsed, r.visit)
	inMemory := r.imports.any(goInMemory) && !slices.ContainsFunc(r.signs, func(s sign) bool { return s.kind == listens })
	if len(r.signs) == 0 || inMemory {
		return nil, nil
	}
	return &sheet{signs: r.signs, own: goPackages(r.imports.all)}, nil
}

// servesOthers reports whether what a file makes is not for clients of the app: code that serves tests, which no program
// of its own is, and go-plugin's server, which is for the parent process alone.
func (r *goReader) servesOthers(pkg string) bool {
	if r.imports.any(goPlugin) {
		return true
	}
	return pkg != "main" && (r.imports.any(goTestOnly) || goTestHelper.MatchString(pkg) && !slices.Contains(goNoTestHelpers, pkg))
}

// goMayDecide reports whether the bytes hold a word of any sign: most files are not worth parsing.
func goMayDecide(text []byte) bool {
	return goWords.in(text) || bytes.Contains(text, []byte("Register")) && goRegistrationWord.Match(text)
}

var goWords = lookFor("grpc", "zrpc", "kitex", "connect", "vanguard", "http2", "HTTP2", "H2C", "ServeTLS", "autocert", "micro/v")

var goRegistrationWord = regexp.MustCompile(`\.Register\p{Lu}\w*Server\b`)

var (
	goPlugin   = exactly(`github\.com/hashicorp/go-plugin`)
	goTestOnly = exactly(`testing|net/http/httptest`)
	// goInMemory is a listener that no other process can reach.
	goInMemory = exactly(`google\.golang\.org/grpc/test/bufconn`)
	// goTestHelper are names of packages that serve tests, as httptest and iotest do.
	goTestHelper    = exactly(`\w+test|\w*testing`)
	goNoTestHelpers = []string{"attest", "contest", "latest", "protest"}
)

// goBuilt reports whether `go build` for linux takes the file, by its name and its build constraint.
func goBuilt(name string, text []byte) bool {
	linux := build.Default
	linux.GOOS, linux.GOARCH, linux.CgoEnabled = "linux", "amd64", true
	linux.OpenFile = func(string) (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(text)), nil }
	match, err := linux.MatchFile("", name)
	return match && err == nil
}

// goReader collects the signs of a file.
type goReader struct {
	file    *ast.File
	fset    *token.FileSet
	imports goImportTable
	byName  map[string][]*ast.CallExpr // calls of the file's functions
	called  map[ast.Expr]*ast.CallExpr // what is called, and the call
	served  map[ast.Expr]bool          // listeners that are served on, and whether by net/http
	signs   []sign
}

func (r *goReader) visit(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.CallExpr:
		fun := calledExpr(n)
		r.called[fun] = n
		r.call(n, fun)
	case *ast.CompositeLit:
		r.literal(n)
	case *ast.SelectorExpr:
		if n.Sel.Name == "UseH2C" { // a field of gin's Engine
			r.add(n, sign{kind: goHTTP2})
		}
		if x, ok := n.X.(*ast.Ident); ok && x.Obj == nil {
			r.reference(n, r.imports.byName[x.Name], n.Sel.Name)
		}
		ast.Inspect(n.X, r.visit)
		return false
	case *ast.Ident:
		// Under a dot import only calls count: any other name may be a field's or a method's.
		if n.Obj == nil && r.called[n] != nil {
			for _, p := range r.imports.dots {
				r.reference(n, p, n.Name)
			}
		}
	}
	return true
}

// calledExpr returns what a call calls, without parentheses and type arguments.
func calledExpr(call *ast.CallExpr) ast.Expr {
	fun := ast.Unparen(call.Fun)
	switch f := fun.(type) {
	case *ast.IndexExpr:
		return f.X
	case *ast.IndexListExpr:
		return f.X
	}
	return fun
}

// reference takes a name of another package, called or handed on (fx.Provide(grpc.NewServer)).
func (r *goReader) reference(at ast.Expr, importPath, name string) {
	sign, ok := goReference(importPath, name)
	if !ok {
		return
	}
	// A generated registration takes the server and the implementation; others of such names are somebody's helpers.
	if call := r.called[at]; sign.kind == registers && call != nil && len(call.Args) != 2 {
		return
	}
	r.add(at, sign)
	if call := r.called[at]; call != nil && sign.framework == "dapr" && len(call.Args) == 1 {
		r.listens(call.Args[0], listens)
	}
}

func (r *goReader) add(at ast.Expr, sign sign) {
	sign.line, sign.what = r.fset.Position(at.Pos()).Line, goText(at)
	r.signs = append(r.signs, sign)
}

// goText returns a name as it is written, without what it is selected from where that is more than a name.
func goText(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		if x, ok := e.X.(*ast.Ident); ok {
			return x.Name + "." + e.Sel.Name
		}
		return e.Sel.Name
	}
	return ""
}
