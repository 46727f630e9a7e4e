package detect

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"io"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
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
	r := &goReader{fset: fset, imports: goImports(parsed), called: map[ast.Expr]*ast.CallExpr{}}
	if r.imports.any(goTestOnly) {
		return nil, nil
	}
	ast.Inspect(parsed, r.visit)
	if len(r.signs) == 0 {
		return nil, nil
	}
	return &sheet{signs: r.signs}, nil
}

// goMayDecide reports whether the bytes hold a word of any sign: most files are not worth parsing.
func goMayDecide(text []byte) bool {
	for _, word := range []string{"grpc", "zrpc", "kitex", "connect", "http2", "HTTP2", "ServeTLS"} {
		if bytes.Contains(text, []byte(word)) {
			return true
		}
	}
	return bytes.Contains(text, []byte("Register")) && goRegistrationWord.Match(text)
}

var goRegistrationWord = regexp.MustCompile(`\.Register\p{Lu}\w*Server\b`)

// goTestOnly are imports of code that serves tests, and of go-plugin, whose gRPC server is for the parent process alone.
var goTestOnly = exactly(`testing|net/http/httptest|google\.golang\.org/grpc/test/bufconn|github\.com/hashicorp/go-plugin`)

// goBuilt reports whether `go build` for linux takes the file, by its name and its build constraint.
func goBuilt(name string, text []byte) bool {
	linux := build.Default
	linux.GOOS, linux.GOARCH, linux.CgoEnabled = "linux", "amd64", true
	linux.OpenFile = func(string) (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(text)), nil }
	match, err := linux.MatchFile("", name)
	return match && err == nil
}

// goImportTable holds a file's imports by the name they go by.
type goImportTable struct {
	byName map[string]string
	dots   []string
	all    []string
}

func goImports(f *ast.File) goImportTable {
	t := goImportTable{byName: map[string]string{}}
	for _, spec := range f.Imports {
		p, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			continue
		}
		t.all = append(t.all, p)
		switch {
		case spec.Name == nil:
			t.byName[goDefaultName(p)] = p
		case spec.Name.Name == ".":
			t.dots = append(t.dots, p)
		default:
			t.byName[spec.Name.Name] = p
		}
	}
	return t
}

func (t goImportTable) any(pattern *regexp.Regexp) bool {
	return slices.ContainsFunc(t.all, pattern.MatchString)
}

var goVersionSuffix = regexp.MustCompile(`^v\d+$`)

// goDefaultName guesses the package's name from its path, as goimports does.
func goDefaultName(p string) string {
	base := path.Base(p)
	if goVersionSuffix.MatchString(base) && path.Dir(p) != "." {
		base = path.Base(path.Dir(p))
	}
	base, _, _ = strings.Cut(strings.TrimPrefix(base, "go-"), ".")
	base = strings.TrimSuffix(base, "-go")
	return base[strings.LastIndexByte(base, '-')+1:]
}

// goReader collects the signs of a file.
type goReader struct {
	fset    *token.FileSet
	imports goImportTable
	called  map[ast.Expr]*ast.CallExpr // what is called, and the call
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
