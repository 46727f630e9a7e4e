package golang

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path"

	"github.com/grpc-cnb/health-probe/internal/plan"
)

// sources are parsed sources of an app and what they declare. They tell which port an expression states: begin with
// [sources.port]. A port is seldom written where a server listens on it. It comes from constants, fields, parameters,
// defaults of flags and of environment variables, in other files and other packages.
//
// No types are checked: what a dependency declares is not in the app. A name is followed where its syntax tells what it
// means, and is not known otherwise.
type sources struct {
	// lookup returns the directory of the package with an import path. It reports whether it is in the app.
	lookup func(importPath string) (dir string, ok bool)

	values     map[symbol][]expression // what variables and constants of packages are declared with and get
	types      map[symbol]typeOfApp    // named types; of variables their types where they are declared with one
	functions  map[symbol]*function    // a method M of a type T has the name T.M
	locals     map[local][]expression  // what variables of functions are declared with and get
	parameters map[*ast.Field]*function
	calls      map[symbol][]expression // calls; those of methods have no directory
	literals   map[symbol][]expression // composite literals, by type
	fields     map[string][]assignment // what fields get, by name
	flags      map[string][]expression // the defaults of flags, by the flag's name
	settings   map[string][]expression // the defaults of settings, by key in small letters: grpc.port
	loaded     map[string][]expression // the settings of files that the sources name, by key
	named      map[string]bool         // the names of settings files in the sources

	evaluated int // how many expressions were evaluated for one port
	total     int // and for all
}

// symbol is a name that a package declares.
type symbol struct{ dir, name string }

// local is a variable of a function: where it is declared.
type local struct {
	in *sourceFile
	at token.Pos
}

// sourceFile is one parsed file.
type sourceFile struct {
	path, dir string
	fset      *token.FileSet
	ast       *ast.File
	imports   *importTable
}

// expression is an expression in a file.
type expression struct {
	ast.Expr
	in *sourceFile
	// call is the call by which the function was entered that the expression is in, or nil: its arguments are the
	// values of the parameters.
	call *frame
	// result is which result is meant of a call that has several.
	result int
	// constant is a value that no expression has, such as the default in a tag; nil for others.
	constant *value
}

// frame is a call of a function.
type frame struct {
	function *function
	call     expression
}

// function is a function or a method of the app.
type function struct {
	decl    *ast.FuncDecl
	in      *sourceFile
	returns []*ast.ReturnStmt // known once they are asked for
}

// assignment is what a field gets.
type assignment struct {
	field *ast.SelectorExpr
	value expression
}

// with returns another expression of the same file and call.
func (x expression) with(e ast.Expr) expression {
	return expression{Expr: e, in: x.in, call: x.call}
}

// place returns where an expression stands.
func (x expression) place() plan.Place {
	return plan.Place{Path: x.in.path, Line: x.in.fset.PositionFor(x.Pos(), false).Line}
}

const (
	// maxParsed is how many bytes of sources are parsed to find the ports of an app. Few apps have as many in the files
	// that are worth it.
	maxParsed = 8 << 20
	// maxKept is how many bytes a file has at most that is kept until all files were seen.
	maxKept = 256 << 10
)

func newSources(lookup func(importPath string) (dir string, ok bool)) *sources {
	return &sources{
		lookup: lookup, values: map[symbol][]expression{}, types: map[symbol]typeOfApp{},
		functions: map[symbol]*function{}, locals: map[local][]expression{},
		parameters: map[*ast.Field]*function{}, calls: map[symbol][]expression{},
		literals: map[symbol][]expression{}, fields: map[string][]assignment{}, flags: map[string][]expression{},
		settings: map[string][]expression{}, loaded: map[string][]expression{}, named: map[string]bool{},
	}
}

// parse adds a file, and returns it. It returns nil for a text that is not Go.
func (s *sources) parse(file string, text []byte) *sourceFile {
	fset := token.NewFileSet()
	parsed, err := parser.ParseFile(fset, "", text, 0)
	if err != nil {
		return nil
	}
	f := &sourceFile{path: file, dir: path.Dir(file), fset: fset, ast: parsed, imports: newImportTable(parsed)}
	s.declare(f)
	return f
}
