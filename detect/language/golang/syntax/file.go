// Package syntax tells what one Go file says by itself: what it imports, which declaration a name means, which
// expression a variable is declared with. It reads no other file and knows no types. Begin with [Parse].
//
// The type checker of the standard library (go/types) is not used, because the files are another project's: a few lines
// of constants, generic types or nested structs make it run for hours and fill the memory, and it cannot be
// interrupted.
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
	scopes  *scopes
}

// Parse parses the text of a file.
func Parse(text []byte, mode parser.Mode) (*File, error) {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "", text, mode|parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	return &File{File: file, Imports: newImports(file), fset: fset, scopes: newScopes(file)}, nil
}

// Line returns the line of a node in the file itself, whatever //line directives say.
func (f *File) Line(n ast.Node) int { return f.fset.PositionFor(n.Pos(), false).Line }

// EndLine returns the last line of a node in the file itself.
func (f *File) EndLine(n ast.Node) int { return f.fset.PositionFor(n.End(), false).Line }

// Span returns what a node takes up of the text.
func (f *File) Span(n ast.Node) source.Span {
	offset := func(pos token.Pos) int { return f.fset.PositionFor(pos, false).Offset }
	return source.Span{From: offset(n.Pos()), To: offset(n.End())}
}

// PathOf returns the import path of the package that a selector selects from, and "" if it selects a method or a
// field.
func (f *File) PathOf(e ast.Expr) string {
	if s, ok := e.(*ast.SelectorExpr); ok {
		if x, ok := s.X.(*ast.Ident); ok && f.Declaration(x) == nil {
			return f.Imports.byName[x.Name]
		}
	}
	return ""
}

// Declaration is what a name means in a file.
type Declaration struct {
	Name *ast.Ident
	// Node is the declaration: an *ast.ValueSpec, *ast.TypeSpec, *ast.FuncDecl, *ast.AssignStmt, *ast.RangeStmt, or the
	// *ast.Field of a parameter.
	Node ast.Node
	// Local says that a function declares it, and not the package.
	Local bool
	scope int
}

// Declaration returns the declaration that a name means, or nil if the file declares none.
func (f *File) Declaration(name *ast.Ident) *Declaration {
	if d := f.scopes.locals[name]; d != nil {
		return d
	}
	return f.scopes.visible[name.Name]
}

// Local returns the declaration of a variable of a function, or nil for any other name.
func (f *File) Local(name *ast.Ident) *Declaration { return f.scopes.locals[name] }

// AlwaysBefore reports whether what stands at one position is executed before what stands at a later one, whatever the
// conditions between them are: its block holds both.
func (f *File) AlwaysBefore(pos, later token.Pos) bool {
	block := f.scopes.blockAt(pos)
	return pos < later && block.from <= later && later < block.to
}

// MayBeLater reports whether what stands at one position may be executed after what stands at a later one: it is in a
// function literal that the other one is not in.
func (f *File) MayBeLater(pos, than token.Pos) bool {
	l := f.scopes.blockAt(pos).literal
	return l != nil && (than < l.from || than >= l.to)
}

// InOneFunction reports whether two positions are in the same function of the package.
func (f *File) InOneFunction(a, b token.Pos) bool {
	for _, d := range f.Decls {
		if d.Pos() <= a && a < d.End() {
			return d.Pos() <= b && b < d.End()
		}
	}
	return false
}

// BlockEnd returns the end of the innermost block around a position.
func (f *File) BlockEnd(pos token.Pos) token.Pos { return f.scopes.blockAt(pos).to }

// InFunctionBody reports whether what stands at a position is in the outermost block of its function, so that each call
// executes it.
func (f *File) InFunctionBody(pos token.Pos) bool { return f.scopes.blockAt(pos).isBody }

// ExpressionsAt returns the expressions that take up spans of the text.
func (f *File) ExpressionsAt(spans []source.Span) map[source.Span]ast.Expr {
	found := map[source.Span]ast.Expr{}
	for _, span := range spans {
		found[span] = nil
	}
	ast.Inspect(f.File, func(n ast.Node) bool {
		e, ok := n.(ast.Expr)
		if !ok {
			return true
		}
		if known, wanted := found[f.Span(e)]; wanted && known == nil {
			found[f.Span(e)] = e
		}
		return true
	})
	return found
}
