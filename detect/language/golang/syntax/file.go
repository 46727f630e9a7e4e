// Package syntax reads a single Go file: the imports, and the declarations of names. The package reads no second file
// and knows no types. Begin with [Parse].
//
// The type checker of the standard library (go/types) is not used, because the files are another project's: a few lines
// of constants, generic types or nested structs make the checker run for hours and fill the memory, without
// a way to interrupt the checker.
package syntax

import (
	"go/ast"
	"go/parser"
	"go/token"

	"github.com/grpc-cnb/health-probe/detect/source"
)

// File is a parsed file.
type File struct {
	*ast.File

	Imports *Imports
	fset    *token.FileSet
}

// Parse parses the text of a file.
func Parse(text []byte, mode parser.Mode) (*File, error) {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "", text, mode)
	if err != nil {
		return nil, err
	}
	return &File{File: file, Imports: newImports(file), fset: fset}, nil
}

// Line returns the line of a node in the file itself, whatever //line directives say.
func (f *File) Line(n ast.Node) int { return f.fset.PositionFor(n.Pos(), false).Line }

// Span returns the span of a node in the text.
func (f *File) Span(n ast.Node) source.Span {
	offset := func(pos token.Pos) int { return f.fset.PositionFor(pos, false).Offset }
	return source.Span{From: offset(n.Pos()), To: offset(n.End())}
}

// PathOf returns the import path of the package that a selector selects from, and "" for a method or a
// field.
func (f *File) PathOf(e ast.Expr) string {
	if s, ok := e.(*ast.SelectorExpr); ok {
		if x, ok := s.X.(*ast.Ident); ok && Declaration(x) == nil {
			return f.Imports.byName[x.Name]
		}
	}
	return ""
}

// Declaration returns the declaration that a name means in its file, as the parser resolves it: a specification, a
// function, a statement that assigns it, or the field of a parameter. It is nil for a name that the file does not
// declare. The keys of literals are not told from names.
func Declaration(name *ast.Ident) ast.Node {
	if name.Obj == nil {
		return nil
	}
	n, _ := name.Obj.Decl.(ast.Node)
	return n
}

// InitialValue returns the expression that a variable of the file is declared with. InitialValue returns any other
// expression unchanged.
func InitialValue(e ast.Expr) ast.Expr {
	if e == nil {
		return nil
	}
	name, ok := ast.Unparen(e).(*ast.Ident)
	if !ok {
		return ast.Unparen(e)
	}
	switch d := Declaration(name).(type) {
	case *ast.ValueSpec:
		for i, to := range d.Names[:min(len(d.Names), maxElements)] {
			if to.Name == name.Name && len(d.Values) == len(d.Names) {
				return d.Values[i]
			}
		}
	case *ast.AssignStmt:
		for i, to := range d.Lhs[:min(len(d.Lhs), maxElements)] {
			if Name(to) == name.Name && len(d.Rhs) == len(d.Lhs) {
				return d.Rhs[i]
			}
		}
	}
	return name
}
